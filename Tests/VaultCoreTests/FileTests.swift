import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultFormat

@testable import VaultCore
@testable import VaultStorage

@Suite struct FileTests {
    static let chunk = FileFormat.chunkSize
    static let inline = Vault.largestInlineValue

    @Test(arguments: [inline, inline + 1, inline + chunk - 1, inline + chunk, inline + chunk + 1, 20 * chunk])
    func streamsComeBackExactly(size: Int) throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        let content = pattern(size)
        try vault.stream(content, "stream")
        #expect(try vault.readAll("stream") == content)
        let info = try vault.records()[0]
        #expect(info.size == UInt64(size))
        #expect(info.isFile == (size > Self.inline))
        if info.isFile { #expect(errorCode { _ = try vault.get("stream") } == .tooLarge) }
        #expect(try vault.verify().isIntact)
        try vault.delete("stream")
        #expect(try FileManager.default.contentsOfDirectory(atPath: home.file("files")).isEmpty)
    }

    @Test func replacingAFileRemovesTheOldOne() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        try vault.stream(pattern(Self.inline + 10), "stream")
        let old = try FileManager.default.contentsOfDirectory(atPath: home.file("files"))
        #expect(errorCode { try vault.stream([1], "stream") } == .recordExists)
        try vault.stream(pattern(Self.inline + 20, seed: 9), "stream", replacing: true)
        let new = try FileManager.default.contentsOfDirectory(atPath: home.file("files"))
        #expect(new.count == 1 && new != old)
        #expect(try vault.readAll("stream") == pattern(Self.inline + 20, seed: 9))
        try vault.put([1, 2], "stream", replacing: true)
        #expect(try FileManager.default.contentsOfDirectory(atPath: home.file("files")).isEmpty)
        #expect(try vault.readAll("stream") == [1, 2])
    }

    @Test func aSourceThatFailsLeavesNothing() throws {
        struct Failure: Error {}
        let home = try TestHome()
        let vault = try home.unlocked()
        var calls = 0
        #expect(throws: Failure.self) {
            try vault.put("stream") { memory in
                calls += 1
                if calls > 30 { throw Failure() }
                return min(65_536, memory.byteCount)
            }
        }
        #expect(calls > 30)
        #expect(try FileManager.default.contentsOfDirectory(atPath: home.file("files")).isEmpty)
        #expect(try vault.records().isEmpty)
    }

    @Test func changedCutOrLengthenedFilesAreNeverRead() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        let content = pattern(Self.inline + 3 * Self.chunk + 5)
        try vault.stream(content, "stream")
        let name = "files/" + (try #require(FileManager.default.contentsOfDirectory(atPath: home.file("files")).first))
        let good = try home.bytes(name)
        let stride = Self.chunk + FileFormat.tagSize
        var variants: [[UInt8]] = [
            Array(good.dropLast()), good + [0], Array(good.prefix(8)), [],
            Array(good[..<(8 + 3 * stride)]),  // cut at a chunk
            Array(good[..<8]) + good[(8 + stride)..<(8 + 2 * stride)] + good[8..<(8 + stride)]
                + good[(8 + 2 * stride)...],
        ]
        for offset in [0, 7, 8, 8 + stride, good.count - 1, good.count - 17] {
            var flipped = good
            flipped[offset] ^= 1
            variants.append(flipped)
        }
        for (index, variant) in variants.enumerated() {
            try home.write(variant, to: name)
            var got: [UInt8] = []
            #expect(errorCode("variant \(index)") { try vault.read("stream") { got += $0.array } } == .damaged)
            #expect(content.starts(with: got), "only genuine bytes are handed out")
            #expect(got.count < content.count)
            #expect(try vault.verify().damagedFiles.map(\.name) == ["stream"])
        }
        try FileManager.default.removeItem(atPath: home.file(name))
        #expect(errorCode { _ = try vault.readAll("stream") } == .damaged)
    }

    @Test func leftoversAreFoundAndRemovedButNotWhatIsBeingWritten() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        try vault.stream(pattern(Self.inline + 1), "stream")
        let keys = try #require(vault.gate.current).keys.current
        let writer = try FileWriter(in: vault.home, keys: keys)
        #expect(FileManager.default.createFile(atPath: home.file("files/.part-dead"), contents: Data([1])))
        #expect(FileManager.default.createFile(atPath: home.file("files/0123"), contents: Data([1])))
        #expect(try vault.verify().orphanedFiles == 3)
        #expect(try vault.removeOrphanedFiles() == 2)
        #expect(try vault.verify().orphanedFiles == 1)
        _ = try writer.finish()
        #expect(try vault.readAll("stream") == pattern(Self.inline + 1))
    }
}
