package import BetterAuthMessages
internal import Synchronization

/// Accounts that were read or changed last, as they are on the disk: a session reads its account twice within a moment.
///
/// Right only where one process has the database and tells of each change before it tells anybody that it was made.
package final class AccountCache: Sendable {
    /// Devices, present and former, beyond which an account is not kept: an account may have thousands.
    private static let mostDevices = 16

    private struct State {
        /// Nil for an account that has grown too large.
        var accounts: RecentMap<IdentityID, Account?>
        /// Changes that were told.
        var changes: UInt64 = 0
    }

    private let state: Mutex<State>

    /// - Parameter capacity: Most accounts; each takes half a kilobyte, and four at the most.
    package init(capacity: Int = 1536) { state = Mutex(State(accounts: RecentMap(capacity: capacity))) }

    /// The account, from the cache or read.
    /// - Throws: What `read` throws.
    package func account(
        _ identity: IdentityID, read: () throws(StoreError) -> Account?
    ) throws(StoreError) -> Account? {
        let (known, changes) = state.withLock { ($0.accounts.value(identity) ?? nil, $0.changes) }
        if let known { return known }
        let account = try read()
        guard let account, AccountCache.isSmall(account) else { return account }
        // What was read while a change was made may be from before it.
        state.withLock { if $0.changes == changes { $0.accounts.put(account, for: identity) } }
        return account
    }

    /// Takes accounts as they are now on the disk.
    package func apply(_ changed: [(identity: IdentityID, account: Account)]) {
        guard !changed.isEmpty else { return }
        state.withLock { state in
            state.changes += 1
            for (identity, account) in changed {
                if AccountCache.isSmall(account) {
                    state.accounts.put(account, for: identity)
                } else if state.accounts.contains(identity) {
                    state.accounts.put(nil, for: identity)
                }
            }
        }
    }

    /// Forgets everything, after a transaction that may or may not be on disk.
    package func clear() {
        state.withLock { state in
            state.changes += 1
            state.accounts.removeAll()
        }
    }

    private static func isSmall(_ account: Account) -> Bool {
        account.devices.count + account.former.count + account.departedReplies.count <= mostDevices
    }
}
