import Foundation
import SyncFormat
import SystemCalls
import TestSupport
import Testing
import VaultSync

@Suite struct FolderWritingTests {
    @Test(arguments: [NewNameWay.allCases, [.exclusiveRename], [.link], [.lookAndRename]])
    func `a file gets its name once, in every way`(_ ways: [NewNameWay]) throws {
        let samples = try FolderSamples()
        let stream = try FolderSamples.stream(1)
        let writer = RoadWriter(try samples.create(), of: stream, ways: ways)
        let entry = try FolderSamples.entry(1)
        let path = RoadFile.entry(stream, entry.name).path
        #expect(try writer.write(.entry(entry.name), entry.bytes) == .written)
        #expect(try samples.bytes(path) == entry.bytes)
        #expect(try writer.write(.entry(entry.name), entry.bytes) == .alreadyThere)
        // A sync tool, or somebody else, changed it.
        for bytes in [[], Array(entry.bytes.dropLast()), entry.bytes + [0], [UInt8](repeating: 0, count: 1024)] {
            try samples.bring(bytes, as: path)
            #expect(try writer.write(.entry(entry.name), entry.bytes) == .differs)
            #expect(try samples.bytes(path) == bytes)
        }
        try writer.repair(.entry(entry.name), entry.bytes)
        #expect(try samples.bytes(path) == entry.bytes)
        #expect(try samples.names("s/\(stream)") == [entry.name.name])
    }

    @Test func `every kind of file goes to its place`() throws {
        let samples = try FolderSamples()
        let road = try samples.create()
        let stream = try FolderSamples.stream(1)
        let writer = RoadWriter(road, of: stream)
        let (entry, piece) = (try FolderSamples.entry(1), try FolderSamples.piece(1))
        let (roster, welcome) = (try FolderSamples.roster(1), try FolderSamples.join(.welcome))
        let card = try FolderSamples.join(.card)
        let files: [(file: OwnFile, bytes: [UInt8])] = [
            (.piece(piece.name), piece.bytes), (.entry(entry.name), entry.bytes), (.roster(roster.name), roster.bytes),
            (.join(welcome.name), welcome.bytes),
        ]
        #expect(try writer.write(files) == [.written, .written, .written, .written])
        #expect(try road.write(card.name, card.bytes) == .written)
        #expect(try road.write(card.name, card.bytes) == .alreadyThere)
        let all = [
            RoadFile.piece(stream, piece.name).path: piece.bytes, RoadFile.entry(stream, entry.name).path: entry.bytes,
            RoadFile.roster(roster.name).path: roster.bytes, RoadFile.join(welcome.name).path: welcome.bytes,
            RoadFile.join(card.name).path: card.bytes, "HOLDFAST-SYNC": RoadMarker.bytes(of: samples.group),
        ]
        #expect(try samples.everything() == all)
        #expect(try writer.write(files) == [.alreadyThere, .alreadyThere, .alreadyThere, .alreadyThere])
    }

    @Test func `a name that is not the bytes' own is not written`() throws {
        let samples = try FolderSamples()
        let writer = RoadWriter(try samples.create(), of: try FolderSamples.stream(1))
        let entry = try FolderSamples.entry(1)
        let place = RoadFile.entry(try FolderSamples.stream(1), entry.name).path
        var bytes = entry.bytes
        bytes[7] ^= 1
        #expect(throws: RoadError.wrongBytes(place)) { try writer.write(.entry(entry.name), bytes) }
        #expect(throws: RoadError.wrongBytes(place)) { try writer.repair(.entry(entry.name), bytes) }
        let odd = [UInt8](repeating: 1, count: 1000)
        let name = try #require(EntryFileName(number: 1, hash: FolderSamples.hash(odd)))
        #expect(throws: RoadError.self) { try writer.write(.entry(name), odd) }
        #expect(try samples.everything().count == 1)
    }

    @Test func `what has a file's name and is none is told, and only a folder is in the way of a repair`() throws {
        let samples = try FolderSamples()
        let stream = try FolderSamples.stream(1)
        let writer = RoadWriter(try samples.create(), of: stream)
        let entry = try FolderSamples.entry(1)
        let path = RoadFile.entry(stream, entry.name).path
        let outside = samples.scratch["outside"]
        try Data([1]).write(to: URL(fileURLWithPath: outside))
        try FileManager.default.createDirectory(atPath: samples["s/\(stream)"], withIntermediateDirectories: false)
        #expect(unsafe symlink(outside, samples[path]) == 0)
        #expect(try writer.write(.entry(entry.name), entry.bytes) == .differs)
        try writer.repair(.entry(entry.name), entry.bytes)
        #expect(try samples.bytes(path) == entry.bytes)
        #expect(try Data(contentsOf: URL(fileURLWithPath: outside)) == Data([1]))
        try samples.remove(path)
        #expect(unsafe mkfifo(samples[path], 0o600) == 0)
        #expect(try writer.write(.entry(entry.name), entry.bytes) == .differs)
        try writer.repair(.entry(entry.name), entry.bytes)
        try samples.remove(path)
        try FileManager.default.createDirectory(atPath: samples[path], withIntermediateDirectories: false)
        #expect(try writer.write(.entry(entry.name), entry.bytes) == .differs)
        #expect(throws: RoadError.occupied(path)) { try writer.repair(.entry(entry.name), entry.bytes) }
        #expect(try writer.remove([.entry(entry.name)]) == [.entry(entry.name)])
        #expect(try samples.names("s/\(stream)") == [entry.name.name])
    }

    @Test func `a link in place of a folder is not written through`() throws {
        let samples = try FolderSamples()
        let stream = try FolderSamples.stream(1)
        let writer = RoadWriter(try samples.create(), of: stream)
        let entry = try FolderSamples.entry(1)
        let outside = samples.scratch["outside"]
        try FileManager.default.createDirectory(atPath: outside, withIntermediateDirectories: false)
        #expect(unsafe symlink(outside, samples["s/\(stream)"]) == 0)
        #expect(throws: RoadError.occupied("s/\(stream)")) { try writer.write(.entry(entry.name), entry.bytes) }
        try samples.remove("s")
        #expect(unsafe symlink(outside, samples["s"]) == 0)
        #expect(throws: RoadError.self) { try writer.write(.entry(entry.name), entry.bytes) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: outside) == [])
    }

    @Test func `removing takes own files, and nobody else's`() throws {
        let samples = try FolderSamples()
        let road = try samples.create()
        let (mine, other) = (try FolderSamples.stream(1), try FolderSamples.stream(2))
        let (entry, piece) = (try FolderSamples.entry(1), try FolderSamples.piece(1))
        for stream in [mine, other] {
            #expect(
                try RoadWriter(road, of: stream).write([
                    (.piece(piece.name), piece.bytes), (.entry(entry.name), entry.bytes),
                ]) == [.written, .written])
        }
        let writer = RoadWriter(road, of: mine)
        #expect(try writer.remove([.entry(entry.name), .piece(piece.name), .entry(entry.name)]) == [])
        #expect(try samples.names("s/\(mine)") == [] && samples.names("p/\(mine)") == [])
        #expect(try samples.names("s/\(other)") == [entry.name.name])
        #expect(try samples.names("p/\(other)") == [piece.name.name])
        #expect(try RoadWriter(road, of: FolderSamples.stream(3)).remove([.entry(entry.name)]) == [])
    }

    @Test func `own parts of more than a day go, and only those`() throws {
        let samples = try FolderSamples()
        let (mine, other) = (try FolderSamples.stream(1), try FolderSamples.stream(2))
        let writer = RoadWriter(try samples.create(), of: mine)
        let part = ".part-0123456789abcdef"
        let old = ["s/\(mine)/\(part)", "p/\(mine)/\(part)"]
        let kept = [
            "s/\(other)/\(part)", "rosters/\(part)", "join/\(part)", "s/\(part)", "s/\(mine)/.part-x", "s/\(mine)/old",
        ]
        for name in old + kept {
            try samples.bring([1], as: name)
            try FolderSamples.setTime(samples[name], secondsAgo: 25 * 3600)
        }
        try samples.bring([1], as: "s/\(mine)/.part-00000000000000ff")
        try FolderSamples.setTime(samples["s/\(mine)/.part-00000000000000ff"], secondsAgo: 23 * 3600)
        try samples.bring([1], as: "s/\(mine)/.part-00000000000000fe")
        try FolderSamples.setTime(samples["s/\(mine)/.part-00000000000000fe"], secondsAgo: -72 * 3600)
        #expect(try writer.removeOldParts() == 2)
        for name in kept { #expect(FileManager.default.fileExists(atPath: samples[name]), "\(name)") }
        #expect(try samples.names("s/\(mine)").count == 4)
        #expect(try writer.removeOldParts() == 0)
    }

    @Test func `two writers at once write one file, and both are told`() async throws {
        let samples = try FolderSamples()
        let road = try samples.create()
        let stream = try FolderSamples.stream(1)
        let entries = try (1...40).map { try FolderSamples.entry(UInt64($0)) }
        let results = try await withThrowingTaskGroup(of: [RoadWritten].self) { group in
            for ways in [NewNameWay.allCases, [.link], NewNameWay.allCases] {
                group.addTask {
                    let writer = RoadWriter(road, of: stream, ways: ways)
                    return try entries.map { try writer.write(.entry($0.name), $0.bytes) }
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        for number in entries.indices {
            let found = results.map { $0[number] }
            #expect(found.count { $0 == .written } == 1)
            #expect(found.count { $0 == .alreadyThere } == 2)
            #expect(try samples.bytes(RoadFile.entry(stream, entries[number].name).path) == entries[number].bytes)
        }
        #expect(try samples.names("s/\(stream)").count == entries.count)
    }

    @Test func `a stream whose folder was removed is made again`() throws {
        let samples = try FolderSamples()
        let stream = try FolderSamples.stream(1)
        let writer = RoadWriter(try samples.create(), of: stream)
        let entry = try FolderSamples.entry(1)
        #expect(try writer.write(.entry(entry.name), entry.bytes) == .written)
        for name in ["s/\(stream)", "s"] {
            try samples.remove(name)
            #expect(try writer.write(.entry(entry.name), entry.bytes) == .written)
        }
    }
}
