internal import Gzip
internal import SecretMemory
internal import VaultFormat

/// A ZIP archive (PKWARE's APPNOTE 6.3) in locked memory: one volume, not encrypted, stored or deflated.
///
/// What lies where is taken from the central directory alone; a local header that says otherwise is a fault.
struct ZipArchive: ~Copyable {
    struct Entry: Sendable {
        let name: String
        fileprivate let method: Int
        fileprivate let checksum: UInt32
        fileprivate let packed: Int
        /// Bytes of its content, as the directory says; reading checks it.
        let size: Int
        fileprivate let header: Int
    }

    private let bytes: SecretBytes
    /// The files of the archive, by their names.
    let entries: [String: Entry]

    /// - Throws: ``ImportError``; `tooLarge` where the files would be larger together than an import may be.
    init(_ bytes: consuming SecretBytes) throws(ImportError) {
        entries = try bytes.withBytes { bytes throws(ImportError) in try ZipArchive.directory(bytes) }
        self.bytes = bytes
    }

    /// Whether bytes are an archive that has a file.
    static func holds(_ name: String, _ bytes: RawSpan) -> Bool {
        guard let entries = try? directory(bytes) else { return false }
        return entries[name] != nil
    }

    private static let signature: (end: UInt32, central: UInt32, local: UInt32) = (
        0x0605_4B50, 0x0201_4B50, 0x0403_4B50
    )
    private static let (endSize, centralSize, localSize) = (22, 46, 30)
    private static let mostEntries = 20_000
    /// Bytes of all files together: less than what may be expanded elsewhere, because one that is read is there twice
    /// for a moment.
    private static let mostContent = 112 << 20

    private static func fault(_ offset: Int, _ what: String) -> ImportError { .malformed("byte \(offset)", what) }

    /// The end of the central directory: the last place that ends the archive together with its comment.
    private static func end(_ bytes: RawSpan) throws(ImportError) -> Int {
        var offset = bytes.byteCount - endSize
        while offset >= max(0, bytes.byteCount - endSize - 65_535) {
            if bytes.word(offset) == signature.end, bytes.half(offset + 20) == bytes.byteCount - offset - endSize {
                return offset
            }
            offset -= 1
        }
        throw .malformed("", "this is no ZIP archive, or it is cut off")
    }

    private static func directory(_ bytes: RawSpan) throws(ImportError) -> [String: Entry] {
        let end = try end(bytes)
        let (count, size, start) = (bytes.half(end + 10), Int(bytes.word(end + 12)), Int(bytes.word(end + 16)))
        guard bytes.half(end + 4) == 0, bytes.half(end + 6) == 0, bytes.half(end + 8) == count, count < 65_535 else {
            throw ImportError(.unsupported, "byte \(end)", "the archive has several volumes, or is one of ZIP64")
        }
        guard count <= mostEntries else {
            throw ImportError(.tooLarge, "", "an archive has at most \(mostEntries) files")
        }
        guard start + size == end else {
            throw fault(end, "the directory of the archive is not where it is said to be")
        }
        var entries: [String: Entry] = [:]
        var (position, total) = (start, 0)
        for _ in 0..<count {
            let (entry, next) = try entry(bytes, position, end: end)
            total += entry.size
            guard total <= mostContent else {
                throw ImportError(.tooLarge, "byte \(position)", "the files of the archive are too large together")
            }
            // A folder has no content; two files of one name would be two truths.
            if !entry.name.hasSuffix("/"), entries.updateValue(entry, forKey: entry.name) != nil {
                throw fault(position, "the archive has two files of one name")
            }
            position = next
        }
        guard position == end else {
            throw fault(position, "the directory of the archive has other entries than it says")
        }
        return entries
    }

    private static func entry(_ bytes: RawSpan, _ at: Int, end: Int) throws(ImportError) -> (Entry, next: Int) {
        guard at + centralSize <= end, bytes.word(at) == signature.central else {
            throw fault(at, "an entry of the archive's directory is damaged")
        }
        let name = at + centralSize
        let next = name + bytes.half(at + 28) + bytes.half(at + 30) + bytes.half(at + 32)
        guard next <= end else { throw fault(at, "an entry of the archive's directory is cut off") }
        let flags = bytes.half(at + 8)
        guard flags & 0x2041 == 0 else { throw ImportError(.unsupported, "byte \(at)", "the archive is encrypted") }
        let text = bytes.extracting(name..<name + bytes.half(at + 28))
        guard text.isUTF8 else { throw fault(at, "the name of a file is not UTF-8") }
        let entry = Entry(
            name: text.openText(0..<text.byteCount), method: bytes.half(at + 10), checksum: bytes.word(at + 16),
            packed: Int(bytes.word(at + 20)), size: Int(bytes.word(at + 24)), header: Int(bytes.word(at + 42)))
        return (entry, next)
    }

    /// The content of a file; nil where the archive has no such file.
    /// - Throws: ``ImportError`` where it is damaged or has another size or checksum than the directory says.
    func content(_ name: String) throws(ImportError) -> SecretBytes? {
        guard let entry = entries[name] else { return nil }
        return try bytes.withBytes { bytes throws(ImportError) in
            let content = try ZipArchive.content(entry, bytes)
            let isWhole = content.withBytes { $0.byteCount == entry.size && crc32($0) == entry.checksum }
            guard isWhole else {
                throw ZipArchive.fault(entry.header, "a file of the archive has a wrong size or checksum")
            }
            return try content.bytes()
        }
    }

    private static func content(_ entry: Entry, _ bytes: RawSpan) throws(ImportError) -> SecretBufferBox {
        let at = entry.header
        guard at + localSize <= bytes.byteCount, bytes.word(at) == signature.local, bytes.half(at + 8) == entry.method
        else {
            throw fault(at, "a file of the archive is not where its directory says")
        }
        let start = at + localSize + bytes.half(at + 26) + bytes.half(at + 28)
        guard start + entry.packed <= bytes.byteCount else { throw fault(at, "a file of the archive is cut off") }
        let packed = bytes.extracting(start..<start + entry.packed)
        let content = SecretBufferBox(limit: entry.size)
        switch entry.method {
        case 0:
            guard entry.packed == entry.size else { throw fault(at, "a file of the archive has two sizes") }
            try content.append(packed)
        case 8: try content.append(inflating: packed, .raw, "byte \(at)")
        default:
            throw ImportError(
                .unsupported, "byte \(at)", "a file of the archive is compressed in a way that is not known")
        }
        return content
    }
}
