internal import Cryptography
internal import SecretMemory
internal import VaultFormat
internal import VaultHeader
public import VaultStorage
internal import SystemCalls

extension Vault {
    /// What ``verify(progress:)`` found.
    public struct Verification: Sendable, Hashable {
        /// Records read and found right.
        public var records = 0
        /// Files read to the end and found right.
        public var files = 0
        /// Records that cannot be decrypted, or not be found by their name.
        package var damagedRecords = 0
        /// Records whose file is missing, too short or changed.
        package var damagedFiles: [RecordInfo] = []
        /// How many records there must be.
        package var expectedRecords: UInt64 = 0
        /// The records are not the ones that were written last: some are missing, or are older than they must be.
        package var isRolledBack = false
        /// Whether the pages of the database fit together; where they do not, nothing is written and no backup is made.
        package var arePagesWhole = true
        /// Files that no record names, left by a killed write; harmless, and removed by ``removeOrphanedFiles()``.
        package var orphanedFiles = 0

        /// What was written while locked and not taken in yet.
        package var open = OpenCompartment.Check()

        package init() {}

        /// Everything there, nothing damaged.
        public var isIntact: Bool { isProtectedIntact && open.isIntact }

        /// As ``isIntact``, whatever the open compartment holds.
        package var isProtectedIntact: Bool {
            damagedRecords == 0 && damagedFiles.isEmpty && !isRolledBack && arePagesWhole
        }
    }

    /// Reads every record and every file and compares them with the root record.
    ///
    /// - Parameter progress: Called with entries read and the number there are.
    /// - Throws: `locked`, `damaged` when not even the root record can be read.
    public func verify(progress: (_ done: Int, _ total: Int) -> Void = { _, _ in }) throws(VaultError) -> Verification {
        // Before the keys are in use: a lock does not wait for it.
        try gate.checkOpen()
        let arePagesWhole = try checkPages()
        let reader = try gate.enterWithReader()
        defer { gate.leave(returning: reader) }
        // While this is held, files that are replaced meanwhile stay, because the snapshot still names them.
        let folder = try home.openFolder(FileStore.folder)
        _ = try folder?.tryLock(exclusive: false)
        var result = Verification()
        result.arePagesWhole = arePagesWhole
        var sum = Sum256()
        var seen: UInt64 = 0
        var names: Set<String> = []
        var visitedCount = 0
        let (root, isOfSnapshot) = try reader.forEach(searching: true) { visited, plaintext, total throws(VaultError) in
            visitedCount += 1
            try gate.checkOpen()
            if visitedCount % 64 == 0 { progress(visitedCount, total) }
            guard case .record(let fields, let lookup, let epoch) = visited,
                let info = Vault.info(fields, plaintext),
                try epoch.lookupKey(collection: info.collection, name: info.name) == lookup
            else {
                result.damagedRecords += 1
                return
            }
            sum.add(try epoch.term(lookupKey: lookup, sequence: fields.sequence))
            seen += 1
            result.records += 1
            guard fields.kind == .file else { return }
            let content = plaintext.extracting(fields.contentOffset..<plaintext.byteCount)
            names.insert(try RecordReader.descriptor(fields, plaintext).fileName)
            if try isWhole(content, keys: epoch) {
                result.files += 1
            } else {
                result.damagedFiles.append(info)
            }
        }
        progress(visitedCount, visitedCount)
        result.open = try checkOpenCompartment()
        result.expectedRecords = root.count
        result.isRolledBack = seen != root.count || sum != root.sum || !isOfSnapshot
        result.orphanedFiles = try home.names(in: FileStore.folder).filter { !names.contains($0) }.count
        return result
    }

    private func checkPages() throws(VaultError) -> Bool {
        do throws(VaultError) {
            try DatabaseEnvironment.acquire(.protected, in: home).checkPages()
            return true
        } catch let error where error.code == .damaged { return false }
    }

    private func checkOpenCompartment() throws(VaultError) -> OpenCompartment.Check {
        let vault = try gate.enter()
        defer { gate.leave() }
        return try open.check(vault.keys)
    }

    private func isWhole(_ content: RawSpan, keys: EpochKeys) throws(VaultError) -> Bool {
        do throws(VaultError) {
            let file = try FileReader(content, in: home, keys: keys)
            try file.checkAll(gate)
            return true
        } catch let error where error.code == .locked || error.code == .hardLinked {
            throw error
        } catch { return false }
    }

    /// Removes files that no record names. One that another process is just writing is left alone.
    /// - Returns: How many were removed.
    /// - Throws: `locked`, `damaged`, `readOnly`.
    @discardableResult
    package func removeOrphanedFiles() throws(VaultError) -> Int {
        let reader = try gate.enterWithReader()
        defer { gate.leave(returning: reader) }
        guard let folder = try home.openFolder(FileStore.folder) else { return 0 }
        try folder.lock(exclusive: true, orBusy: "the vault's files are being copied")
        var removed = 0
        for name in try orphans(reader) {
            // A writer holds its file's lock until the record is stored. With the lock in hand the records are looked
            // at again, so a file that has got its record meanwhile is seen.
            guard let file = try home.openFile(FileStore.path(name), O_RDONLY), try file.tryLock(exclusive: true),
                try orphans(reader).contains(name)
            else { continue }
            home.remove(FileStore.path(name))
            removed += 1
        }
        return removed
    }

    /// Names that no record has. Where a record is missing or cannot be read, any file may be its own: then none.
    private func orphans(_ reader: RecordReader) throws(VaultError) -> Set<String> {
        var present = Set(try home.names(in: FileStore.folder))
        var sum = Sum256()
        let (root, isOfSnapshot) = try reader.forEach { visited, plaintext, _ throws(VaultError) in
            try gate.checkOpen()
            guard case .record(let fields, let lookup, let epoch) = visited else { throw .damagedRecord }
            sum.add(try epoch.term(lookupKey: lookup, sequence: fields.sequence))
            if fields.kind == .file { present.remove(try RecordReader.descriptor(fields, plaintext).fileName) }
        }
        guard isOfSnapshot, sum == root.sum else { throw .damaged("records are missing; no file is removed") }
        return present
    }
}
