import Foundation
import SyncFormat
import SystemCalls
import TestSupport
import Testing
import VaultSync

@Suite struct FolderReadingTests {
    @Test func `a whole file is read`() throws {
        let samples = try FolderSamples()
        let road = try samples.create()
        var memory = RoadMemory()
        let stream = try FolderSamples.stream(1)
        for size in [1024, 2048, 4096, 8192, 16_384, 32_768] {
            let entry = try FolderSamples.entry(1, size: size)
            try samples.bring(entry.bytes, as: RoadFile.entry(stream, entry.name).path)
            #expect(try read(.entry(stream, entry.name), road, &memory) == entry.bytes)
        }
        let (roster, card) = (try FolderSamples.roster(1), try FolderSamples.join(.card))
        try samples.bring(roster.bytes, as: RoadFile.roster(roster.name).path)
        try samples.bring(card.bytes, as: RoadFile.join(card.name).path)
        #expect(try read(.roster(roster.name), road, &memory) == roster.bytes)
        #expect(try read(.join(card.name), road, &memory) == card.bytes)
        #expect(memory.waiting == 0)
    }

    @Test func `a short file waits, is tried again when it changes, and keeps nothing else waiting`() throws {
        let samples = try FolderSamples()
        let road = try samples.create()
        let stream = try FolderSamples.stream(1)
        let entry = try FolderSamples.entry(1, size: 4096)
        let file = RoadFile.entry(stream, entry.name)
        let next = try FolderSamples.entry(2)
        try samples.bring(next.bytes, as: RoadFile.entry(stream, next.name).path)
        var memory = RoadMemory()
        // Shorter than any, of another allowed size, and longer.
        for bytes in [[], Array(entry.bytes[..<1000]), Array(entry.bytes[..<2048]), entry.bytes + [0]] {
            try samples.bring(bytes, as: file.path)
            _ = try road.list(&memory)
            let expected: RoadUnready = bytes.count == 2048 ? .wrongHash : .wrongSize
            #expect(try road.read(file, &memory) == .notYet(expected))
            #expect(memory.waiting == 1)
            #expect(try read(.entry(stream, next.name), road, &memory) == next.bytes)
        }
        try samples.bring(entry.bytes, as: file.path)
        #expect(try road.list(&memory).retries == [file])
        #expect(try read(file, road, &memory) == entry.bytes)
        #expect(memory.waiting == 0)
        #expect(try road.list(&memory).isEmpty)
    }

    @Test func `a file of zeros or with one bit changed is torn`() throws {
        let samples = try FolderSamples()
        let road = try samples.create()
        let stream = try FolderSamples.stream(1)
        let entry = try FolderSamples.entry(1)
        let file = RoadFile.entry(stream, entry.name)
        var memory = RoadMemory()
        var bytes = entry.bytes
        for place in [0, 500, 1023] {
            bytes[place] ^= 1
            try samples.bring(bytes, as: file.path)
            #expect(try road.read(file, &memory) == .notYet(.wrongHash))
            bytes[place] ^= 1
        }
        try samples.bring([UInt8](repeating: 0, count: 1024), as: file.path)
        #expect(try road.read(file, &memory) == .notYet(.wrongHash))
    }

    @Test func `a torn file that looks as before waits; one that changed just now is tried again`() throws {
        let samples = try FolderSamples()
        let road = try samples.create()
        let stream = try FolderSamples.stream(1)
        let entry = try FolderSamples.entry(1)
        let file = RoadFile.entry(stream, entry.name)
        try samples.bring([1, 2, 3], as: file.path)
        let date = try #require(
            FileManager.default.attributesOfItem(atPath: samples[file.path])[.modificationDate] as? Date)
        let changed = Int64(date.timeIntervalSince1970 * 1000)
        var memory = RoadMemory()
        _ = try road.list(&memory)
        #expect(try road.read(file, &memory) == .notYet(.wrongSize))
        for later: Int64 in [60_000, 3_600_000] {
            #expect(try road.list(&memory, now: changed + later).retries == [])
            #expect(memory.waiting == 1)
        }
        // A file system may count in two seconds: another change would not show.
        #expect(try road.list(&memory, now: changed + 1000).retries == [file])
        #expect(try road.list(&memory, now: changed + 1000).retries == [])
    }

    @Test func `a file that is gone is told, and forgotten`() throws {
        let samples = try FolderSamples()
        let road = try samples.create()
        let stream = try FolderSamples.stream(1)
        let entry = try FolderSamples.entry(1)
        let file = RoadFile.entry(stream, entry.name)
        var memory = RoadMemory()
        #expect(try road.read(file, &memory) == .vanished)
        try samples.bring([1], as: file.path)
        _ = try road.list(&memory)
        #expect(try road.read(file, &memory) == .notYet(.wrongSize))
        try samples.remove(file.path)
        #expect(try road.read(file, &memory) == .vanished)
        #expect(memory.waiting == 0)
        #expect(try road.list(&memory).vanished == [stream: [entry.name]])
    }

    @Test func `what is no file is not waited for`() throws {
        let samples = try FolderSamples()
        let road = try samples.create()
        let stream = try FolderSamples.stream(1)
        let entry = try FolderSamples.entry(1)
        let file = RoadFile.entry(stream, entry.name)
        var memory = RoadMemory()
        let folder = samples["s/\(stream)"]
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        let outside = samples.scratch["outside"]
        try Data(entry.bytes).write(to: URL(fileURLWithPath: outside))

        // A pipe that nobody writes to: reading it would wait for ever.
        #expect(unsafe mkfifo(samples[file.path], 0o600) == 0)
        #expect(try road.read(file, &memory) == .notYet(.notAFile))
        try samples.remove(file.path)
        #expect(unsafe symlink(outside, samples[file.path]) == 0)
        #expect(try road.read(file, &memory) == .notYet(.notAFile))
        try samples.remove(file.path)
        try FileManager.default.createDirectory(atPath: samples[file.path], withIntermediateDirectories: false)
        #expect(try road.read(file, &memory) == .notYet(.notAFile))
        try samples.remove("s/\(stream)")
        // The whole stream behind a link.
        try FileManager.default.createDirectory(atPath: samples.scratch["streams"], withIntermediateDirectories: false)
        #expect(unsafe symlink(samples.scratch["streams"], folder) == 0)
        try Data(entry.bytes).write(to: URL(fileURLWithPath: "\(samples.scratch["streams"])/\(entry.name.name)"))
        #expect(try road.read(file, &memory) == .notYet(.notAFile))
        #expect(memory.waiting <= 1)
    }

    @Test func `a file with a second name is read, whatever its owner may do`() throws {
        let samples = try FolderSamples()
        let road = try samples.create()
        let stream = try FolderSamples.stream(1)
        let entry = try FolderSamples.entry(1)
        let file = RoadFile.entry(stream, entry.name)
        try samples.bring(entry.bytes, as: file.path)
        #expect(unsafe link(samples[file.path], samples.scratch["second"]) == 0)
        #expect(unsafe chmod(samples[file.path], 0o4777) == 0)
        var memory = RoadMemory()
        #expect(try read(file, road, &memory) == entry.bytes)
    }

    @Test func `a huge file is not read`() throws {
        let samples = try FolderSamples()
        let road = try samples.create()
        let roster = try FolderSamples.roster(1)
        try samples.bring([], as: RoadFile.roster(roster.name).path)
        #expect(unsafe truncate(samples[RoadFile.roster(roster.name).path], off_t(1) << 40) == 0)
        var memory = RoadMemory()
        #expect(try road.read(.roster(roster.name), &memory) == .notYet(.wrongSize))
    }

    @Test func `bytes that make no sense to a reader wait until the file changes`() throws {
        let samples = try FolderSamples()
        let road = try samples.create()
        let roster = try FolderSamples.roster(1)
        let file = RoadFile.roster(roster.name)
        try samples.bring(roster.bytes, as: file.path)
        var memory = RoadMemory()
        _ = try road.list(&memory)
        guard case .bytes(_, let mark) = try road.read(file, &memory) else { throw SampleProblem.notRead }
        memory.setAside(file, mark)
        #expect(memory.waiting == 1)
        try samples.bring(roster.bytes, as: file.path)
        #expect(try road.list(&memory).retries == [file])
        #expect(memory.waiting == 0)
    }

    @Test func `a piece is read from whichever stream has it whole`() throws {
        let samples = try FolderSamples()
        let road = try samples.create()
        let streams = try (1...3).map { try FolderSamples.stream($0) }
        let piece = try FolderSamples.piece(5)
        #expect(try road.piece(piece.name, in: streams) == nil)
        try samples.bring(Array(piece.bytes.dropLast()), as: RoadFile.piece(streams[0], piece.name).path)
        #expect(try road.piece(piece.name, in: streams) == nil)
        try samples.bring(piece.bytes, as: RoadFile.piece(streams[2], piece.name).path)
        #expect(try road.streamsWithPieces() == [streams[0], streams[2]])
        #expect(try road.piece(piece.name, in: streams) == piece.bytes)
        #expect(try road.pieces(of: streams[2]) == [piece.name])
        #expect(try road.pieces(of: streams[1]) == [])
    }

    private enum SampleProblem: Error { case notRead }

    private func read(_ file: RoadFile, _ road: FolderRoad, _ memory: inout RoadMemory) throws -> [UInt8]? {
        guard case .bytes(let bytes, _) = try road.read(file, &memory) else { return nil }
        return bytes
    }
}
