import TestSupport
import Testing
import VaultFormat

/// `hardware.pending`, byte by byte, and what follows from it.
@Suite(.seeded) struct PendingNoteTests {
    static let note: PendingNote = {
        var note = PendingNote()
        note.shares = [PendingNote.ChipShare(name: repeated(1, 34), object: repeated(2, 40))]
        note.anchors = [PendingNote.Anchor(vault: Sample.vault, home: repeated(3, 32))]
        note.move = PendingNote.Move(from: .device, to: .owner)
        note.leaving = [ShareItemTests.named]
        note.coming = [ShareItemTests.chip]
        note.owed = [ShareItemTests.named, ShareItemTests.chip]
        return note
    }()

    static let covered: [UInt8] =
        Array("HFPEND05".utf8) + [1] + counted(repeated(1, 34)) + counted(repeated(2, 40)) + [2]
        + counted(Sample.vault.bytes + repeated(3, 32)) + [3] + counted([0, 1]) + [4]
        + counted([2] + ShareItemTests.named.encoded) + [5] + counted([1] + ShareItemTests.chip.encoded) + [6]
        + counted([2] + ShareItemTests.named.encoded) + [6] + counted([1] + ShareItemTests.chip.encoded)

    private func error(_ bytes: [UInt8]) -> FormatError? {
        formatError { () throws(FormatError) in _ = try PendingNote.parse(bytes) }
    }

    @Test func `a note is the bytes of the document`() throws {
        #expect(Self.note.covered == Self.covered)
        for tags in [[], [repeated(8, 32)], [repeated(8, 32), repeated(9, 32)]] as [[[UInt8]]] {
            let bytes = Self.covered + [7] + counted(tags.flatMap { $0 })
            #expect(try Self.note.encoded(tags: tags) == bytes)
            let parsed = try PendingNote.parse(bytes)
            #expect(parsed.note == Self.note && parsed.tags == tags && parsed.covered == Self.covered)
            for count in 0..<bytes.count { #expect(error(Array(bytes.prefix(count))) != nil, "\(count) bytes") }
            #expect(error(bytes + [0]) == .wrongSize)
        }
        #expect(PendingNote().isEmpty && !Self.note.isEmpty)
    }

    @Test func `entries in another order, unknown ones and too many tags are no note`() {
        let front = Array("HFPEND05".utf8)
        let end: [UInt8] = [7, 0, 0]
        #expect(error(front + end) == nil)
        #expect(error(Array("HFPEND04".utf8) + end) == .wrongMagic)
        let share = [1] + counted([1]) + counted([2])
        let anchor = [2] + counted(repeated(0, 48))
        #expect(error(front + share + anchor + end) == nil)
        #expect(error(front + anchor + share + end) == .invalid(field: "note's order"))
        #expect(error(front + [9] + counted([]) + end) == .invalid(field: "note"))
        #expect(error(front + [0] + end) == .invalid(field: "note"))
        #expect(error(front + [4] + counted([]) + end) == .invalid(field: "note"), "no store")
        #expect(error(front + [4] + counted([9, 1]) + end) == .invalid(field: "note"), "an unknown store")
        #expect(error(front + [2] + counted(repeated(0, 47)) + end) == .invalid(field: "note"))
        for move in [[0], [0, 3], [3, 0], [0, 1, 0]] as [[UInt8]] {
            #expect(error(front + [3] + counted(move) + end) == .invalid(field: "note's move"))
        }
        let twice = [3] + counted([0, 1])
        #expect(error(front + twice + twice + end) == .invalid(field: "note's move"))
        #expect(error(front + [4] + counted([2]) + end) != nil)
        #expect(error(front + [7] + counted(repeated(1, 96))) == .invalid(field: "note's tags"))
        #expect(error(front + [7] + counted(repeated(1, 31))) == .invalid(field: "note's tags"))
    }

    @Test func `a note that would be too long is not written`() {
        var note = Self.note
        note.shares = (0..<20).map { PendingNote.ChipShare(name: repeated($0, 34), object: repeated(2, 1000)) }
        #expect(formatError { () throws(FormatError) in _ = try note.encoded(tags: []) } == .headerFull)
    }

    @Test func `whatever is parsed is written as the same bytes`() throws {
        var generator = SeededGenerator()
        let sample = try Self.note.encoded(tags: [repeated(8, 32)])
        for _ in 0..<(TestRun.isSoak ? 50_000 : 2_000) {
            var bytes = sample
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            guard let parsed = try? PendingNote.parse(bytes) else { continue }
            #expect(try parsed.note.encoded(tags: parsed.tags) == bytes)
        }
    }

    // MARK: what follows

    private static let old = ShareItemTests.named
    private static let new = ShareItemTests.chip

    private func decision(named: [ShareItem], isBefore: Bool, isAfter: Bool) -> PendingDecision {
        PendingDecision(Self.note, named: named, isBefore: isBefore, isAfter: isAfter)
    }

    @Test func `each header honours only its own tag, and takes only what the other one had`() {
        #expect(decision(named: [Self.old], isBefore: true, isAfter: false) == .undo([Self.new]))
        #expect(decision(named: [Self.new], isBefore: false, isAfter: true) == .finish([Self.old]))
        #expect(decision(named: [Self.old], isBefore: false, isAfter: false) == .ignore)
        #expect(decision(named: [Self.new], isBefore: false, isAfter: false) == .ignore)
    }

    @Test func `under one master key what the header names tells`() {
        #expect(decision(named: [Self.old], isBefore: true, isAfter: true) == .undo([Self.new]))
        #expect(decision(named: [Self.new], isBefore: true, isAfter: true) == .finish([Self.old]))
        #expect(decision(named: [], isBefore: true, isAfter: true) == .undo([Self.new]))
    }

    /// An earlier header with the note of a later move, or any other mixture: what opens it stays.
    @Test func `no share goes that the header names`() {
        for isBefore in [true, false] {
            for isAfter in [true, false] {
                for named in [[Self.old], [Self.new], [Self.old, Self.new], []] {
                    switch decision(named: named, isBefore: isBefore, isAfter: isAfter) {
                    case .undo(let gone), .finish(let gone): #expect(!gone.contains(where: named.contains))
                    case .ignore: #expect(!isBefore && !isAfter)
                    }
                }
            }
        }
    }
}
