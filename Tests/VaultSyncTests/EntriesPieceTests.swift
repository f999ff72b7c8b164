import SecretMemory
import SeededNumbers
import SyncFormat
import TestSupport
import Testing
import VaultFormat

@testable import VaultSync

@Suite struct EntriesPieceTests {
    private func key(_ byte: UInt8 = 3) throws -> PieceKey {
        try EpochKey(secret(repeated(byte, 32))).pieceKey(id(1))
    }

    private func cut(_ content: [UInt8], _ key: borrowing PieceKey) throws -> (list: [UInt8], pieces: [[UInt8]]) {
        try content.withRaw { bytes in
            let list = try key.list(of: bytes).revealed()
            let layout = try list.lend { try PieceList(parsing: $0) }
            let pieces = try (0..<layout.count).map { index in
                try key.seal(bytes.extracting(layout.contentRange(index))).bytes
            }
            return (list, pieces)
        }
    }

    @Test func `a content comes back out of its pieces`() throws {
        for size in [1, 8193, 32_000, 32_001, 100_000] {
            let content = pattern(size)
            let (list, pieces) = try cut(content, key())
            #expect(pieces.count == (size + 31_999) / 32_000)
            #expect(pieces.allSatisfy { $0.count == 32_768 })
            // The list is enough: it has the key.
            var assembly = try list.withRaw { try PieceAssembly($0, limit: 1 << 20) }
            for piece in pieces { try assembly.add(piece) }
            let (next, whole) = (assembly.next, try assembly.finish().revealed())
            #expect(next == nil && whole == content)
        }
    }

    @Test func `equal contents have equal pieces in one epoch and in no other`() throws {
        let one = try key()
        let other = try key(4)
        let content = pattern(40_000)
        let (list, pieces) = try cut(content, one)
        let (again, same) = try cut(content, one)
        #expect(list == again && pieces == same)
        let (_, different) = try cut(content, other)
        #expect(Set(pieces).isDisjoint(with: different))
    }

    @Test func `a piece that was changed, cut or exchanged is refused`() throws {
        let key = try key()
        let content = pattern(100)
        let (ids, sealed) = try content.withRaw { try key.seal($0) }
        #expect(try key.open(sealed, id: ids).revealed() == content)
        var random = SeededGenerator(seed: 3)
        for byte in stride(from: 0, to: sealed.count, by: TestExtent.isCheck ? 1 : 16) {
            let bit = byte * 8 + Int.random(in: 0..<8, using: &random)
            let bytes = sealed.flipped(bit)
            let error = syncError { () throws(SyncError) in _ = try key.open(bytes, id: ids) }
            #expect(error == .notAuthentic("piece"), "bit \(bit)")
        }
        for bit in 0..<256 {
            let other = ids.flipped(bit)
            #expect(syncError { () throws(SyncError) in _ = try key.open(sealed, id: other) } == .notAuthentic("piece"))
        }
        #expect(syncError { () throws(SyncError) in _ = try key.open(Array(sealed.dropLast()), id: ids) } != nil)
        #expect(syncError { () throws(SyncError) in _ = try key.open(sealed, id: Array(ids.dropLast())) } != nil)
        let stranger = try self.key(9)
        #expect(syncError { () throws(SyncError) in _ = try stranger.open(sealed, id: ids) } == .notAuthentic("piece"))
    }

    @Test func `a member cannot write another content under an id`() throws {
        let key = try key()
        let content = pattern(100)
        let name = try content.withRaw { try key.id(of: $0) }
        let forged = try pattern(101).withRaw { try key.seal($0, as: name) }
        #expect(syncError { () throws(SyncError) in _ = try key.open(forged, id: name) } == .notAuthentic("piece"))
    }

    @Test func `pieces in another order, too few, or of another whole are refused`() throws {
        let content = pattern(70_000)
        let (list, pieces) = try cut(content, key())
        var swapped = try list.withRaw { try PieceAssembly($0, limit: 1 << 20) }
        let error = syncError { () throws(SyncError) in try swapped.add(pieces[1]) }
        #expect(error == .notAuthentic("piece"))
        try swapped.add(pieces[0])
        let early = syncError { () throws(SyncError) in _ = try swapped.finish() }
        #expect(early == .format(.wrongSize))
        // Another whole hash, with the same pieces.
        var bytes = list
        bytes[PieceList.hashRange.lowerBound] ^= 1
        var lying = try bytes.withRaw { try PieceAssembly($0, limit: 1 << 20) }
        for piece in pieces { try lying.add(piece) }
        let whole = syncError { () throws(SyncError) in _ = try lying.finish() }
        #expect(whole == .notAuthentic("pieces"))
        // A list that says another length of the last piece.
        var longer = list
        longer[32] ^= 1
        var wrong = try longer.withRaw { try PieceAssembly($0, limit: 1 << 20) }
        for piece in pieces.dropLast() { try wrong.add(piece) }
        let length = syncError { () throws(SyncError) in try wrong.add(pieces[2]) }
        #expect(length == .format(.invalid(field: "piece size")))
    }

    @Test func `a content that is longer than is wanted is not put together`() throws {
        let (list, _) = try cut(pattern(40_000), key())
        let error = syncError { () throws(SyncError) in
            _ = try list.withRaw { list throws(SyncError) in try PieceAssembly(list, limit: 39_999) }
        }
        #expect(error == .format(.invalid(field: "piece list")))
        let key = try key()
        let empty = syncError { () throws(SyncError) in _ = try key.list(of: RawSpan()) }
        #expect(empty == .format(.invalid(field: "piece list")))
    }
}
