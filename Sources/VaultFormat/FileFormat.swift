/// Encrypted file contents: the STREAM construction over 64 KiB chunks.
///
/// A file is its 8 magic bytes and then chunks, each ciphertext and tag. The nonce of chunk `n` is `n` as 11 big-endian
/// bytes and a last byte that is 1 for the final chunk only; the key is used for one file once, so no chunk can be
/// moved, dropped or added without a tag failing.
package enum FileFormat {
    package static let magic = Array("HFFILE\u{0}\u{1}".utf8)
    package static let chunkSize = 64 * 1024
    package static let tagSize = 16

    /// Nonce of one chunk.
    package static func writeNonce(chunk: UInt64, isLast: Bool, into bytes: inout MutableRawSpan) {
        for index in 0..<3 { bytes.store(UInt8(0), at: index) }
        for index in 0..<8 { bytes.store(UInt8(truncatingIfNeeded: chunk >> UInt64(56 - 8 * index)), at: 3 + index) }
        bytes.store(UInt8(isLast ? 1 : 0), at: 11)
    }

    /// Number of chunks of a content of `length` bytes; an empty one has one empty chunk.
    package static func chunks(length: UInt64) -> UInt64 {
        max(1, length / UInt64(chunkSize) + (length % UInt64(chunkSize) == 0 ? 0 : 1))
    }

    /// Size on disk of a content of `length` bytes; nil when it does not fit 64 bits.
    package static func sizeOnDisk(length: UInt64) -> UInt64? {
        let (overhead, overflow) = chunks(length: length).multipliedReportingOverflow(by: UInt64(tagSize))
        let (total, overflow2) = length.addingReportingOverflow(overhead)
        let (size, overflow3) = total.addingReportingOverflow(UInt64(magic.count))
        return overflow || overflow2 || overflow3 ? nil : size
    }
}

/// The content of a file record: where the bytes lie, how many, and the key they are under.
package struct FileDescriptor: Sendable, Hashable {
    package static let size = 16 + 8 + 32
    package static let keyRange = 24..<56

    /// 16 random bytes, the name of the file in hexadecimal.
    package let id: [UInt8]
    /// Bytes of content.
    package let length: UInt64

    package init(id: [UInt8], length: UInt64) {
        self.id = id
        self.length = length
    }

    /// Reads all but the key, which stays where it is.
    package init(parsing bytes: RawSpan) throws(FormatError) {
        guard bytes.byteCount == FileDescriptor.size, let length = bytes.integer(at: 16, as: UInt64.self) else {
            throw .invalid(field: "file record")
        }
        id = (0..<16).map { bytes.present(at: $0, as: UInt8.self) }
        self.length = length
    }

    /// Writes all but the key.
    package func write(into bytes: inout MutableRawSpan) {
        for index in 0..<16 { bytes.store(id[index], at: index) }
        bytes.store(length, at: 16)
    }

    /// Name below `files/`.
    package var fileName: String { Hexadecimal.encode(id) }
}
