#if os(Linux) && !canImport(Darwin)
import Foundation
import SyncFormat
import SystemCalls
import TestSupport
import Testing
import VaultSync

@Suite struct FolderWatchTests {
    @Test func `the folders that changed are named, and nothing else wakes anybody`() throws {
        let samples = try FolderSamples()
        let road = try samples.create()
        let stream = try FolderSamples.stream(1)
        let (first, second) = (try FolderSamples.entry(1), try FolderSamples.entry(2))
        let writer = RoadWriter(road, of: stream)
        #expect(try writer.write(.entry(first.name), first.bytes) == .written)
        let watch = try FolderWatchTests.events(road)
        #expect(!FolderWatchTests.isReadable(watch))
        #expect(watch.changes() == .nothing)
        // Reading, listing, pieces and files that go wake nobody.
        var memory = RoadMemory()
        _ = try road.list(&memory)
        _ = try road.read(.entry(stream, first.name), &memory)
        let piece = try FolderSamples.piece(1)
        #expect(try writer.write(.piece(piece.name), piece.bytes) == .written)
        #expect(try writer.remove([.entry(first.name)]) == [])
        let card = try FolderSamples.join(.card)
        #expect(try road.write(card.name, card.bytes) == .written)
        #expect(!FolderWatchTests.isReadable(watch))

        #expect(try writer.write(.entry(second.name), second.bytes) == .written)
        #expect(FolderWatchTests.isReadable(watch))
        #expect(watch.changes() == .folders([.entries(stream)]))
        #expect(!FolderWatchTests.isReadable(watch))
        let roster = try FolderSamples.roster(1)
        try samples.bring(roster.bytes, as: RoadFile.roster(roster.name).path)
        #expect(watch.changes() == .folders([.rosters]))
        // Names that are passed over.
        try samples.bring([1], as: "s/\(stream)/notes.txt")
        try samples.bring([1], as: "rosters/.part-0123456789abcdef")
        try samples.bring([1], as: "s/x")
        #expect(watch.changes() == .nothing)
    }

    @Test(arguments: [NewNameWay.exclusiveRename, .link, .lookAndRename])
    func `a file is noticed however it comes`(_ way: NewNameWay) throws {
        let samples = try FolderSamples()
        let road = try samples.create()
        let stream = try FolderSamples.stream(1)
        let (first, second) = (try FolderSamples.entry(1), try FolderSamples.entry(2))
        try samples.bring(first.bytes, as: RoadFile.entry(stream, first.name).path)
        let watch = try FolderWatchTests.events(road)
        #expect(try RoadWriter(road, of: stream, ways: [way]).write(.entry(second.name), second.bytes) == .written)
        #expect(watch.changes() == .folders([.entries(stream)]))
    }

    @Test func `a stream that comes is watched at once, and one that goes may come again`() throws {
        let samples = try FolderSamples()
        let road = try samples.create()
        let watch = try FolderWatchTests.events(road)
        let entries = try (1...3).map { try FolderSamples.entry($0) }
        for byte: UInt8 in [1, 2] {
            let stream = try FolderSamples.stream(byte)
            try samples.bring(entries[0].bytes, as: RoadFile.entry(stream, entries[0].name).path)
            #expect(watch.changes() == .folders([.streams, .entries(stream)]))
            try samples.bring(entries[1].bytes, as: RoadFile.entry(stream, entries[1].name).path)
            #expect(watch.changes() == .folders([.entries(stream)]))
            try samples.remove("s/\(stream)")
            #expect(watch.changes() == .folders([.streams, .entries(stream)]))
            try samples.bring(entries[2].bytes, as: RoadFile.entry(stream, entries[2].name).path)
            #expect(watch.changes() == .folders([.streams, .entries(stream)]))
            // Moved away, it is none of the road's any more.
            try FileManager.default.moveItem(atPath: samples["s/\(stream)"], toPath: samples.scratch["away\(byte)"])
            #expect(watch.changes() == .folders([.streams, .entries(stream)]))
            try Data([1]).write(to: URL(fileURLWithPath: "\(samples.scratch["away\(byte)"])/\(entries[0].name.name)"))
            #expect(watch.changes() == .nothing)
        }
    }

    @Test func `invitations are watched where that is asked for`() throws {
        let samples = try FolderSamples()
        let road = try samples.create()
        let watch = try FolderWatchTests.events(road, joins: true)
        let card = try FolderSamples.join(.card)
        try samples.bring(card.bytes, as: RoadFile.join(card.name).path)
        #expect(watch.changes() == .folders([.joins]))
    }

    @Test(arguments: ["", "s", "rosters"])
    func `a road that goes is gone for good`(_ name: String) throws {
        let samples = try FolderSamples()
        let road = try samples.create()
        let watch = try FolderWatchTests.events(road)
        try FileManager.default.moveItem(
            atPath: name.isEmpty ? samples.path : samples[name], toPath: samples.scratch["away"])
        #expect(watch.changes() == .gone)
        #expect(watch.changes() == .gone)
    }

    @Test func `a flood of changes has everything listed`() throws {
        let samples = try FolderSamples()
        let road = try samples.create()
        let text = try String(contentsOfFile: "/proc/sys/fs/inotify/max_queued_events", encoding: .utf8)
        let most = try #require(Int(text.filter(\.isNumber)))
        try #require(most <= 1 << 20, "the queue is too long for a test: \(most)")
        let stream = try FolderSamples.stream(1)
        let other = try FolderSamples.stream(2)
        let entry = try FolderSamples.entry(1)
        try samples.bring(entry.bytes, as: RoadFile.entry(stream, entry.name).path)
        let watch = try FolderWatchTests.events(road)
        // Two names in turn: equal events in a row count as one.
        for _ in 0...most / 2 {
            for name in ["a", "b"] {
                let file = unsafe open(samples["s/\(stream)/\(name)"], O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
                close(file)
            }
        }
        try samples.bring(entry.bytes, as: RoadFile.entry(other, entry.name).path)
        #expect(watch.changes() == .everything)
        // The stream that came in the flood is watched.
        let next = try FolderSamples.entry(2)
        try samples.bring(next.bytes, as: RoadFile.entry(other, next.name).path)
        #expect(watch.changes() == .folders([.entries(other)]))
    }

    @Test func `more streams than are watched have the road listed`() throws {
        let samples = try FolderSamples()
        let road = try samples.create()
        for number in 0..<257 {
            let id = [UInt8(number / 256), UInt8(number % 256)] + [UInt8](repeating: 3, count: 14)
            let stream = try #require(StreamID(id))
            try FileManager.default.createDirectory(atPath: samples["s/\(stream)"], withIntermediateDirectories: false)
        }
        guard case .listings(.tooManyStreams) = road.watch() else {
            Issue.record("257 streams are watched")
            return
        }
    }

    @Test(arguments: [
        ("27", true), ("40", true), ("41", false), ("42", false), ("43", false), ("44", true), ("4", false),
        ("99", false),
        ("", false),
    ])
    func `only file systems whose every change passes the kernel are watched`(_ mount: String, _ isLocal: Bool) {
        let mounts = """
            27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard
            40 27 0:50 / /run/user rw,nosuid shared:2 master:1 - tmpfs tmpfs rw
            41 27 0:51 / /mnt/server rw shared:3 - nfs4 server:/ext4 rw
            42 27 0:52 / /mnt/ext4 rw - fuse.sshfs ext4 rw
            43 27 0:53 / /mnt/x rw
            44 27 8:1 / /media/stick rw - vfat /dev/sdb1 rw
            """
        let information = "pos:\t0\nflags:\t0100000\nmnt_id:\t\(mount)\nino:\t27\n"
        #expect(MountTable.tellsAllChanges(Array(information.utf8), Array(mounts.utf8)) == isLocal)
        #expect(!MountTable.tellsAllChanges(Array("mnt_id".utf8), Array(mounts.utf8)))
        #expect(!MountTable.tellsAllChanges(Array(information.utf8), []))
    }

    @Test func `a road that loses its folders is listed`() throws {
        let samples = try FolderSamples()
        let road = try samples.create()
        try samples.remove("rosters")
        guard case .listings(.noFolder) = road.watch() else {
            Issue.record("what is not there is watched")
            return
        }
    }

    private struct NotWatched: Error {}

    private static func events(_ road: FolderRoad, joins: Bool = false) throws -> RoadWatch {
        switch road.watch(joins: joins) {
        case .events(let watch): return watch
        case .listings: throw NotWatched()
        }
    }

    private static func isReadable(_ watch: RoadWatch) -> Bool {
        var waiting = pollfd(fd: watch.descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&waiting, 1, 0) == 1
    }
}
#endif
