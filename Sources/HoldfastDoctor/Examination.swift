internal import AppLockCore
internal import DeviceOwner
internal import KeyStores
internal import Synchronization
internal import SystemCalls
internal import VaultCore
internal import VaultFormat
internal import VaultStorage

/// Looks at what protects a vault on this machine: several parts at once, each for as long as it may take. A part that
/// does not answer holds up neither the others nor the end: its thread is left behind, and goes with the process.
package enum Examination {
    /// Milliseconds for all of it.
    package static let patience: UInt64 = 4000

    /// Looks. Blocks for at most ``patience``. It asks for nothing, and undoes its tests.
    /// - Returns: One finding for each part in a fixed order, and one for the vault where there is one.
    package static func run(_ request: Request) -> [Finding] {
        look(at: parts(request) + [Look(.vault) { vault(at: request.home) }])
    }

    /// Looks at one part of the machine, as ``run(_:)``; nil where machines of this kind do not have it.
    package static func run(_ request: Request, only part: Finding.Part) -> Finding? {
        look(at: parts(request).filter { $0.part == part }).first
    }

    /// One part, and how it is looked at.
    struct Look: Sendable {
        /// Its name, should it give no answer.
        let part: Finding.Part
        /// Nil for a part of which there is nothing to say.
        let body: @Sendable () -> Finding?

        init(_ part: Finding.Part, _ body: @escaping @Sendable () -> Finding?) {
            self.part = part
            self.body = body
        }
    }

    /// Probes a store of shares, or has it keep one where the look is deep.
    static func look(_ store: some ShareStore, _ request: Request) throws(KeyStoreError) {
        do throws(ShareFailure) {
            if request.isDeep { try store.roundTrip() } else { try store.probe() }
        } catch { throw KeyStoreError(error) }
    }

    /// What there is to say of the store that the session or the system keeps.
    static func keyring(_ store: some ShareStore, _ request: Request) -> Finding {
        do throws(KeyStoreError) {
            try look(store, request)
            return Finding(
                .keyring, .good, .keyringOpen(isTried: request.isDeep), gives: store.assurance(of: .owner([])))
        } catch {
            return Finding(
                .keyring, error,
                error.code == .lockedOut ? .keyringLocked(reason: error.reason) : .keyringFailed(reason: error.reason))
        }
    }

    static func look(at parts: [Look]) -> [Finding] {
        let board = Board(parts.count)
        for (index, part) in parts.enumerated() {
            let isStarted = DetachedThread.start { board.set(index, part.body()) }
            if !isStarted { board.set(index, part.body()) }
        }
        board.wait(until: MonotonicClock.milliseconds + patience)
        return zip(parts, board.answers).compactMap { part, answer in
            switch answer {
            case .given(let finding): finding
            case nil: Finding(part.part, .slow, .silent)
            }
        }
    }

    private enum Answer { case given(Finding?) }

    /// What has been found so far.
    private final class Board: Sendable {
        private let state: Mutex<[Answer?]>

        init(_ count: Int) { state = Mutex([Answer?](repeating: nil, count: count)) }

        func set(_ index: Int, _ finding: Finding?) { state.withLock { $0[index] = .given(finding) } }

        var answers: [Answer?] { state.withLock { answers in answers.map { $0 } } }

        private var isComplete: Bool { state.withLock { $0.allSatisfy { $0 != nil } } }

        /// Polls every few milliseconds: a late answer then has no waiter to wake.
        func wait(until deadline: UInt64) {
            while !isComplete, MonotonicClock.milliseconds < deadline { usleep(2000) }
        }
    }
}

extension Examination {
    /// What there is to say of the vault itself; nothing where there is none.
    static func vault(at home: String) -> Finding? {
        guard Vault.isVault(at: home) else { return nil }
        let status: Vault.Status
        let level: VaultLevel
        do throws(VaultError) {
            let vault = try Vault(at: home)
            status = try vault.status()
            level = try vault.protection().level
        } catch {
            return Finding(.vault, .broken, .vaultUnreadable(reason: error.reason))
        }
        guard level == .secret else { return Finding(.vault, .good, .vaultWithoutSecret(asksOwner: level == .owner)) }
        guard let assurance = status.passcodeAssurance else { return Finding(.vault, .broken, .vaultNeedsChip) }
        if let issue = PolicyLinter(status).issues(status.policy).first(where: \.isError) {
            return Finding(.vault, .broken, .vaultRules(issue: issue.words))
        }
        return Finding(
            .vault, .good, status.hasHardwareShare ? .vaultUnderChip : .vaultUnderPasscode, gives: assurance)
    }
}
