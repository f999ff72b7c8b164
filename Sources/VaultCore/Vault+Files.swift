internal import Cryptography
internal import SecretMemory
package import VaultFormat
internal import VaultHeader
public import VaultStorage
internal import SystemCalls

extension Vault {
    /// Stores a value of any size from a stream; above 1 MiB it goes into an encrypted file, 64 KiB at a time.
    ///
    /// - Parameters:
    ///   - name: The record's name.
    ///   - collection: The collection it is in.
    ///   - replacing: Whether a record of this name may be replaced.
    ///   - source: Fills the span it is given and returns how many bytes it wrote; 0 ends the stream.
    /// - Returns: The number of bytes stored.
    /// - Throws: As ``put(_:for:in:replacing:)``, and what `source` throws; then nothing was changed.
    @discardableResult
    public func put(
        _ name: String, in collection: String = Vault.defaultCollection, replacing: Bool = false,
        from source: (inout MutableRawSpan) throws -> Int
    ) throws -> UInt64 {
        try put(name, in: collection, replacing: replacing, besides: [], from: source)
    }

    /// As ``put(_:in:replacing:from:)``.
    /// - Parameter besides: Places of which none may have a record if this one is new.
    package func put(
        _ name: String, in collection: String, replacing: Bool, besides: [RecordName],
        from source: (inout MutableRawSpan) throws -> Int
    ) throws -> UInt64 {
        guard RecordLimits.allow(collection: collection, name: name) else { throw VaultError.invalidName }
        try admit(collection)
        try requirePlace(for: name, in: collection, replacing: replacing)
        var first = try SecretBytes(zeroed: Vault.largestInlineValue + 1)
        let size = try first.withMutableBytes { try Vault.fill(&$0, from: source) }
        var draft = RecordDraft(
            collection: collection, name: name, replacing: replacing, now: WallClock.milliseconds)
        draft.besides = besides
        if size <= Vault.largestInlineValue {
            try first.withBytes { try store(draft, $0.extracting(0..<size)) }
            return UInt64(size)
        }
        draft.kind = .file
        // The source may be slow: the vault can be locked between the steps, which ends the stream.
        let writer = try openWriter()
        defer { gate.unregister(writer) }
        try append(first, size, to: writer)
        var length = UInt64(size)
        while true {
            let more = try first.withMutableBytes { bytes in
                try bytes.withPart(0..<FileFormat.chunkSize) { part in min(try source(&part), part.byteCount) }
            }
            if more <= 0 { break }
            try append(first, more, to: writer)
            length += UInt64(more)
        }
        try store(writer, draft)
        return length
    }

    func openWriter() throws(VaultError) -> FileWriter {
        let vault = try gate.enter()
        defer { gate.leave() }
        let writer = try FileWriter(in: home, keys: vault.keys.current)
        gate.register(writer)
        return writer
    }

    private func append(_ bytes: borrowing SecretBytes, _ count: Int, to writer: FileWriter) throws(VaultError) {
        try bytes.withBytes { bytes throws(VaultError) in
            try gate.step(of: writer) { () throws(VaultError) in try writer.append(bytes.extracting(0..<count)) }
        }
    }

    /// Finishes the file and writes the record that names it; a record that cannot be written leaves no file.
    func store(_ writer: FileWriter, _ draft: RecordDraft) throws(VaultError) {
        let content = try finish(writer)
        do throws(VaultError) {
            try content.withBytes { content throws(VaultError) in try store(draft, content) }
        } catch {
            // After a disk error the record may still exist: then the file is an orphan at worst.
            if error.code != .inputOutput { FileStore.remove([writer.name], in: home) }
            throw error
        }
    }

    func finish(_ writer: FileWriter) throws(VaultError) -> SecretBytes {
        try gate.step(of: writer) { () throws(VaultError) in try writer.finish() }
    }

    private static func fill(
        _ bytes: inout MutableRawSpan, from source: (inout MutableRawSpan) throws -> Int
    ) throws -> Int {
        var filled = 0
        while filled < bytes.byteCount {
            let more = try bytes.withPart(filled..<bytes.byteCount) { part in min(try source(&part), part.byteCount) }
            if more <= 0 { break }
            filled += more
        }
        return filled
    }

    /// Lends a value of any size piece by piece, at most 64 KiB at a time where it is a file.
    ///
    /// Each piece is genuine when it is lent; an error after some of them means that the rest is not.
    /// - Throws: As ``withValue(for:in:_:)`` but for `tooLarge`, and what `body` throws.
    public func read(
        _ name: String, in collection: String = Vault.defaultCollection, _ body: (RawSpan) throws -> Void
    ) throws {
        // The record is read again when its file went away meanwhile: another process replaced it.
        for isLastTry in [false, true] {
            var started = false
            do {
                let file = try openFile(name, collection) {
                    started = true
                    try body($0)
                }
                started = true
                try file?.forEachChunk(gate, body)
                return
            } catch let error as VaultError where error.code == .damaged && !started && !isLastTry {
                continue
            }
        }
    }

    /// Lends an inline value, or opens the file of a record.
    func openFile(
        _ name: String, _ collection: String, inline: (RawSpan) throws -> Void
    ) throws -> FileReader? {
        let reader = try gate.enterWithReader()
        defer { gate.leave(returning: reader) }
        try reader.keys.admission.check(collection)
        return try reader.withRecord(collection: collection, name: name) { fields, plaintext, epoch in
            let content = plaintext.extracting(fields.contentOffset..<plaintext.byteCount)
            guard fields.form == .value else { throw VaultError.isItem }
            guard fields.kind == .file else {
                try inline(content)
                return nil
            }
            let file = try FileReader(content, in: home, keys: epoch)
            gate.register(file)
            return file
        }
    }

    /// Whether there is a record of this name.
    /// - Throws: `locked`, `assuranceTooLow`, `damaged`.
    public func contains(_ name: String, in collection: String = Vault.defaultCollection) throws(VaultError) -> Bool {
        try form(of: name, in: collection) != nil
    }

    /// Before a value is asked for.
    /// - Throws: `recordExists`, `isItem` where it cannot be stored; as ``contains(_:in:)``.
    func requirePlace(for name: String, in collection: String, replacing: Bool) throws(VaultError) {
        guard let form = try form(of: name, in: collection) else { return }
        guard replacing else { throw .recordExists }
        guard form == .value else { throw .isItem }
    }

    private func form(of name: String, in collection: String) throws(VaultError) -> RecordFields.Form? {
        do {
            let reader = try gate.enterWithReader()
            defer { gate.leave(returning: reader) }
            try reader.keys.admission.check(collection)
            return try reader.withRecord(collection: collection, name: name) { fields, _, _ in fields.form }
        } catch let error as VaultError {
            if error.code == .recordNotFound { return nil }
            throw error
        } catch {
            throw VaultError(.inputOutput, "reading failed")
        }
    }
}
