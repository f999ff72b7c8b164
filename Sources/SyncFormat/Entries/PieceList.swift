package import VaultFormat

/// Where everything is in the list of a content's pieces: their key (32 bytes, secret), the content's length (8), its
/// BLAKE3 (32), and the ids of the pieces (32 each) in their order.
package struct PieceList: Sendable, Hashable {
    /// Bytes of a content in one piece.
    package static let pieceSize = 32_000
    /// Bytes of a piece on the road, whatever is in it.
    package static let sealedSize = 32 << 10
    /// Bytes of a content that needs no pieces.
    package static let inlineLimit = 8 << 10
    /// Bytes of an id.
    package static let idSize = 32
    package static let keyRange = 0..<32
    package static let hashRange = 40..<72
    package static let frontSize = 72

    /// Bytes of the content.
    package let length: UInt64
    /// Pieces that it has.
    package let count: Int

    /// For a content of `length` bytes.
    /// - Throws: ``FormatError/invalid(field:)`` for one that is empty or too long.
    package init(length: UInt64) throws(FormatError) {
        guard length > 0, length <= SyncLimits.pieced else { throw .invalid(field: "piece list") }
        self.length = length
        count = Int((length - 1) / UInt64(PieceList.pieceSize)) + 1
    }

    /// - Throws: ``FormatError`` unless the bytes are a whole list.
    package init(parsing bytes: RawSpan) throws(FormatError) {
        guard let length = bytes.integer(at: 32, as: UInt64.self) else { throw .wrongSize }
        try self.init(length: length)
        guard bytes.byteCount == size else { throw .wrongSize }
    }

    /// Bytes of the list.
    package var size: Int { PieceList.frontSize + PieceList.idSize * count }

    /// Bytes of the list of a content that is not empty.
    package static func size(length: Int) -> Int { frontSize + idSize * ((length - 1) / pieceSize + 1) }

    /// The place of a piece's id in the list.
    package func idRange(_ index: Int) -> Range<Int> {
        precondition((0..<count).contains(index), "no such piece")
        let start = PieceList.frontSize + PieceList.idSize * index
        return start..<start + PieceList.idSize
    }

    /// The place of a piece in the content.
    package func contentRange(_ index: Int) -> Range<Int> {
        precondition((0..<count).contains(index), "no such piece")
        let start = index * PieceList.pieceSize
        return start..<min(start + PieceList.pieceSize, Int(length))
    }

    /// Writes the length; key, hash and ids are the caller's.
    package func write(into bytes: inout MutableRawSpan) { bytes.store(length, at: 32) }
}
