package import VaultFormat

/// An own entry in the bytes that a road gets, kept until a snapshot replaces it or everybody has it.
package struct OutboxRecord: Sendable, Hashable {
    private static let version: UInt8 = 1

    /// The ids of the pieces that its changes need, each once: these are on the road before it.
    package let pieces: [[UInt8]]
    /// The sealed entry.
    package let entry: [UInt8]

    /// - Throws: ``FormatError/invalid(field:)``; ``FormatError/wrongSize``.
    package init(pieces: [[UInt8]], entry: [UInt8]) throws(FormatError) {
        (self.pieces, self.entry) = (pieces, entry)
        try check()
    }

    /// - Throws: ``FormatError/newerVersion(_:)``, ``FormatError/wrongSize``, ``FormatError/invalid(field:)``.
    package init(parsing bytes: [UInt8]) throws(FormatError) {
        var reader = ByteReader(bytes)
        try reader.version(Self.version, "outbox version")
        let count = Int(try reader.integer(UInt16.self))
        guard count <= SyncLimits.outboxPieces else { throw .invalid(field: "outbox pieces") }
        var pieces: [[UInt8]] = []
        for _ in 0..<count { pieces.append(try reader.bytes(PieceList.idSize)) }
        self.pieces = pieces
        entry = try reader.bytes(reader.remaining)
        try check()
    }

    package var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.integer(Self.version)
        writer.integer(UInt16(clamping: pieces.count))
        for piece in pieces { writer.append(piece) }
        writer.append(entry)
        return writer.bytes
    }

    private func check() throws(FormatError) {
        guard pieces.count <= SyncLimits.outboxPieces, pieces.allSatisfy({ $0.count == PieceList.idSize }),
            Set(pieces).count == pieces.count
        else { throw .invalid(field: "outbox pieces") }
        guard EntrySize.allowed.contains(entry.count) else { throw .wrongSize }
    }

    /// The record of the own entry with this number.
    package static func recordName(_ stream: StreamID, _ number: UInt64) -> String {
        "o\(stream).\(RoadNumber(number))"
    }

    /// The record with a piece, in the bytes that a road gets.
    package static func pieceName(_ id: [UInt8]) -> String { "p\(Hexadecimal.encode(id))" }
}
