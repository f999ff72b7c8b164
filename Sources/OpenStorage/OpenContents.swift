package import Cryptography
package import SecretMemory
package import VaultFormat
internal import VaultHeader
package import VaultStorage
internal import SystemCalls

/// The open compartment's database as an unlocked vault reads it: without LMDB, because anybody may have written it.
/// Created and used under the compartment's lock.
package struct OpenContents: ~Copyable {
    /// One record that opened.
    package struct Entry {
        package let sequence: UInt64
        /// Bytes of its value in the database.
        package let size: Int
        /// Tells this very value from any other.
        package let term: Sum256
    }

    private var pages: DatabasePages
    private var cipher: RecordCipher
    package private(set) var entries: [Entry] = []
    /// Pages and records that cannot be read.
    package private(set) var unreadable = 0
    /// The records are not the ones that the last writer of ours left: some are missing, added or older.
    package private(set) var isAltered = false

    /// Far above what any quota lets a writer write.
    private static let mostEntries = 4 * OpenQuota.largest.items

    /// Reads every record once.
    /// - Throws: `damaged` when nothing can be read, `inputOutput`, `outOfMemory`.
    package init(_ key: borrowing SecretBytes, vault: VaultID, in home: HomeDirectory) throws(VaultError) {
        guard let file = try home.openFile(OpenFiles.database, O_RDONLY) else {
            throw .damaged("\(OpenFiles.database) is missing")
        }
        let keys = try RecordKeys(openKey: key, vault: vault)
        var cipher = try RecordCipher(keys)
        var pages = try DatabasePages(file, limit: UInt64(DatabaseName.open.limit))
        var entries: [Entry] = []
        var sum = Sum256()
        let (problems, root) = try OpenContents.visit(&pages, &cipher) { lookup, value, plaintext throws(VaultError) in
            guard entries.count < OpenContents.mostEntries else {
                throw VaultError(.tooLarge, "the open compartment has more entries than it can have")
            }
            let fields = try RecordReader.fields(plaintext)
            sum.add(try keys.current.term(lookupKey: lookup, sequence: fields.sequence))
            entries.append(
                Entry(
                    sequence: fields.sequence, size: value.byteCount, term: OpenContents.term(lookup, value)))
        }
        let count = UInt64(entries.count)
        let newest = pages.transaction
        isAltered = root.map { $0.count != count || $0.sum != sum || !$0.isOf(snapshot: newest) } ?? true
        unreadable = problems
        self.entries = entries
        self.cipher = cipher
        self.pages = pages
    }

    /// Lends each record's fields and plaintext again. What `body` calls damaged is counted; other errors end it.
    /// - Returns: How many were damaged in this sense.
    package mutating func forEach(
        _ body: (RecordFields, RawSpan) throws(VaultError) -> Void
    ) throws(VaultError) -> Int {
        let (problems, _) = try OpenContents.visit(&pages, &cipher) { _, _, plaintext throws(VaultError) in
            try body(RecordReader.fields(plaintext), plaintext)
        }
        return max(0, problems - unreadable)
    }

    private static func visit(
        _ pages: inout DatabasePages, _ cipher: inout RecordCipher,
        _ body: (Digest, RawSpan, RawSpan) throws(VaultError) -> Void
    ) throws(VaultError) -> (problems: Int, root: RootRecord?) {
        var problems = 0
        let (rootValue, damagedPages) = try pages.forEach { key, value throws(VaultError) in
            do throws(VaultError) {
                guard let lookup = Digest(copying: key) else { throw .damagedRecord }
                let size = try cipher.open(value, lookupKey: key)
                defer { cipher.wipe(size) }
                try cipher.withPlaintext(size) { plaintext throws(VaultError) in try body(lookup, value, plaintext) }
            } catch {
                guard error.code == .damaged || error.code == .keysChanged else { throw error }
                problems += 1
            }
        }
        var root: RootRecord?
        do throws(VaultError) {
            root = try rootValue?.withRawSpan { value throws(VaultError) in try OpenContents.root(value, &cipher) }
        } catch {
            guard error.code == .damaged || error.code == .keysChanged else { throw error }
            problems += 1
        }
        return (problems + damagedPages, root)
    }

    private static func root(_ value: RawSpan, _ cipher: inout RecordCipher) throws(VaultError) -> RootRecord {
        let size = try cipher.openRoot(value)
        defer { cipher.wipe(size) }
        return try cipher.withPlaintext(size) { plaintext throws(VaultError) in
            do throws(FormatError) { return try RootRecord(parsing: plaintext) } catch { throw .damagedRecord }
        }
    }

    /// A hash of what no two sealed values have in common: where it lies, its nonce and its tag.
    package static func term(_ lookup: Digest, _ value: RawSpan) -> Sum256 {
        var input = lookup.bytes
        for offset in SealedRecord.epochSize..<SealedRecord.boxOffset {
            input.append(value.present(at: offset, as: UInt8.self))
        }
        for offset in (value.byteCount - SealedRecord.tagSize)..<value.byteCount {
            input.append(value.present(at: offset, as: UInt8.self))
        }
        return input.withRawSpan { BLAKE3.hash($0).withBytes { Sum256($0) } }
    }
}
