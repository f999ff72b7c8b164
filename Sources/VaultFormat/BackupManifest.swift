/// What a backup holds: one line for each file with size and BLAKE3, and a last line over all of them.
///
/// A backup is a folder that is itself a home; the manifest tells whether it is still what was written.
package struct BackupManifest: Sendable, Hashable {
    /// One file of the backup.
    package struct Entry: Sendable, Hashable {
        /// `header`, `vault.mdb`, one of the open compartment's files, or `files/` and 32 hexadecimal digits.
        package let path: String
        package let size: UInt64
        /// BLAKE3, 32 bytes.
        package let digest: [UInt8]

        package init(path: String, size: UInt64, digest: [UInt8]) {
            self.path = path
            self.size = size
            self.digest = digest
        }
    }

    package static let fileName = "backup.manifest"
    static let firstLine = "holdfast backup 1"

    package let vault: VaultID
    package let entries: [Entry]

    package init(vault: VaultID, entries: [Entry]) {
        self.vault = vault
        self.entries = entries
    }

    /// What the manifest of a folder can have at most, in bytes: known before any of it is read.
    /// - Parameter files: How many files lie beneath `files/`.
    package static func largestSize(files: Int) -> UInt64 {
        func line(_ path: String) -> Int { "file \(path) \(UInt64.max) ".utf8.count + 64 + 1 }
        let front = "\(firstLine)\nvault \n".utf8.count + 32
        let named = (["header", "vault.mdb"] + OpenFiles.copied).reduce(0) { $0 + line($1) }
        let other = line("files/" + String(repeating: "0", count: 32))
        return UInt64(front + named + "end \n".utf8.count + 64) + UInt64(max(0, files)) * UInt64(other)
    }

    private var body: String {
        var lines = [BackupManifest.firstLine, "vault \(vault)"]
        lines += entries.map { "file \($0.path) \($0.size) \(Hexadecimal.encode($0.digest))" }
        return lines.joined(separator: "\n") + "\n"
    }

    package func encoded(checksum: (RawSpan) -> [UInt8]) -> [UInt8] {
        let body = Array(body.utf8)
        return unsafe body + Array("end \(Hexadecimal.encode(checksum(body.span.bytes)))\n".utf8)
    }

    /// Reads exactly what ``encoded(checksum:)`` writes. Paths are checked against the fixed names and the one
    /// pattern, so that a planted manifest cannot point outside the backup.
    package init(parsing bytes: [UInt8], checksum: (RawSpan) -> [UInt8]) throws(FormatError) {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .invalid(field: "manifest text") }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count >= 4, lines[0] == BackupManifest.firstLine, lines.last == "" else { throw .wrongMagic }
        guard lines[1].hasPrefix("vault "), let raw = Hexadecimal.decode(lines[1].dropFirst(6)),
            let id = VaultID(bytes: raw)
        else { throw .invalid(field: "manifest vault") }
        vault = id
        entries = try lines[2..<lines.count - 2].map { line throws(FormatError) in
            try BackupManifest.parse(line)
        }
        guard encoded(checksum: checksum) == bytes else { throw .checksumMismatch }
        guard Set(entries.map(\.path)).count == entries.count, entries.contains(where: { $0.path == "header" }),
            entries.contains(where: { $0.path == "vault.mdb" })
        else { throw .invalid(field: "manifest entries") }
    }

    private static func parse(_ line: Substring) throws(FormatError) -> Entry {
        let words = line.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 4, words[0] == "file", isAllowed(words[1]), let size = UInt64(words[2]),
            let digest = Hexadecimal.decode(words[3]), digest.count == 32
        else { throw .invalid(field: "manifest entry") }
        return Entry(path: String(words[1]), size: size, digest: digest)
    }

    private static func isAllowed(_ path: Substring) -> Bool {
        if path == "header" || path == "vault.mdb" || OpenFiles.copied.contains(String(path)) { return true }
        guard path.hasPrefix("files/") else { return false }
        return Hexadecimal.decode(path.dropFirst(6))?.count == 16
    }
}
