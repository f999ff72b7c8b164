package import Holdfast
internal import Imports
internal import Observation

/// The import of another password manager's file: read, shown as a plan, and stored only when its user has seen that.
///
/// What was read lies in locked memory until it is stored or ``drop()``; the lock drops it too.
@MainActor @Observable
package final class ImportModel {
    /// How far it is.
    package enum Step: Sendable, Hashable {
        /// No file is chosen.
        case none
        /// The file is read, or its password tried.
        case reading
        /// The file has a password of its own, which ``open(with:keyFile:)`` takes; whether one was tried that is not
        /// the right one.
        case password(wasWrong: Bool)
        /// Nothing was stored yet; ``store()`` does.
        case planned(Plan)
        /// So many items are stored, of so many. All become visible at once, or none.
        case storing(done: Int, total: Int)
        /// It is done.
        case stored(Plan)
        /// Nothing was stored.
        case failed(Failure)
    }

    /// What an import does.
    package struct Plan: Sendable, Hashable {
        /// Names that are added.
        package let added: [String]
        /// Items that take over what the file has otherwise, with the labels of that; what they had stays as earlier
        /// values.
        package let updated: [String]
        /// Items of the file that the vault has already.
        package let duplicates: [String]
        /// What the vault will not have as the file has it, each with its entry, in English.
        package let notes: [String]
        /// Where the items go.
        package let collection: String

        /// Whether storing it changes anything.
        package var isEmpty: Bool { added.isEmpty && updated.isEmpty }
    }

    /// Why nothing was imported.
    package enum Failure: Error, Sendable, Hashable {
        /// It is no file of a program that is known.
        case unknownFormat
        /// It is not as files of its kind are; where, in English.
        case damaged(place: String)
        /// It needs something of its format that this program does not know; what, in English.
        case unsupported(String)
        /// The columns of the table are not those of a program that is known; `holdfast import --column` says what they
        /// are.
        case unknownColumns
        /// An image has no QR code.
        case noCode
        /// The file, or something in it, is larger than is read.
        case tooLarge
        /// Anything else.
        case other(VaultProblem)
    }

    /// How far it is.
    package private(set) var step = Step.none

    @ObservationIgnored private let vault: VaultModel
    @ObservationIgnored private var file: ImportFile?
    @ObservationIgnored private var plan: ImportPlan?
    @ObservationIgnored private var collection = Vault.defaultCollection
    @ObservationIgnored private var runs = 0

    init(_ vault: VaultModel) {
        self.vault = vault
        vault.lock.onLock { [weak self] in self?.drop() }
    }

    /// Reads a file and compares it with the vault. Nothing is stored.
    package func open(_ path: String, into collection: String = Vault.defaultCollection) async {
        drop()
        self.collection = collection
        await run { store in
            let file = try ImportFile(path)
            return (file, try file.plan(nil, nil, store, collection))
        }
    }

    /// Bytes of an image whose QR codes are read.
    package static let largestImage = ImportLimits.file

    /// Reads an image that was copied, as ``open(_:into:)`` reads a file.
    package func open(image: consuming SecretBytes, into collection: String = Vault.defaultCollection) async {
        drop()
        self.collection = collection
        do throws(Failure) {
            let file = try ImportFile(image)
            await run { store in (file, try file.plan(nil, nil, store, collection)) }
        } catch { step = .failed(error) }
    }

    /// Whether the file may need a key file, beside its password or in place of it.
    package var takesKeyFile: Bool { file?.takesKeyFile ?? false }

    /// Tries the file's own password, and its key file.
    /// - Parameters:
    ///   - password: Empty for a file that has only a key file.
    ///   - keyFile: The key file's path; nil for none.
    package func open(with password: consuming SecretBytes, keyFile: String? = nil) async {
        guard let file, case .password = step, password.count > 0 || keyFile != nil else { return }
        var carried: ShownValue?
        if password.count > 0 {
            do throws(VaultError) {
                carried = try password.withBytes { bytes throws(VaultError) in try ShownValue(bytes) }
            } catch { return step = .failed(.other(VaultProblem(error))) }
        }
        let (secret, collection) = (carried, collection)
        await run { store in (file, try file.plan(secret, keyFile, store, collection)) }
    }

    /// Stores what is planned: all of it, or nothing.
    package func store() async {
        guard let plan, case .planned(let shown) = step else { return }
        let mine = runs
        step = .storing(done: 0, total: plan.writes)
        let result = await showingSteps { [weak self] done in
            if let self, mine == runs, case .storing = step { step = .storing(done: done, total: plan.writes) }
        } of: { [store = vault.store, collection] telling in
            await ImportModel.store(plan, store, collection, telling)
        }
        let problem = await vault.change(result)
        guard mine == runs else { return }
        self.plan = nil
        file = nil
        step = problem.map { .failed(.other($0)) } ?? .stored(shown)
    }

    /// Forgets the file and what was read of it.
    package func drop() {
        runs += 1
        (file, plan) = (nil, nil)
        step = .none
    }

    private func run(_ work: @escaping @Sendable (ItemStore) throws -> (ImportFile, ImportFile.Outcome)) async {
        let mine = runs
        step = .reading
        let result = await ImportModel.perform(vault.store, work)
        // Given up, or locked, meanwhile: what was read is wiped here.
        guard mine == runs, !vault.lock.isLocked else { return }
        switch result {
        case .failure(let failure): step = .failed(failure)
        case .success((let file, .password(let wasWrong))):
            self.file = file
            step = .password(wasWrong: wasWrong)
        case .success((_, .plan(let plan, let notes))):
            file = nil
            self.plan = plan
            step = .planned(Plan(plan, notes, collection))
        }
    }

    @concurrent
    private nonisolated static func perform(
        _ store: ItemStore, _ work: @Sendable (ItemStore) throws -> (ImportFile, ImportFile.Outcome)
    ) async -> Result<(ImportFile, ImportFile.Outcome), Failure> {
        do { return .success(try work(store)) } catch { return .failure(Failure(error)) }
    }

    @concurrent
    private nonisolated static func store(
        _ plan: ImportPlan, _ store: ItemStore, _ collection: String, _ steps: AsyncStream<Int>.Continuation
    ) async -> Result<Void, VaultError> {
        Result { () throws(VaultError) in
            try VaultModel.checkCollection(VaultItem.ID(collection: collection, name: ""))
            try plan.store(in: store) { steps.yield($0) }
        }
    }
}

extension VaultModel {
    /// An import into this vault.
    package func importer() -> ImportModel { ImportModel(self) }
}

/// The file that is imported, in locked memory until its password is known.
final class ImportFile: Sendable {
    enum Outcome {
        case password(wasWrong: Bool)
        case plan(ImportPlan, notes: [String])
    }

    private let bytes: SecretBytes
    private let format: ImportFormat

    convenience init(_ path: String) throws {
        let outer = BulkMemory.begin(isAllowed: true)
        defer { BulkMemory.end(outer) }
        try self.init(FileTransfer.content(of: path, limit: ImportLimits.file))
    }

    /// - Throws: `unknownFormat` for what no program is known to write.
    init(_ bytes: consuming SecretBytes) throws(ImportModel.Failure) {
        guard let format = bytes.withBytes(ImportFormat.detected) else { throw .unknownFormat }
        self.format = format
        self.bytes = bytes
    }

    var takesKeyFile: Bool { format == .kdbx }

    /// The plan is shown with what is left out before anything is stored.
    private static let options = ImportOptions(skipsFaulty: true)

    func plan(
        _ password: ShownValue?, _ keyFile: String?, _ store: ItemStore, _ collection: String
    ) throws -> Outcome {
        var key: SecretBytes?
        if let keyFile { key = try FileTransfer.content(of: keyFile, limit: ImportLimits.keyFile) }
        let imported: Imported
        do throws(ImportError) {
            imported =
                if let password {
                    try password.withBytes { bytes throws(ImportError) in try read(bytes, key) }
                } else {
                    try read(nil, key)
                }
        } catch {
            switch error.kind {
            case .passwordNeeded: return .password(wasWrong: false)
            case .wrongPassword: return .password(wasWrong: true)
            default: throw error
            }
        }
        return .plan(
            try ImportPlan(
                imported, into: store, folder: collection == Vault.defaultCollection ? "" : collection, updates: true),
            notes: imported.notes.map(\.text))
    }

    /// A copy of the file is read: the password may be the wrong one.
    private func read(
        _ password: borrowing SecretBytes?, _ key: borrowing SecretBytes?
    ) throws(ImportError) -> Imported {
        let outer = BulkMemory.begin(isAllowed: true)
        defer { BulkMemory.end(outer) }
        let copy: SecretBytes
        do throws(SecretMemoryError) { copy = try bytes.copy() } catch { throw ImportError(error) }
        return try format.read(copy, password: password, keyFile: key, ImportFile.options)
    }

    private func read(_ password: RawSpan, _ key: borrowing SecretBytes?) throws(ImportError) -> Imported {
        let secret: SecretBytes?
        do throws(SecretMemoryError) { secret = try SecretBytes(copying: password) } catch { throw ImportError(error) }
        return try read(secret, key)
    }
}

extension ImportModel.Plan {
    init(_ plan: ImportPlan, _ notes: [String], _ collection: String) {
        var (added, updated, duplicates): ([String], [String], [String]) = ([], [], [])
        for step in plan.steps {
            switch step {
            case .add(_, let entry): added.append(entry.short)
            case .duplicate(let item, _): duplicates.append(item.name)
            case .differs(_, let entry, let labels): updated.append("\(entry.short): \(labels.joined(separator: ", "))")
            }
        }
        self.init(
            added: added, updated: updated, duplicates: duplicates, notes: notes, collection: collection)
    }
}

extension ImportModel.Failure {
    init(_ error: any Error) {
        switch error {
        case let error as ImportModel.Failure: self = error
        case let error as VaultError where error.code == .tooLarge: self = .tooLarge
        case let error as ImportError:
            self =
                switch error.kind {
                case .malformed, .wrongPassword, .passwordNeeded: .damaged(place: error.place)
                case .tooLarge: .tooLarge
                case .unsupported: .unsupported(error.what)
                case .unknownColumns: .unknownColumns
                case .noCode: .noCode
                case .outOfMemory: .other(.outOfMemory)
                case .unexpected: .other(.other(reason: error.reason))
                }
        default: self = .other(VaultProblem(any: error))
        }
    }
}
