import Foundation
import RealParts
import SyncFormat
import SystemCalls
import TestSupport
import Testing
import VaultSync

/// Two folders, and something that carries files between them as it likes.
@Suite(.seeded) struct FolderCarrierTests {
    private static let rsync = "/usr/bin/rsync"
    private static let canCarry = TestRun.isBootstrapped || FileManager.default.isExecutableFile(atPath: rsync)

    /// What a reader has of a road, and what it waits for.
    private struct Reader {
        let road: FolderRoad
        var memory = RoadMemory()
        var waiting: Set<RoadFile> = []
        var read: [RoadFile: [UInt8]] = [:]

        init(_ road: FolderRoad) { self.road = road }

        /// A listing, and everything that can be read then.
        mutating func look() throws {
            let news = try road.list(&memory)
            for (stream, names) in news.entries { waiting.formUnion(names.map { .entry(stream, $0) }) }
            waiting.formUnion(news.rosters.map { .roster($0) })
            waiting.formUnion(news.retries)
            for file in waiting {
                switch try road.read(file, &memory) {
                case .bytes(let bytes, _): read[file] = bytes
                case .vanished, .notYet: break
                }
                waiting.remove(file)
            }
        }
    }

    @Test(.enabled(if: canCarry, "SKIPPED: rsync is not installed"))
    func `rsync in any order, with halves and conflict files, brings both devices the same`() throws {
        var generator = SeededGenerator()
        let left = try FolderSamples()
        let right = try FolderSamples()
        // Whoever is first makes the road; the other one gets it.
        var readers = [Reader(try left.create())]
        try FolderCarrierTests.carry(["HOLDFAST-SYNC"], from: left.path, to: right.path)
        readers.append(Reader(try FolderRoad(opening: right.path, of: left.group)))
        let writers = try [1, 2].map { RoadWriter(readers[$0 - 1].road, of: try FolderSamples.stream(UInt8($0))) }
        let folders = [left, right]
        var all: [RoadFile: [UInt8]] = [:]
        for round in 1...8 {
            for side in 0...1 {
                let stream = try FolderSamples.stream(UInt8(side + 1))
                let entry = try FolderSamples.entry(
                    UInt64(round), seed: UInt8(side), size: 1024 << Int(generator.next() % 6))
                #expect(try writers[side].write(.entry(entry.name), entry.bytes) == .written)
                all[.entry(stream, entry.name)] = entry.bytes
                if round % 3 == side {
                    let roster = try FolderSamples.roster(UInt32(round), seed: UInt8(side))
                    #expect(try writers[side].write(.roster(roster.name), roster.bytes) == .written)
                    all[.roster(roster.name)] = roster.bytes
                }
            }
            let side = Int(generator.next() % 2)
            let (source, target) = (folders[side], folders[1 - side])
            let names = try source.everything().keys.sorted().shuffled(using: &generator)
            let some = names.filter { !$0.utf8.starts(with: "HOLDFAST".utf8) }.prefix(1 + Int(generator.next() % 6))
            for (place, name) in some.enumerated() {
                let bytes = try source.bytes(name)
                if FileManager.default.fileExists(atPath: target[name]) { continue }
                // Half of it first, or a file of its size without its bytes.
                if place % 3 == 0 { try target.bring(Array(bytes[..<(bytes.count / 2)]), as: name) }
                if place % 3 == 1 { try target.bring([UInt8](repeating: 0, count: bytes.count), as: name) }
                if place % 3 == 2 { try target.bring(bytes, as: "\(name).sync-conflict-20261130-\(round)") }
            }
            try readers[1 - side].look()
            try FolderCarrierTests.carry(Array(some), from: source.path, to: target.path)
            for side in 0...1 { try readers[side].look() }
            for reader in readers {
                for (file, bytes) in reader.read { #expect(all[file] == bytes, "\(file.path)") }
            }
        }
        // It comes to rest. Whatever was drawn, each has a conflict copy.
        for (folder, byte) in [(left, UInt8(1)), (right, 2)] {
            try folder.bring([1], as: "s/\(FolderSamples.stream(byte))/x.sync-conflict-20261130-082947-ABCDEFG")
        }
        for (source, target) in [(left, right), (right, left)] {
            let names = try source.everything().keys.filter {
                !$0.contains("conflict") && !$0.utf8.starts(with: "HOLD".utf8)
            }
            try FolderCarrierTests.carry(names.shuffled(using: &generator), from: source.path, to: target.path)
        }
        for side in 0...1 {
            try readers[side].look()
            #expect(readers[side].read == all)
            #expect(readers[side].memory.waiting == 0)
            #expect(Array(readers[side].memory.passedOver.keys) == [.conflictCopy])
        }
    }

    @Test func `old files that come back are given again, and are removed again by their writer`() throws {
        let samples = try FolderSamples()
        let stream = try FolderSamples.stream(1)
        var reader = Reader(try samples.create())
        let writer = RoadWriter(reader.road, of: stream)
        let entries = try (1...5).map { try FolderSamples.entry($0) }
        for entry in entries { #expect(try writer.write(.entry(entry.name), entry.bytes) == .written) }
        let old = try samples.everything()
        try reader.look()
        #expect(try writer.remove(entries.prefix(3).map { .entry($0.name) }) == [])
        #expect(try reader.road.list(&reader.memory).vanished == [stream: entries.prefix(3).map(\.name)])
        for (name, bytes) in old { try samples.bring(bytes, as: name) }
        #expect(try reader.road.list(&reader.memory).entries == [stream: entries.prefix(3).map(\.name)])
        #expect(try writer.remove(entries.prefix(3).map { .entry($0.name) }) == [])
        try reader.look()
        #expect(reader.memory.entries[stream] == entries.suffix(2).map(\.name))
    }

    @Test func `files that are lost on the way are written again`() throws {
        let samples = try FolderSamples()
        let stream = try FolderSamples.stream(1)
        let writer = RoadWriter(try samples.create(), of: stream)
        let files = try (1...6).map { number in
            let entry = try FolderSamples.entry(UInt64(number))
            return (file: OwnFile.entry(entry.name), bytes: entry.bytes)
        }
        #expect(try writer.write(files).allSatisfy { $0 == .written })
        let whole = try samples.everything()
        let paths = whole.keys.filter { $0.utf8.starts(with: "s/".utf8) }.sorted()
        for path in paths.prefix(2) { try samples.remove(path) }
        try samples.bring([], as: paths[2])
        try samples.bring([UInt8](repeating: 0, count: 1024), as: paths[3])
        let found = try writer.write(files)
        #expect(found == [.written, .written, .differs, .differs, .alreadyThere, .alreadyThere])
        for (own, result) in zip(files, found) where result == .differs { try writer.repair(own.file, own.bytes) }
        #expect(try samples.everything() == whole)
    }

    /// Has rsync carry some files, one after the other in this order.
    private static func carry(_ names: [String], from source: String, to target: String) throws {
        let list = "\(target).list"
        try Data(names.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: list))
        defer { try? FileManager.default.removeItem(atPath: list) }
        let words = [rsync, "--archive", "--checksum", "--no-implied-dirs", "--files-from=\(list)"]
        try #require(try Spawned(words + ["\(source)/", "\(target)/"]).wait() == 0)
    }
}
