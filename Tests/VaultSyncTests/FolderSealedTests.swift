import SyncFormat
import TestSupport
import Testing

@testable import VaultSync

/// What is really sealed fits what a road takes.
@Suite struct FolderSealedTests {
    @Test func `entries, pieces, rosters and messages go onto a road and come back`() throws {
        let samples = try FolderSamples()
        let pair = try Pair()
        let road = try FolderRoad.create(at: samples.path, for: pair.group)
        let stream: StreamID = id(2)
        let writer = RoadWriter(road, of: stream)
        let entry = try pair.entry([[1, 2, 3]])
        let pieceKey = try pair.key.pieceKey(pair.group)
        let piece = try pattern(20_000).withRaw { try pieceKey.seal($0) }
        let invitation: InvitationID = id(9)
        let code = try InvitationCode.drawBytes().key(for: invitation)
        let message = try OpenedInvitation.seal("laptop", pair.first.roster, under: code, by: pair.laptop)

        let files: [(OwnFile, [UInt8])] = [
            (.entry(try #require(EntryFileName(number: entry.head.number, hash: entry.head.hash))), entry.bytes),
            (.piece(try #require(PieceFileName(id: piece.id))), piece.bytes),
            (
                .roster(try #require(RosterFileName(number: 1, hash: pair.first.roster.hash))), pair.first.bytes
            ),
            (
                .join(
                    try #require(
                        JoinFileName(invitation: invitation, message: .invitation, hash: message.hash))),
                message.bytes
            ),
        ]
        #expect(try writer.write(files) == [.written, .written, .written, .written])
        var memory = RoadMemory()
        for (file, bytes) in files {
            guard case .bytes(let read, _) = try road.read(file.file(of: stream), &memory) else {
                Issue.record("not read: \(file)")
                continue
            }
            #expect(read == bytes)
        }
    }
}
