#if os(Linux) && !canImport(Darwin)
import CrashSubject
import Foundation
import TestSupport
import Testing
import VaultCore
import VaultStorage

/// Bytes of an encrypted file changed, removed and added.
@Suite(.seeded) struct FlippedFileTests {
    private static let magicSize = 8
    private static let chunkOnDisk = 64 * 1024 + 16
    private static let place = Place("files", "large")

    /// The one file's name and bytes.
    private static func file(_ home: SmallHome) throws -> (name: String, good: [UInt8]) {
        let names = try FileManager.default.contentsOfDirectory(atPath: home.path("files"))
        let name = "files/\(try #require(names.first))"
        #expect(names.count == 1)
        return (name, try home.bytes(name))
    }

    @Test func `a changed byte of a file is found by reading and by verifying`() throws {
        let home = try SmallHome()
        var generator = TestRun.generator("file")
        let (name, good) = try FlippedFileTests.file(home)
        let vault = try home.open()
        try vault.unlock(0)
        let boundaries = stride(from: FlippedFileTests.magicSize, to: good.count, by: FlippedFileTests.chunkOnDisk)
        let special = Set(0..<64).union((good.count - 64)..<good.count)
            .union(boundaries.flatMap { max(0, $0 - 17)...($0 + 1) })
        let others = TestRun.sample(Array(64..<(good.count - 64)), 40, using: &generator)
        let offsets =
            TestRun.isSoak
            ? Array(special) + others.shuffled(using: &generator).prefix(4_000)
            : others
                + TestRun.sample(special.sorted(), 120, using: &generator)
        for offset in offsets {
            let mask = generator.mask()
            try home.write([good[offset] ^ mask], to: name, at: offset)
            let context = "byte \(offset) ^ \(mask)"
            #expect(code { _ = try vault.bytes(at: FlippedFileTests.place) } == .damaged, "\(context)")
            let found = try vault.verify()
            #expect(found.damagedFiles.map(\.name) == [FlippedFileTests.place.name] && !found.isIntact, "\(context)")
            try home.write([good[offset]], to: name, at: offset)
        }
        #expect(SmallHome.wrong(vault) == [])
        TestRun.report("file", "\(offsets.count) of \(good.count) bytes changed")
    }

    @Test func `a file cut short, made longer, exchanged or taken away is found`() throws {
        let home = try SmallHome()
        let (name, good) = try FlippedFileTests.file(home)
        let vault = try home.open()
        try vault.unlock(0)
        let second = FlippedFileTests.magicSize + FlippedFileTests.chunkOnDisk
        let third = second + FlippedFileTests.chunkOnDisk
        let wholeChunks = FlippedFileTests.magicSize + 16 * FlippedFileTests.chunkOnDisk
        let first = Array(good[FlippedFileTests.magicSize..<second])
        let swapped = good[..<FlippedFileTests.magicSize] + good[second..<third] + first + good[third...]
        let variants: [[UInt8]?] = [
            nil, [], Array(good[..<FlippedFileTests.magicSize]), Array(good.dropLast()), good + [0], Array(swapped),
            // Cut at a chunk's end, and a chunk repeated.
            Array(good[..<wholeChunks]), good + good.suffix(100 + 16),
        ]
        for (index, bytes) in variants.enumerated() {
            try FileManager.default.removeItem(atPath: home.path(name))
            if let bytes { try Data(bytes).write(to: URL(fileURLWithPath: home.path(name))) }
            #expect(code { _ = try vault.bytes(at: FlippedFileTests.place) } == .damaged, "variant \(index)")
            #expect(try vault.verify().damagedFiles.count == 1, "variant \(index)")
            if bytes == nil { try Data().write(to: URL(fileURLWithPath: home.path(name))) }
        }
        try Data(good).write(to: URL(fileURLWithPath: home.path(name)))
        #expect(SmallHome.wrong(vault) == [])
    }
}
#endif
