import SyncFormat
import Testing

@Suite struct RoadNameTests {
    private static let hash: [UInt8] = [0x01, 0x23, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF, 0xFF]
    private static let stream = StreamID((0..<16).map { UInt8($0) })
    private static let invitation = InvitationID([UInt8](repeating: 0xA5, count: 16))

    @Test func `names are lower-case digits and are read back`() throws {
        let entry = try #require(EntryFileName(number: 0x12AB, hash: Self.hash))
        #expect(entry.name == "00000000000012ab-0123456789abcdef")
        #expect(EntryFileName(name: Array(entry.name.utf8)) == entry)
        let last = try #require(EntryFileName(number: .max, hash: [UInt8](repeating: 255, count: 32)))
        #expect(EntryFileName(name: Array(last.name.utf8)) == last)

        let roster = try #require(RosterFileName(number: 3, hash: Self.hash))
        #expect(roster.name == "0000000000000003-0123456789abcdef")
        #expect(RosterFileName(name: Array(roster.name.utf8)) == roster)
        #expect(RosterFileName(name: Array("0000000100000000-0123456789abcdef".utf8)) == nil)

        let piece = try #require(PieceFileName(id: (0..<32).map { UInt8($0) }))
        #expect(piece.name == "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f")
        #expect(PieceFileName(name: Array(piece.name.utf8)) == piece)

        let invitation = try #require(Self.invitation)
        let words = [(JoinFileName.Message.invitation, "invitation"), (.card, "card"), (.welcome, "welcome")]
        for (message, word) in words {
            let join = try #require(JoinFileName(invitation: invitation, message: message, hash: Self.hash))
            #expect(join.name == "a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5-\(word)-0123456789abcdef")
            #expect(JoinFileName(name: Array(join.name.utf8)) == join)
        }
    }

    @Test func `paths begin at the road's folder`() throws {
        let stream = try #require(Self.stream)
        let entry = try #require(EntryFileName(number: 1, hash: Self.hash))
        let piece = try #require(PieceFileName(id: [UInt8](repeating: 7, count: 32)))
        let roster = try #require(RosterFileName(number: 1, hash: Self.hash))
        let invitation = try #require(Self.invitation)
        let join = try #require(JoinFileName(invitation: invitation, message: .card, hash: Self.hash))
        #expect(RoadFile.entry(stream, entry).path == "s/\(stream)/\(entry.name)")
        #expect(RoadFile.piece(stream, piece).path == "p/\(stream)/\(piece.name)")
        #expect(RoadFile.roster(roster).path == "rosters/\(roster.name)")
        #expect(RoadFile.join(join).path == "join/\(join.name)")
    }

    @Test func `every change of a character makes a name another one or a stranger`() throws {
        let entry = try #require(EntryFileName(number: 0xBEEF, hash: Self.hash))
        let name = Array(entry.name.utf8)
        for place in name.indices {
            for byte in UInt8.min...UInt8.max where byte != name[place] {
                var changed = name
                changed[place] = byte
                let parsed = EntryFileName(name: changed)
                #expect(parsed != entry)
                if let parsed { #expect(Array(parsed.name.utf8) == changed) }
            }
        }
    }

    @Test(arguments: [
        "", "-", "0000000000000001", "0000000000000001-", "-0123456789abcdef", "0000000000000000-0123456789abcdef",
        "000000000000001-0123456789abcdef", "00000000000000001-0123456789abcdef", "0000000000000001-0123456789abcde",
        "0000000000000001-0123456789ABCDEF", "0000000000000001-0123456789abcdef0", "0000000000000001_0123456789abcdef",
        "0000000000000001-0123456789abcdeg", "0000000000000001--123456789abcdef", " 000000000000001-0123456789abcdef",
        "0000000000000001-0123456789abcdef\n",
        "0000000000000001-0123456789abcdef.sync-conflict-20261130-082947-ABCDEFG",
        "0000000000000001-0123456789abcdef~", ".part-0123456789abcdef", "+000000000000001-0123456789abcdef",
        "0000000000000001-0123456789abcdef-0123456789abcdef",
    ])
    func `what no writer writes is no name`(_ name: String) {
        let bytes = Array(name.utf8)
        #expect(EntryFileName(name: bytes) == nil)
        #expect(RosterFileName(name: bytes) == nil)
        #expect(PieceFileName(name: bytes) == nil)
        #expect(JoinFileName(name: bytes) == nil)
        #expect(StreamID(digits: bytes) == nil)
    }

    @Test func `other ids and messages are no names`() {
        let id = String(repeating: "a5", count: 16)
        for name in [
            "\(id)", "\(id)-card", "\(id)-Card-0123456789abcdef", "\(id)-cards-0123456789abcdef",
            "\(id)-card-0123456789abcdef-", "\(id.uppercased())-card-0123456789abcdef", "\(id)0-card-0123456789abcdef",
        ] {
            #expect(JoinFileName(name: Array(name.utf8)) == nil, "\(name)")
        }
        #expect(PieceFileName(name: Array(String(repeating: "a", count: 63).utf8)) == nil)
        #expect(PieceFileName(name: Array(String(repeating: "A", count: 64).utf8)) == nil)
        #expect(PieceFileName(id: [1, 2, 3]) == nil)
        #expect(EntryFileName(number: 0, hash: Self.hash) == nil)
        #expect(EntryFileName(number: 1, hash: [1, 2, 3, 4, 5, 6, 7]) == nil)
        #expect(StreamID(digits: Array("0102030405060708090a0b0c0d0e0f1".utf8)) == nil)
        #expect(StreamID(digits: Array("0102030405060708090A0B0C0D0E0F10".utf8)) == nil)
    }

    @Test func `names are in the order of their numbers`() throws {
        let names = try [(2, 9), (1, 9), (1, 3), (10, 0)].map { number, byte in
            try #require(EntryFileName(number: UInt64(number), hash: [UInt8](repeating: UInt8(byte), count: 8)))
        }
        #expect(names.sorted().map(\.number) == [1, 1, 2, 10])
        #expect(names.sorted().map(\.name) == names.map(\.name).sorted())
    }

    @Test func `a file has one of the sizes of its kind`() throws {
        let stream = try #require(Self.stream)
        let entry = RoadFile.entry(stream, try #require(EntryFileName(number: 1, hash: Self.hash)))
        let sizes = [1024, 2048, 4096, 8192, 16_384, 32_768]
        #expect((0...40_000).filter { entry.canHave(size: $0) } == sizes)
        let piece = RoadFile.piece(stream, try #require(PieceFileName(id: [UInt8](repeating: 7, count: 32))))
        #expect((0...40_000).filter { piece.canHave(size: $0) } == [32_768])
        let roster = RoadFile.roster(try #require(RosterFileName(number: 1, hash: Self.hash)))
        #expect((-1...40_000).filter { roster.canHave(size: $0) } == [4096, 8192, 16_384])
        let invitation = try #require(InvitationID([UInt8](repeating: 9, count: 16)))
        let card = RoadFile.join(
            try #require(JoinFileName(invitation: invitation, message: .card, hash: Self.hash)))
        #expect((0...40_000).filter { card.canHave(size: $0) } == sizes)
    }
}

@Suite struct RoadStrangerTests {
    private static let entry = "0000000000000001-0123456789abcdef"
    private static let piece = String(repeating: "ab", count: 32)

    @Test(arguments: [
        ("\(entry).sync-conflict-20261130-082947-ABCDEFG", RoadStranger.conflictCopy),
        ("\(entry) (conflicted copy 2026-11-30 082947)", .conflictCopy),
        ("\(entry) (laptop's conflicted copy 2026-11-30)", .conflictCopy),
        ("\(entry)_conflict-20261130-082947", .conflictCopy),
        (".part-0123456789abcdef", .unfinished),
        (".syncthing.\(entry).tmp", .unfinished),
        ("~syncthing~\(entry).tmp", .unfinished),
        (".\(entry).Xy12Ab", .unfinished),
        (".\(piece).Xy12Ab", .unfinished),
        (".\(entry).~7f3a", .unfinished),
        ("\(entry)~", .unfinished),
        (".nfs0000000000000001", .unfinished),
        ("notes.txt", .unknown),
        (".DS_Store", .unknown),
        ("", .unknown),
    ])
    func `a stranger is called what it is`(_ name: String, _ kind: RoadStranger) {
        #expect(RoadStranger(name: Array(name.utf8)) == kind)
    }

    @Test func `any bytes are a name of something`() {
        for first in UInt8.min...UInt8.max {
            _ = RoadStranger(name: [first])
            _ = RoadStranger(name: [0x2E, first, 0x2E, 0xFF])
            #expect(!RoadPart.isName([first]))
        }
    }

    @Test func `a part is known by its digits`() {
        #expect(RoadPart.name(0xAB) == ".part-00000000000000ab")
        #expect(RoadPart.isName(Array(".part-00000000000000ab".utf8)))
        for name in [".part-", ".part-00000000000000a", ".part-00000000000000AB", ".part-00000000000000abc", "part-0"] {
            #expect(!RoadPart.isName(Array(name.utf8)), "\(name)")
        }
    }

    @Test func `what tools put into a folder is no content of the user's`() {
        for name in [
            ".stfolder", ".stignore", ".git", ".sync_0a1b2c.db", "._sync_0a1b2c.db-wal", ".Trash-1000", "lost+found",
        ] {
            #expect(RoadCompany.isHarmless(Array(name.utf8)), "\(name)")
        }
        for name in [
            "notes.txt", ".bashrc", ".ssh", "s", "header", "HOLDFAST-SYNC", ".gitx", "Documents", "", "lost+found ",
        ] {
            #expect(!RoadCompany.isHarmless(Array(name.utf8)), "\(name)")
        }
    }
}
