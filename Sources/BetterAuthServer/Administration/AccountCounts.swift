internal import BetterAuthMessages

/// Accounts by their state, and their devices.
package struct AccountCounts: Sendable, Hashable {
    package var open = 0
    package var locked = 0
    package var deleted = 0
    package var devices = 0
    /// Rows of accounts that are damaged.
    package var unreadable = 0

    package init() {}

    package var all: Int { [open, locked, deleted, unreadable].reduce(0, AccountCounts.sum) }

    /// A sum of numbers that another process told stops at the largest one.
    private static func sum(_ one: Int, _ other: Int) -> Int {
        let (sum, isTooLarge) = one.addingReportingOverflow(other)
        return isTooLarge ? one < 0 ? .min : .max : sum
    }

    /// Adds the counts of another part.
    package mutating func add(_ part: AccountCounts) {
        open = AccountCounts.sum(open, part.open)
        locked = AccountCounts.sum(locked, part.locked)
        deleted = AccountCounts.sum(deleted, part.deleted)
        devices = AccountCounts.sum(devices, part.devices)
        unreadable = AccountCounts.sum(unreadable, part.unreadable)
    }

    /// - Parameter account: Nil for one that cannot be read.
    package mutating func add(_ account: Account?) {
        guard let account else {
            unreadable += 1
            return
        }
        if account.isDeleted {
            deleted += 1
        } else if account.isLocked {
            locked += 1
        } else {
            open += 1
        }
        devices += account.devices.count
    }

    /// What `accounts count` says.
    package var json: String {
        #"{"open":\#(open),"locked":\#(locked),"deleted":\#(deleted),"devices":\#(devices),"unreadable":\#(unreadable)}"#
    }
}

extension AccountCounts {
    /// Accounts that an estimate reads.
    private static let sample = 1000

    /// About how many there are, from the first thousand: identities are digests and lie evenly, so the share of all
    /// digests that these cover tells how many there are in all, within a few in a hundred. Exact below that number.
    /// - Throws: ``StoreError``.
    package static func estimated(_ store: some ServerStore) throws(StoreError) -> AccountCounts {
        estimated(try store.accounts(after: [], most: sample))
    }

    /// The same from the accounts that were found.
    package static func estimated(_ found: [StoredAccount]) -> AccountCounts {
        var counts = AccountCounts()
        for entry in found { counts.add(entry.account) }
        guard found.count == sample, let last = found.last else { return counts }
        // The first eight bytes are enough to tell the share.
        let share =
            (last.name + [UInt8](repeating: 0, count: 8)).prefix(8).reduce(0.0) { $0 * 256 + Double($1) } / 0x1p64
        guard share > 0 else { return counts }
        // Identities that somebody chose may lie anywhere: the quotient may be more than a number can be.
        func scaled(_ number: Int) -> Int { Int(exactly: (Double(number) / share).rounded()) ?? .max }
        counts.open = scaled(counts.open)
        counts.locked = scaled(counts.locked)
        counts.deleted = scaled(counts.deleted)
        counts.devices = scaled(counts.devices)
        counts.unreadable = scaled(counts.unreadable)
        return counts
    }
}
