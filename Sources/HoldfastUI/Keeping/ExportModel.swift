package import Holdfast
internal import Imports
internal import Observation

/// The export of entries to a file for another program. An open vault is not enough for it: the user proves first that
/// they are there, and the proof is used up by one file.
@MainActor @Observable
package final class ExportModel {
    /// What the file is.
    package enum Format: Sendable, Hashable, CaseIterable {
        /// A database of KeePass, encrypted with a password of its own.
        case database
        /// JSON that anyone can read who gets the file.
        case plain
    }

    /// How far it is.
    package enum Step: Sendable, Hashable {
        /// Nobody has proved anything.
        case none
        /// The passcode is checked, or the device's owner asked.
        case proving
        /// Proved: the file can be written, within a minute.
        case proven
        /// That proof was not accepted, or there was none. Nothing was written.
        case refused(VaultProblem)
        /// So many entries are read, of so many.
        case writing(done: Int, total: Int)
        /// The file is whole and on the disk.
        case written(Report)
        /// There is no file, nor a part of one.
        case failed(VaultProblem)
    }

    /// What an export wrote.
    package struct Report: Sendable, Hashable {
        /// The file.
        package let path: String
        /// How many entries are in it.
        package let entries: Int
        /// Values that are too large for the file.
        package let left: [String]
        /// Collections that were not read: the vault's rules demand a stronger unlock for them.
        package let shut: [String]
    }

    /// How far it is.
    package private(set) var step = Step.none
    /// What the system shows and asks while it looks for its owner.
    package let dialog = OwnerDialog()

    @ObservationIgnored private let vault: VaultModel
    @ObservationIgnored private var proof: OwnersProof?
    @ObservationIgnored private var runs = 0
    @ObservationIgnored private var cancelling: CancelFlag?

    /// The export of these items.
    package init(_ vault: VaultModel) {
        self.vault = vault
        vault.lock.onLock { [weak self] in self?.drop() }
    }

    /// Whether the vault's passcode proves who is there; the system asks its owner otherwise.
    package var takesPasscode: Bool { vault.lock.hasPasscode }

    /// Checks that the user is there.
    /// - Parameter passcode: As it was typed; nil where the device's owner is asked in its place.
    package func prove(passcode: consuming SecretBytes?) async {
        guard cancelling == nil, step != .proving, !vault.lock.isLocked else { return }
        runs += 1
        let mine = runs
        proof = nil
        step = .proving
        let word = OwnersWord(passcode)
        let result = await ExportModel.proof(word, vault.vault, vault.lock.app.lock, dialog)
        // Given up, or locked, meanwhile.
        guard mine == runs, !vault.lock.isLocked else { return }
        switch result {
        case .success(let proof):
            self.proof = proof
            step = .proven
        case .failure(let error): step = .refused(VaultProblem(error))
        }
    }

    /// Writes the file, which only its user reads; one of that name is replaced once the new one is whole.
    /// - Parameters:
    ///   - ids: Which entries; nil for all but the trash.
    ///   - password: Of the new file, for a database.
    package func write(
        _ ids: [VaultItem.ID]?, as format: Format, password: consuming SecretBytes?, to path: String
    ) async {
        let carried: CarriedSecret? =
            switch consume password {
            case .some(let password): CarriedSecret(password)
            case .none: nil
            }
        guard cancelling == nil, !vault.lock.isLocked else { return }
        guard step == .proven, let proof else {
            step = .refused(.proofExpired)
            return
        }
        guard format == .plain || carried != nil else { return step = .refused(.invalidPasscode) }
        runs += 1
        let mine = runs
        self.proof = nil
        let flag = CancelFlag()
        cancelling = flag
        defer { cancelling = nil }
        step = .writing(done: 0, total: 0)
        let result = await showingSteps { [weak self] next in
            if let self, mine == runs, case .writing = step { step = next }
        } of: { [store = vault.store] telling in
            let work = Work(
                store: store, ids: ids.map(Set.init), format: format, password: carried, path: path, flag: flag,
                steps: telling)
            return await work.run(by: proof)
        }
        guard mine == runs else { return }
        step = result
    }

    /// Stops what is under way; nothing is left of the file.
    package func cancel() {
        cancelling?.set()
        dialog.cancel()
    }

    /// As ``cancel()``, and forgets the proof and what was shown.
    package func drop() {
        runs += 1
        cancel()
        proof = nil
        step = .none
    }

    @concurrent
    private nonisolated static func proof(
        _ word: OwnersWord, _ vault: Vault, _ lock: AppLock, _ dialog: OwnerDialog
    ) async -> Result<OwnersProof, VaultError> {
        do throws(VaultError) { return .success(try await OwnersProof(word, vault, lock, dialog)) } catch {
            return .failure(error)
        }
    }
}

/// One file that is written, away from the main thread.
private struct Work: Sendable {
    let store: ItemStore
    let ids: Set<VaultItem.ID>?
    let format: ExportModel.Format
    let password: CarriedSecret?
    let path: String
    let flag: CancelFlag
    let steps: AsyncStream<ExportModel.Step>.Continuation

    @concurrent
    func run(by proof: OwnersProof) async -> ExportModel.Step {
        do throws(VaultError) {
            // At the last moment, so that a proof is never older than a minute when it has an effect.
            try store.vault.redeem(try proof.forVault())
        } catch { return .refused(VaultProblem(error)) }
        do { return .written(try write()) } catch {
            if let error = error as? ImportError {
                return .failed(error.kind == .outOfMemory ? .outOfMemory : .other(reason: error.reason))
            }
            return .failed(VaultProblem(any: error))
        }
    }

    private func write() throws -> ExportModel.Report {
        let wanted = try store.list().filter { summary in
            let id = VaultItem.ID(collection: summary.collection, name: summary.name)
            return ids?.contains(id) ?? ((try? VaultModel.checkCollection(id)) != nil)
        }
        guard !wanted.isEmpty else { throw VaultError(.recordNotFound, "there is nothing to export") }
        var left: [ItemSummary] = []
        let content = try content(wanted, &left)
        try content.withBytes { bytes in
            try FileTransfer.save(bytes, to: path, flag) { _, _ in }
        }
        let shut = ids == nil ? store.vault.collectionsOutOfReach.keys.sorted() : []
        return ExportModel.Report(
            path: path, entries: wanted.count - left.count,
            left: left.map { EntryPath(collection: $0.collection, name: $0.name).short }, shut: shut)
    }

    private func content(_ wanted: [ItemSummary], _ left: inout [ItemSummary]) throws -> SecretBytes {
        let progress: VaultExport.Progress = { done, total in
            try flag.check()
            steps.yield(.writing(done: done, total: total))
        }
        guard format == .database, let password else {
            return try VaultExport.plain(wanted, of: store, left: &left, progress: progress)
        }
        let export = try VaultExport(wanted, of: store, progress: progress)
        left = export.left
        steps.yield(.writing(done: wanted.count, total: wanted.count))
        return try export.sealed(with: try password.take())
    }
}
