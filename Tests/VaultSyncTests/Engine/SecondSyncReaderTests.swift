import Foundation
import SyncFormat
import TestSupport
import Testing
import VaultCore

@testable import VaultSync

/// Vaults of ours and the folder that they share, read by `scripts/holdfast_sync_decrypt.py`, which shares no code with
/// us.
@Suite(.enabled(if: SyncReader.python != nil, SyncReader.missing))
struct SecondSyncReaderTests {
    @Test func `the second reader opens everything that two devices exchanged`() throws {
        let scratch = try ScratchFolder("reader")
        let (laptop, phone) = try SyncedDevice.pair(scratch)
        try laptop.add("mail", "one")
        try laptop.put(pattern(100_000), "large")
        try phone.add("bank", "two")
        try phone.put([1, 2, 3], "small")
        try settle(laptop, phone)
        try laptop.set("mail", "of laptop")
        try phone.set("mail", "of phone")
        try phone.set("bank", "ada", label: "user")
        try laptop.remove("small")
        try settle(laptop, phone)
        let files = try laptop.files()
        for device in [laptop, phone] {
            let before = try laptop.files()
            let result = try SyncReader.run(device.place, "verify", device.road)
            #expect(result.status == 0 && result.errors == "")
            let counts = try result.counts()
            #expect(counts.problems == 0 && counts.members == 2 && counts.removed == 0)
            #expect(counts.rosters == files.names("rosters", depth: 2))
            #expect(counts.streams == files.names("s", depth: 2))
            #expect(counts.entries == files.names("s", depth: 3))
            #expect(counts.pieces == files.names("p", depth: 3) && counts.pieces > 0)
            #expect(counts.states == counts.changes && counts.changes > 4)
            #expect(counts.sealed + counts.waiting + counts.uncounted + counts.loose + counts.unpublished == 0)
            #expect(counts.passedOver == 0)
            let items = try SyncReader.run(device.place, "items", device.road)
            #expect(items.status == 0 && items.errors == "")
            // What the device keeps of each item is what the folder's states join to.
            #expect(counts.alike == items.lines.count && counts.alike == 4)
            #expect(items.lines.filter { $0.contains("\"lives\": true") }.count == 3)
            #expect(items.lines.allSatisfy { !$0.contains("of laptop") && !$0.contains("of phone") })
            #expect(try laptop.files() == before, "the reader must never write")
        }
    }

    @Test func `the second reader follows a removal, and tells a removed device what it cannot open`() throws {
        let scratch = try ScratchFolder("reader")
        let (laptop, phone) = try SyncedDevice.pair(scratch)
        try laptop.add("mail", "one")
        try settle(laptop, phone)
        _ = try laptop.home.remove(phone.home.keys.id)
        try laptop.round()
        try laptop.set("mail", "later")
        try laptop.round()
        let result = try SyncReader.run(laptop.place, "verify", laptop.road)
        #expect(result.status == 0 && result.errors == "")
        let counts = try result.counts()
        #expect(counts.members == 1 && counts.removed == 1 && counts.sealed == 0 && counts.problems == 0)
        let others = try SyncReader.run(phone.place, "verify", phone.road)
        #expect(others.status == 0)
        // The roster that removed it, and what was written under its key.
        #expect(try others.counts().sealed == 2)
    }

    @Test func `the second reader tells of whatever was changed in a folder`() throws {
        let scratch = try ScratchFolder("reader")
        let (laptop, phone) = try SyncedDevice.pair(scratch)
        try laptop.add("mail", "one")
        try laptop.put(pattern(20_000), "large")
        try settle(laptop, phone)
        let files = try laptop.files()
        for (folder, depth) in [("rosters", 2), ("s", 3), ("p", 3)] {
            let name = try #require(files.paths(folder, depth: depth).first)
            let path = "\(laptop.road)/\(name)"
            let whole = Array(try Data(contentsOf: URL(filePath: path)))
            var flipped = whole
            flipped[whole.count / 2] ^= 1
            for changed in [flipped, Array(whole.dropLast()), whole + [0], []] {
                try Data(changed).write(to: URL(filePath: path))
                let result = try SyncReader.run(phone.place, "verify", laptop.road)
                #expect(result.status == 5 && !result.errors.isEmpty, "\(name), \(changed.count) bytes")
            }
            try Data(whole).write(to: URL(filePath: path))
        }
        #expect(try SyncReader.run(phone.place, "verify", laptop.road).status == 0)
    }

    @Test func `the second reader says what is not there`() throws {
        let scratch = try ScratchFolder("reader")
        let alone = try SyncedDevice(scratch, "alone", road: scratch["road"])
        let (laptop, _) = try SyncedDevice.pair(scratch)
        #expect(try SyncReader.run(alone.place, "verify", laptop.road).status == 6)
        #expect(try SyncReader.run(laptop.place, "verify", scratch["nothing"]).status == 6)
        #expect(try SyncReader.run(laptop.place, "verify").status == 2)
        #expect(try SyncReader.run(laptop.place, passcode: "wrong", "verify", laptop.road).status == 3)
    }
}

/// Numbers that `scripts/holdfast_sync_decrypt.py` states for itself are ours.
@Suite struct SecondSyncReaderNumberTests {
    private let script: String

    init() throws {
        script = try String(contentsOf: SyncReader.scripts.appending(path: "holdfast_sync_decrypt.py"), encoding: .utf8)
    }

    /// The numbers that stand behind a line's first equals sign.
    private func numbers(_ names: String) throws -> [Int] {
        let line = try #require(script.split(separator: "\n").first { $0.hasPrefix(names + " = ") })
        return line.dropFirst(names.count).matches(of: /[0-9]+/).compactMap { Int($0.0) }
    }

    @Test func `the second reader has the same sizes of what travels`() throws {
        #expect(try numbers("ENTRY_SIZES") == EntrySize.allowed)
        let sizes = try numbers("ROSTER_SIZES")
        #expect(try numbers("ROSTER_BOXES") == sizes.compactMap { RosterSize.boxes(in: $0) } && sizes.count == 3)
        #expect(try numbers("FRONT, BOX, SIGNATURE") == [EntryFront.size, RosterSize.box, EntrySize.signature])
        #expect(try numbers("LAST_NUMBER") == [Int(SyncLimits.entries)])
        let pieces = [PieceList.sealedSize, PieceList.pieceSize, Int(SyncLimits.pieced)]
        #expect(try numbers("PIECE_FILE, PIECE_CONTENT, PIECED") == pieces)
        #expect(try numbers("MARKER_SIZE") == [RoadMarker.size])
    }

    @Test func `the second reader has the same limits of entries and rosters`() throws {
        #expect(try numbers("HEADS, WANTS, CHANGES") == [SyncLimits.streams, SyncLimits.wants, SyncLimits.changes])
        let member = SyncMemberID.size + 2 * MemberRecord.keySize + 2 + 1 + SyncLimits.name
        let removed = SyncMemberID.size + StreamID.size + 8 + EntryFront.hashSize
        #expect(
            try numbers("MEMBERS, REMOVED, MEMBER_RECORD, REMOVED_RECORD, MEMBER_NAME")
                == [SyncLimits.members, SyncLimits.removed, member, removed, SyncLimits.name])
    }

    @Test func `the second reader has the same limits and parts of states`() throws {
        let limits = [
            StateLimits.size, StateLimits.streams, StateLimits.stamps, StateLimits.elements, Int(StateLimits.life),
        ]
        #expect(try numbers("STATE_SIZE, STATE_STREAMS, STATE_STAMPS, STATE_VALUES, LAST_LIFE") == limits)
        let start = try #require(script.range(of: "PARTS = {"))
        let end = try #require(script.range(of: "}", range: start.upperBound..<script.endIndex))
        let parts = script[start.upperBound..<end.lowerBound].matches(of: /[0-9]+/).compactMap { UInt8($0.0) }
        #expect(parts == ItemPart.Kind.allCases.map(\.rawValue))
    }

    @Test func `the second reader has the same limits of what a device keeps`() throws {
        #expect(
            try numbers("KNOWN_STREAMS, SAME_NUMBER, EARLIER_ROSTERS, GONE_MEMBERS")
                == [
                    SyncLimits.streams, SyncLimits.siblings, SyncLimits.traces,
                    SyncLimits.members + SyncLimits.removed,
                ])
        #expect(
            try numbers("MARKS, OWN_ENTRY_PIECES, ROAD_PATH, ROADS")
                == [StreamRecord.marksPerRecord, SyncLimits.outboxPieces, SyncLimits.path, SyncLimits.roads])
        #expect(try numbers("RECORD_SIZE") == [Vault.largestInlineValue])
    }
}

extension [String] {
    /// Paths of so many parts below a folder; what is deeper is not among them.
    fileprivate func paths(_ folder: String, depth: Int) -> [String] {
        filter { $0.hasPrefix(folder + "/") && $0.split(separator: "/").count == depth }
    }

    fileprivate func names(_ folder: String, depth: Int) -> Int { paths(folder, depth: depth).count }
}

/// Runs the script.
private enum SyncReader {
    /// What `verify` prints.
    struct Counts: Decodable {
        let members: Int
        let removed: Int
        let rosters: Int
        let streams: Int
        let entries: Int
        let changes: Int
        let pieces: Int
        let states: Int
        let alike: Int
        let unpublished: Int
        let sealed: Int
        let waiting: Int
        let uncounted: Int
        let loose: Int
        let passedOver: Int
        let problems: Int
    }

    struct Result {
        let status: Int32
        let output: String
        let errors: String
        var lines: [Substring] { output.split(separator: "\n") }

        func counts() throws -> Counts { try JSONDecoder().decode(Counts.self, from: Data(output.utf8)) }
    }

    static let missing: Comment =
        "no python3 with cryptography, argon2 and lmdb: holdfast_sync_decrypt.py is not tested"

    // This file is <package root>/Tests/VaultSyncTests/Engine/SecondSyncReaderTests.swift.
    static let scripts = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "scripts")

    /// The system's Python first: another one in PATH does not see the distribution's packages.
    static let python: String? = ["/usr/bin/python3", "/usr/bin/env python3"].first { candidate in
        let words = candidate.split(separator: " ").map(String.init) + ["-c", "import cryptography, argon2, lmdb"]
        return (try? start(words, input: ""))?.status == 0
    }

    static func run(_ home: String, passcode: String = "right", _ arguments: String...) throws -> Result {
        let words = try #require(python).split(separator: " ").map(String.init)
        let script = scripts.appending(path: "holdfast_sync_decrypt.py").path
        return try start(words + ["-B", script, "--passcode-fd", "0", home] + arguments, input: passcode + "\n")
    }

    private static func start(_ words: [String], input: String) throws -> Result {
        #if os(iOS)
        throw CocoaError(.featureUnsupported)  // nothing is started there
        #else
        let process = Process()
        process.executableURL = URL(filePath: words[0])
        process.arguments = Array(words.dropFirst())
        let (stdin, stdout, stderr) = (Pipe(), Pipe(), Pipe())
        process.standardInput = stdin
        process.standardOutput = stdout
        process.standardError = stderr
        try process.run()
        try stdin.fileHandleForWriting.write(contentsOf: Data(input.utf8))  // small: fits the pipe
        try stdin.fileHandleForWriting.close()
        let output = stdout.fileHandleForReading.readDataToEndOfFile()  // messages are small: they fit their pipe
        let errors = stderr.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return Result(
            status: process.terminationStatus, output: String(decoding: output, as: UTF8.self),
            errors: String(decoding: errors, as: UTF8.self))
        #endif
    }
}
