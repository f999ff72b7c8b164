import BetterAuthMessages
import BetterAuthServer
import Cryptography
import Dispatch
import Foundation
import RealParts
import SecretMemory
import Synchronization
import TestSupport
import Testing

/// Keeps what it seals, under a name. That a real chip does its part is shown by the tests of the command.
private final class Keeper: KeySeal {
    private struct Unknown: Error {}
    private let kept = Mutex<[[UInt8]: [UInt8]]>([:])

    func seal(_ key: borrowing SecretBytes) throws -> [UInt8] {
        let bytes = key.withBytes { bytes in
            (0..<bytes.byteCount).map { unsafe bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
        }
        return kept.withLock { kept in
            let name = Array("object \(kept.count)".utf8)
            kept[name] = bytes
            return name
        }
    }

    func unseal(_ object: [UInt8]) throws -> SecretBytes {
        guard let bytes = kept.withLock({ $0[object] }) else { throw Unknown() }
        return try unsafe SecretBytes(copying: bytes.span.bytes)
    }
}

@Suite struct KeyFileTests {
    private let fixture: StoreFixture
    private var path: String { fixture.folder + "/keys" }

    init() throws { fixture = try StoreFixture(.memory) }

    private func load(_ protection: KeyProtection) throws -> String {
        let keys = try KeyFile(path, protection).loadOrCreate(
            responseLifetime: 1000, accessLifetime: 1000, usedFrom: TestClock().now
        ).keys
        return keys.responseKey(now: TestClock().now).publicKey.description
    }

    private func contents() throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: path))) }

    private func write(_ bytes: [UInt8]) throws { try write(bytes, to: path) }

    private func write(_ bytes: [UInt8], to path: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        unsafe chmod(path, 0o600)
    }

    /// Keys that a killed process left half written would outlive those of the file.
    @Test func `what a killed process left beside the keys is removed by the next one that writes`() throws {
        _ = try load(.file)
        let gone = try Spawned(["true"])
        let number = gone.identifier
        #expect(gone.wait() == 0)
        let day = Date().addingTimeInterval(-86_400)
        // A dead writer's, a young one of the same number, a living writer's, and names that are not ours.
        let names = ["\(number).1", "\(number).2", "\(getpid()).3", "\(number).x", "old", "\(number).1.1"]
        for name in names {
            try write([1], to: "\(path).\(name)")
            guard name != "\(number).2" else { continue }
            try FileManager.default.setAttributes([.modificationDate: day], ofItemAtPath: "\(path).\(name)")
        }
        _ = try KeyFile(path).update(responseLifetime: 1, accessLifetime: 1) { keys throws(CryptographyError) in
            try keys.addAuditKey()
            return true
        }
        let left = try FileManager.default.contentsOfDirectory(atPath: fixture.folder).filter { $0.hasPrefix("keys.") }
        #expect(Set(left) == Set(names.dropFirst().map { "keys.\($0)" }))
    }

    @Test func `a file that has no room for another key is left as it is`() throws {
        _ = try load(.file)
        let file = KeyFile(path, .file)
        var isFull = false
        for _ in 0..<100 where !isFull {
            let before = try contents()
            do {
                _ = try file.update(responseLifetime: 1 << 40, accessLifetime: 1 << 40) {
                    keys throws(CryptographyError) in
                    try keys.rotate(now: TestClock().now, publishedSeconds: 0)
                    return true
                }
            } catch KeyFile.Failure.full {
                isFull = true
                #expect(try contents() == before)
            }
        }
        #expect(isFull)
        _ = try file.load(responseLifetime: 1 << 40, accessLifetime: 1 << 40)
    }

    /// A chip that seals and does not unseal, as one that is not the machine's own would.
    private struct OneWay: KeySeal {
        private struct Unknown: Error {}
        func seal(_ key: borrowing SecretBytes) throws -> [UInt8] { [1] }
        func unseal(_ object: [UInt8]) throws -> SecretBytes { throw Unknown() }
    }

    @Test func `what could not be read again takes no file's place`() throws {
        let key = try load(.file)
        let before = try contents()
        #expect(throws: KeyFile.Failure.self) {
            try KeyFile(path, .toBeSealed(OneWay())).update(responseLifetime: 1000, accessLifetime: 1000) {
                keys throws(CryptographyError) in
                try keys.rotate(now: TestClock().now, publishedSeconds: 0)
                return true
            }
        }
        #expect(try contents() == before && load(.file) == key)
        let new = KeyFile(fixture.folder + "/new", .sealed(OneWay()))
        #expect(throws: KeyFile.Failure.self) {
            try new.loadOrCreate(responseLifetime: 1000, accessLifetime: 1000, usedFrom: TestClock().now)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.folder) == ["keys"])
    }

    /// Two years of rotations as `serve` makes them, by lifetimes in seconds.
    @Test(arguments: [(300, 43_200), (0, 43_200), (86_400, 43_200), (300, 900), (300, 5_184_000)] as [(Int64, Int64)])
    func `an interval that is admitted always has room, and a shorter one has not`(
        _ published: Int64, _ refresh: Int64
    ) throws {
        let lifetimes = [43_260, refresh]
        let shortest = KeyRoom.shortestInterval(publishedSeconds: published, lifetimes: lifetimes)
        let key = try ServerKey.generate()
        func most(_ interval: Int64) -> Int {
            var now = TestClock().now
            var schedules = lifetimes.map { KeySchedule(key, usedFrom: now, lifetime: $0 * 1000) }
            var most = 0
            for _ in 0..<200 {
                // As soon as the youngest is old enough.
                now = now.adding(seconds: interval + published)
                now = now.adding(milliseconds: 1) ?? now
                for index in schedules.indices {
                    schedules[index].add(key, usedFrom: now.adding(seconds: published), now: now)
                }
                most = max(most, schedules.reduce(0) { $0 + $1.entries.count })
            }
            return most
        }
        #expect(most(shortest) + 16 <= 64)
        // Nobody is asked to wait for longer than it needs, but for the very moment of an end.
        #expect(shortest == 1 || most(shortest - 2) + 16 > 64, "\(shortest)")
    }

    /// No byte of a sealed file can be changed or left out.
    @Test func aSealedFileIsTakenWholeOrNotAtAll() throws {
        let seal = Keeper()
        let key = try load(.sealed(seal))
        #expect(try load(.sealed(seal)) == key)
        let file = try contents()
        for index in file.indices {
            var changed = file
            changed[index] ^= 0x10
            try write(changed)
            #expect(throws: KeyFile.Failure.self, "byte \(index)") { try load(.sealed(seal)) }
            try write(Array(file[..<index]))
            #expect(throws: KeyFile.Failure.self, "\(index) bytes") { try load(.sealed(seal)) }
        }
        try write(file + [0])
        #expect(throws: KeyFile.Failure.self) { try load(.sealed(seal)) }
        try write(file)
        #expect(try load(.toBeSealed(seal)) == key)
        #expect(throws: KeyFile.Failure.self) { try load(.file) }
        #expect(throws: KeyFile.Failure.self) { try load(.sealed(Keeper())) }
    }

    @Test func aPlainFileIsTakenWholeOrNotAtAll() throws {
        let key = try load(.file)
        let file = try contents()
        for index in file.indices {
            try write(Array(file[..<index]))
            // The response key without the access key is not enough either.
            #expect(throws: KeyFile.Failure.self, "\(index) bytes") { try load(.file) }
        }
        try write(file)
        #expect(try load(.file) == key && load(.toBeSealed(Keeper())) == key)
        #expect(throws: KeyFile.Failure.self) { try load(.sealed(Keeper())) }
    }

    @Test func `a file that is missing is not made by reading it`() throws {
        #expect(throws: KeyFile.Failure.self) {
            try KeyFile(path).load(responseLifetime: 1000, accessLifetime: 1000)
        }
        #expect(throws: KeyFile.Failure.self) {
            try KeyFile(path).update(responseLifetime: 1000, accessLifetime: 1000) { _ in true }
        }
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    /// Made by many at one time, all have the same keys, and nothing else is left in the folder.
    @Test func `of many first starts one makes the keys`() throws {
        for _ in 0..<(TestRun.isSoak ? 500 : 20) {
            let keys = Mutex<Set<String>>([])
            let new = Mutex(0)
            DispatchQueue.concurrentPerform(iterations: 8) { [path] _ in
                let made = try? KeyFile(path).loadOrCreate(
                    responseLifetime: 1000, accessLifetime: 1000, usedFrom: TestClock().now)
                let key = made?.keys.responseKey(now: TestClock().now).publicKey.description
                _ = keys.withLock { $0.insert(key ?? "none") }
                if made?.isNew == true { new.withLock { $0 += 1 } }
            }
            #expect(keys.withLock { $0 }.count == 1 && new.withLock { $0 } == 1)
            #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.folder) == ["keys"])
            try FileManager.default.removeItem(atPath: path)
        }
    }

    /// A rotation reads, changes and writes: none may be lost between two of these steps.
    @Test func `rotations at the same time are all kept`() throws {
        let first = try KeyFile(path).loadOrCreate(
            responseLifetime: 1 << 40, accessLifetime: 1 << 40, usedFrom: TestClock().now
        ).keys
        DispatchQueue.concurrentPerform(iterations: 8) { [path] _ in
            _ = try? KeyFile(path).update(responseLifetime: 1 << 40, accessLifetime: 1 << 40) {
                keys throws(CryptographyError) in
                try keys.rotate(now: TestClock().now, publishedSeconds: 60)
                return true
            }
        }
        let keys = try KeyFile(path).load(responseLifetime: 1 << 40, accessLifetime: 1 << 40)
        #expect(keys.published(now: TestClock().now).response.count == 9)
        let (before, after) = (first.mark, keys.mark)
        #expect(after.digest == before.digest && after.generation == 8 && before.generation == 0)
    }
}
