import Foundation
import SyncFormat
import SystemCalls
import TestSupport
import Testing
import VaultSync

@Suite struct FolderListingTests {
    @Test func `a listing gives what came since the last one`() throws {
        let samples = try FolderSamples()
        let road = try samples.create()
        var memory = RoadMemory()
        #expect(try road.list(&memory).isEmpty)
        let (mine, other) = (try FolderSamples.stream(1), try FolderSamples.stream(2))
        let entries = try (1...3).map { try FolderSamples.entry($0) }
        let roster = try FolderSamples.roster(1)
        let card = try FolderSamples.join(.card)
        let writer = RoadWriter(road, of: mine)
        #expect(
            try writer.write([(.entry(entries[0].name), entries[0].bytes), (.entry(entries[1].name), entries[1].bytes)])
                == [.written, .written])
        #expect(try writer.write(.roster(roster.name), roster.bytes) == .written)
        #expect(try road.write(card.name, card.bytes) == .written)
        var news = try road.list(&memory)
        #expect(news.entries == [mine: [entries[0].name, entries[1].name]])
        #expect(news.rosters == [roster.name])
        #expect(news.joins == [card.name])
        #expect(try road.list(&memory).isEmpty)

        #expect(try RoadWriter(road, of: other).write(.entry(entries[0].name), entries[0].bytes) == .written)
        #expect(try writer.write(.entry(entries[2].name), entries[2].bytes) == .written)
        #expect(try writer.remove([.entry(entries[0].name)]) == [])
        news = try road.list(&memory)
        #expect(news.entries == [mine: [entries[2].name], other: [entries[0].name]])
        #expect(news.vanished == [mine: [entries[0].name]])
        #expect(news.rosters == [] && news.joins == [])
        #expect(memory.entries[mine] == [entries[1].name, entries[2].name])
        #expect(memory.passedOver == [:] && memory.waiting == 0)
    }

    @Test func `two files with one number are both given, now or later`() throws {
        let samples = try FolderSamples()
        let road = try samples.create()
        let stream = try FolderSamples.stream(1)
        let one = try FolderSamples.entry(1)
        let (left, right) = (try FolderSamples.entry(2, seed: 1), try FolderSamples.entry(2, seed: 2))
        var memory = RoadMemory()
        let writer = RoadWriter(road, of: stream)
        #expect(
            try writer.write([(.entry(one.name), one.bytes), (.entry(left.name), left.bytes)]) == [.written, .written])
        _ = try road.list(&memory)
        #expect(memory.forks(of: stream) == [])
        #expect(try writer.write(.entry(right.name), right.bytes) == .written)
        #expect(try road.list(&memory).entries == [stream: [right.name]])
        #expect(memory.forks(of: stream) == [2])
        var fresh = RoadMemory()
        #expect(try road.list(&fresh).entries[stream]?.count == 3)
    }

    @Test func `a stream that is gone, or came, is noticed`() throws {
        let samples = try FolderSamples()
        let road = try samples.create()
        let stream = try FolderSamples.stream(7)
        let entry = try FolderSamples.entry(1)
        var memory = RoadMemory()
        try samples.bring(entry.bytes, as: RoadFile.entry(stream, entry.name).path)
        #expect(try road.list(&memory, only: [.streams]).entries == [stream: [entry.name]])
        try samples.remove("s/\(stream)")
        #expect(try road.list(&memory, only: [.entries(stream)]).vanished == [stream: [entry.name]])
        try samples.bring(entry.bytes, as: RoadFile.entry(stream, entry.name).path)
        #expect(try road.list(&memory, only: [.entries(stream)]).entries == [stream: [entry.name]])
        try samples.remove("s/\(stream)")
        #expect(try road.list(&memory).vanished == [stream: [entry.name]])
        #expect(memory.entries == [:])
        try samples.remove("s")
        #expect(try road.list(&memory).isEmpty)
    }

    @Test func `a listing of some folders leaves the others as they were`() throws {
        let samples = try FolderSamples()
        let road = try samples.create()
        let (one, two) = (try FolderSamples.stream(1), try FolderSamples.stream(2))
        let first = try FolderSamples.entry(1)
        let second = try FolderSamples.entry(2)
        for stream in [one, two] { try samples.bring(first.bytes, as: RoadFile.entry(stream, first.name).path) }
        var memory = RoadMemory()
        _ = try road.list(&memory)
        for stream in [one, two] { try samples.bring(second.bytes, as: RoadFile.entry(stream, second.name).path) }
        #expect(try road.list(&memory, only: [.entries(two)]).entries == [two: [second.name]])
        #expect(try road.list(&memory, only: [.rosters]).isEmpty)
        #expect(try road.list(&memory, only: []).isEmpty)
        #expect(try road.list(&memory).entries == [one: [second.name]])
    }

    @Test func `what no writer of ours names is counted and left alone`() throws {
        let samples = try FolderSamples()
        let road = try samples.create()
        let stream = try FolderSamples.stream(1)
        let entry = try FolderSamples.entry(1)
        let roster = try FolderSamples.roster(1)
        let folder = "s/\(stream)"
        try samples.bring(entry.bytes, as: "\(folder)/\(entry.name.name)")
        try samples.bring(roster.bytes, as: "rosters/\(roster.name.name)")
        let conflicts = [
            "\(folder)/\(entry.name.name).sync-conflict-20261130-082947-ABCDEFG",
            "\(folder)/\(entry.name.name) (conflicted copy 2026-11-30 082947)",
            "rosters/\(roster.name.name) (laptop's conflicted copy 2026-11-30)",
        ]
        let unfinished = [
            "\(folder)/.syncthing.\(entry.name.name).tmp", "\(folder)/.\(entry.name.name).Xy12Ab",
            "\(folder)/\(entry.name.name)~", "\(folder)/.part-0123456789abcdef", "rosters/.part-0123456789abcdef",
        ]
        let unknown = ["\(folder)/notes.txt", "s/README", "join/x", "rosters/x"]
        for name in conflicts + unfinished + unknown { try samples.bring([1, 2, 3], as: name) }
        let second = try FolderSamples.entry(2).name
        let third = try FolderSamples.entry(3).name
        let fourth = try FolderSamples.entry(4).name
        let other = try FolderSamples.stream(2)
        try FileManager.default.createDirectory(
            atPath: samples["\(folder)/\(second.name)"], withIntermediateDirectories: false)
        #expect(unsafe symlink(entry.name.name, samples["\(folder)/\(third.name)"]) == 0)
        #expect(unsafe mkfifo(samples["\(folder)/\(fourth.name)"], 0o600) == 0)
        #expect(unsafe symlink("\(stream)", samples["s/\(other)"]) == 0)
        let before = try samples.everything().keys.sorted()
        var memory = RoadMemory()
        let news = try road.list(&memory)
        #expect(news.entries == [stream: [entry.name]])
        #expect(news.rosters == [roster.name])
        #expect(news.problems == [:])
        #expect(memory.passedOver == [.conflictCopy: 3, .unfinished: 5, .unknown: 4, .wrongKind: 4])
        #expect(try samples.everything().keys.sorted() == before)
        // Gone again: counted no more.
        for name in conflicts + unfinished + unknown { try samples.remove(name) }
        _ = try road.list(&memory)
        #expect(memory.passedOver == [.wrongKind: 4])
    }

    @Test func `names that are no text are passed over`() throws {
        let samples = try FolderSamples()
        let road = try samples.create()
        let path = Array(samples["s/"].utf8CString.dropLast())
        for tail: [CChar] in [[-1, -2, 0], [10, 0], [-61, 40, 0]] {
            let file = unsafe open(path + tail, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
            #expect(file >= 0)
            close(file)
        }
        var memory = RoadMemory()
        #expect(try road.list(&memory).isEmpty)
        #expect(memory.passedOver == [.unknown: 3])
    }

    @Test func `a stream with 70,000 names is refused alone, and its read names stay`() throws {
        let samples = try FolderSamples()
        let road = try samples.create()
        let (full, other) = (try FolderSamples.stream(1), try FolderSamples.stream(2))
        let entry = try FolderSamples.entry(1)
        for stream in [full, other] { try samples.bring(entry.bytes, as: RoadFile.entry(stream, entry.name).path) }
        var memory = RoadMemory()
        _ = try road.list(&memory)
        try FolderListingTests.fill(samples["s/\(full)"], 70_000)
        let second = try FolderSamples.entry(2)
        try samples.bring(second.bytes, as: RoadFile.entry(other, second.name).path)
        let news = try road.list(&memory)
        #expect(news.problems == [full: .tooManyFiles("s/\(full)", limit: 65_536)])
        #expect(news.entries == [other: [second.name]])
        #expect(news.vanished == [:])
        #expect(memory.entries[full] == [entry.name])
        // Who never could list it can, as soon as it is in order and the watch names it.
        var late = RoadMemory()
        #expect(try road.list(&late).problems.keys.elementsEqual([full]))
        try samples.remove("s/\(full)")
        try samples.bring(entry.bytes, as: RoadFile.entry(full, entry.name).path)
        #expect(try road.list(&late, only: [.entries(full)]).entries == [full: [entry.name]])
    }

    @Test(arguments: ["rosters", "s", "join"])
    func `a folder that everything hangs on is read up to 65,536 names`(_ name: String) throws {
        let samples = try FolderSamples()
        let road = try samples.create()
        var memory = RoadMemory()
        try FolderListingTests.fill(samples[name], 65_536)
        #expect(try road.list(&memory).isEmpty)
        #expect(memory.passedOver == [.unknown: 65_536])
        try samples.bring([1], as: "\(name)/one-more")
        #expect(throws: RoadError.tooManyFiles(name, limit: 65_536)) { try road.list(&memory) }
        #expect(memory.passedOver == [.unknown: 65_536])
    }

    @Test func `more streams than a group has are refused`() throws {
        let samples = try FolderSamples()
        let road = try samples.create()
        for number in 0..<257 {
            let stream = try #require(
                StreamID([UInt8(number / 256), UInt8(number % 256)] + [UInt8](repeating: 3, count: 14)))
            try FileManager.default.createDirectory(atPath: samples["s/\(stream)"], withIntermediateDirectories: false)
        }
        var memory = RoadMemory()
        #expect(throws: RoadError.tooManyFiles("s", limit: 256)) { try road.list(&memory) }
        #expect(throws: RoadError.tooManyFiles("s", limit: 256)) { try road.list(&memory, only: [.streams]) }
    }

    @Test func `the folders that everything hangs on may be no links`() throws {
        let samples = try FolderSamples()
        let road = try samples.create()
        var memory = RoadMemory()
        for name in ["s", "rosters"] {
            try FileManager.default.moveItem(atPath: samples[name], toPath: samples.scratch[name])
            #expect(unsafe symlink(samples.scratch[name], samples[name]) == 0)
            #expect(throws: RoadError.occupied(name)) { try road.list(&memory) }
            try samples.remove(name)
            try FileManager.default.moveItem(atPath: samples.scratch[name], toPath: samples[name])
        }
        #expect(try road.list(&memory).isEmpty)
    }

    /// Hard links of one file: quicker than files.
    private static func fill(_ folder: String, _ count: Int) throws {
        let most = 60_000  // ext4 gives one file 65,000 names
        for first in stride(from: 0, to: count, by: most) {
            let file = unsafe open("\(folder)/x\(first)", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
            try #require(file >= 0)
            close(file)
            for number in (first + 1)..<min(count, first + most) {
                try #require(unsafe link("\(folder)/x\(first)", "\(folder)/x\(number)") == 0)
            }
        }
    }
}
