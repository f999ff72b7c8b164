internal import SecretMemory
internal import VaultFormat
package import VaultStorage
internal import SystemCalls

/// The encrypted file of a large value, written before the transaction that stores the record that names it.
///
/// Keep it until that transaction has ended: its lock keeps others from taking the file for one that nobody needs.
package final class PreparedFile: Sendable {
    fileprivate let writer: FileWriter
    fileprivate let content: SecretBytes

    fileprivate init(_ writer: FileWriter, _ content: consuming SecretBytes) {
        self.writer = writer
        self.content = content
    }
}

extension Vault {
    /// Writes the encrypted file of a value that is larger than a record can hold.
    /// - Throws: `locked`, `diskFull`, `readOnly`, `outOfMemory`; then there is no file.
    package func prepareFile(_ value: RawSpan) throws(VaultError) -> PreparedFile {
        let writer = try openWriter()
        defer { gate.unregister(writer) }
        var start = 0
        while start < value.byteCount {
            // The vault can be locked between the steps.
            let end = min(start + FileFormat.chunkSize, value.byteCount)
            try gate.step(of: writer) { () throws(VaultError) in try writer.append(value.extracting(start..<end)) }
            start = end
        }
        return PreparedFile(writer, try finish(writer))
    }

    /// Removes files that no record came to name.
    package func discard(_ files: [PreparedFile]) { FileStore.remove(files.map(\.writer.name), in: home) }
}

extension WriteSession {
    /// Stores a large value whose file is written, as part of the transaction.
    /// - Throws: `recordExists`, `invalidName`, `assuranceTooLow`.
    package mutating func put(
        _ file: PreparedFile, for name: String, in collection: String
    ) throws(VaultError) {
        var draft = RecordDraft(collection: collection, name: name, replacing: false, now: WallClock.milliseconds)
        draft.kind = .file
        let outer = beginChange()
        do throws(VaultError) {
            try admission.check(collection)
            try file.content.withBytes { content throws(VaultError) in try put(draft, content: content) }
            endChange(outer, nil)
        } catch {
            endChange(outer, error)
            throw error
        }
    }
}
