internal import Holdfast
internal import Observation
internal import SystemCalls

/// The vault's backup: made into a folder that its user chooses, and when the last one was made. The copy stays
/// encrypted.
@MainActor @Observable
package final class BackupModel {
    /// How far it is.
    package enum Step: Sendable, Hashable {
        /// No backup was asked for.
        case none
        /// So many bytes are copied, of so many; 0 of 0 until both are known.
        case copying(done: UInt64, total: UInt64)
        /// It is whole and on the disk: a folder of so many files and bytes.
        case made(path: String, files: Int, bytes: UInt64)
        /// No backup was made; an earlier one is still there.
        case failed(VaultProblem)
    }

    /// What a backup is called in the folder that its user chose. The same in every language, so that the next one
    /// finds it.
    package nonisolated static let folderName = "Holdfast Backup"

    /// How far it is.
    package private(set) var step = Step.none
    /// When the last backup was made, in milliseconds since 1970; nil where the log knows of none.
    package private(set) var lastBackup: Int64?
    /// Whether that was read.
    package private(set) var isKnown = false
    /// Whether it is time for another one (``VaultCore/BackupRule``); never before that was read.
    package private(set) var isDue = false

    @ObservationIgnored private let lock: LockModel
    @ObservationIgnored private var runs = 0
    @ObservationIgnored private var loads = 0
    @ObservationIgnored private var cancelling: CancelFlag?

    /// The backups of the vault behind this lock.
    package init(_ lock: LockModel) {
        self.lock = lock
        lock.onLock { [weak self] in self?.drop() }
    }

    /// Whether one is being made.
    package var isCopying: Bool { if case .copying = step { true } else { false } }

    /// Reads when the last one was made.
    package func load() async {
        loads += 1
        let mine = loads
        let result = await BackupModel.last(of: lock.app.vault)
        guard mine == loads, !lock.isLocked, case .success(let last) = result else { return }
        lastBackup = last
        isKnown = true
        isDue = BackupRule.isDue(last: last, at: WallClock.milliseconds)
    }

    /// Makes a backup, or brings the one that is there up to date; returns when it is made, or is not.
    /// - Parameter chosen: A backup itself, or the folder that it lies in, or will.
    package func make(in chosen: String) async {
        guard cancelling == nil, !lock.isLocked else { return }
        runs += 1
        let mine = runs
        let flag = CancelFlag()
        cancelling = flag
        defer { cancelling = nil }
        step = .copying(done: 0, total: 0)
        let result = await showingSteps { [weak self] next in
            if let self, mine == runs, isCopying { step = next }
        } of: { [vault = lock.app.vault] telling in
            await BackupModel.make(vault, in: chosen, flag, telling)
        }
        guard mine == runs else { return }
        step =
            switch result {
            case .success(let made): made
            case .failure(let error): .failed(VaultProblem(error))
            }
        await load()
    }

    /// Stops the backup that is being made: nothing is left of it, and an earlier one stays.
    package func cancel() { cancelling?.set() }

    /// Stops the backup and forgets what was shown of it; one that is made stays.
    package func end() {
        runs += 1
        cancel()
        step = .none
    }

    /// As ``end()``, and forgets the log.
    package func drop() {
        end()
        loads += 1
        lastBackup = nil
        isKnown = false
        isDue = false
    }

    @concurrent
    private nonisolated static func last(of vault: Vault) async -> Result<Int64?, VaultError> {
        Result { () throws(VaultError) in try vault.lastBackup() }
    }

    @concurrent
    private nonisolated static func make(
        _ vault: Vault, in chosen: String, _ flag: CancelFlag, _ steps: AsyncStream<Step>.Continuation
    ) async -> Result<Step, VaultError> {
        Result { () throws(VaultError) in
            let path = Vault.isBackup(chosen) ? chosen : chosen + "/" + folderName
            let report = try vault.backup(to: path, updating: true) { done, total throws(VaultError) in
                do { try flag.check() } catch { throw VaultError(.cancelled, "the backup was stopped") }
                steps.yield(.copying(done: done, total: total))
            }
            return .made(path: path, files: report.files, bytes: report.bytes)
        }
    }
}
