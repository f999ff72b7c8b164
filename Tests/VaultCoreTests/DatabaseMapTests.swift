import Cryptography
import SecretMemory
import Synchronization
import SystemCalls
import TestSupport
import Testing
import VaultFormat

@testable import OpenStorage
@testable import VaultCore
@testable import VaultStorage

/// The map of a database begins small and grows.
@Suite(.seeded, .serialized) struct DatabaseMapTests {
    private static let megabyte = 1 << 20

    @Test func `sizes begin with what is wished and end with what is needed`() {
        let sizes = DatabaseMap.sizes(used: 5 << 20, room: 64 << 20, limit: 1 << 30)
        #expect(sizes.map { $0 >> 20 } == [69, 37, 21, 13, 9, 7, 6])
        #expect(DatabaseMap.sizes(used: 100 << 20, room: 64 << 20, limit: 1 << 30).first == 200 << 20, "twice the size")
        #expect(DatabaseMap.sizes(used: 0, room: 64 << 20, limit: 64 << 20).first == 64 << 20)
        #expect(DatabaseMap.sizes(used: 60 << 20, room: 64 << 20, limit: 64 << 20).first == 64 << 20)
        #expect(DatabaseMap.sizes(used: 64 << 20, room: 64 << 20, limit: 64 << 20) == [64 << 20])
        #expect(DatabaseMap.sizes(used: 0, room: 1 << 30, limit: 64 << 30).allSatisfy { $0 % (1 << 16) == 0 })
        for used in [64 << 20 + 1, 1 << 62, 1 << 63, UInt64.max - 1, .max] {
            #expect(DatabaseMap.sizes(used: used, room: 64 << 20, limit: 64 << 20) == [64 << 20], "a lie")
        }
    }

    @Test(arguments: DatabaseLocks.all)
    func `the map grows while others read, up to its limit, and nothing is lost there`(locks: DatabaseLocks) throws {
        var generator = SeededGenerator()
        let limit = 24 * DatabaseMapTests.megabyte
        let test = try TestDatabase(locks, limit: limit, room: DatabaseMapTests.megabyte)
        #expect(test.exclusion.mapSize <= UInt64(2 * DatabaseMapTests.megabyte))
        try test.rewrite(1)
        let crew = test.readers(2, seed: &generator)
        var stored = 0
        let value = [UInt8](repeating: 7, count: 100_000)
        let code = errorCode {
            while stored < 1000 {
                try test.put("a longer key \(stored)", value)
                stored += 1
            }
        }
        #expect(code == .diskFull)
        #expect(stored > 200 && stored < 260, "\(stored) values")
        #expect(test.exclusion.mapSize == UInt64(limit))
        #expect(crew.end() == [])
        let reader = try ReadTransaction(test.database)
        #expect(try TestDatabase.read(reader) == [1])
        try test.database.checkPages()
        // What is taken away makes room again.
        for number in 0..<10 { try test.delete("a longer key \(number)") }
        try test.put("a longer key again", value)
        #expect(try TestDatabase.read(reader) == [1])
    }

    @Test(arguments: DatabaseLocks.all)
    func `a thread that reads already is not held up by a map that waits to grow`(locks: DatabaseLocks) throws {
        let test = try TestDatabase(locks, room: DatabaseMapTests.megabyte)
        try test.rewrite(1)
        let value = [UInt8](repeating: 7, count: 20_000)
        let before = test.exclusion.mapSize
        // What is left is less than an eighth of the room: the next change does not continue without more.
        func isScarce() -> Bool {
            guard let (used, map) = try? test.exclusion.extent() else { return false }
            return map < used + UInt64(DatabaseMapTests.megabyte / 8)
        }
        let held = try ReadTransaction(test.database)
        for number in 0..<1_000 where !isScarce() {
            // It grows when there is half of the room, if nobody reads.
            try held.renew()
            defer { held.park() }
            GateTests.thread { try? test.put("a longer key \(number)", value) }.wait(for: 1)
        }
        try #require(isScarce())
        let reader = try ReadTransaction(test.database)
        let nested = try ReadTransaction(test.database)
        try reader.renew()
        let writer = GateTests.thread { try? test.put("a longer key", value) }
        let isWaiting = Patience.wait { test.exclusion.isClosed.load(ordering: .relaxed) }
        #expect(isWaiting)
        #expect(try TestDatabase.read(nested) == [1])
        reader.park()
        writer.wait(for: 1)
        #expect(test.exclusion.mapSize > before)
    }

    private static func keys() throws -> RecordKeys {
        let vault = try #require(VaultID(bytes: [UInt8](repeating: 3, count: 16)))
        return try RecordKeys(openKey: Vault.newKey(), vault: vault)
    }

    private static func put(_ count: Int, _ session: inout WriteSession) throws(VaultError) {
        let value = [UInt8](repeating: 9, count: 900_000)
        for number in 0..<count {
            try unsafe session.put(
                RecordDraft(collection: "c", name: "\(number)", replacing: true, now: 0), content: value.span.bytes)
        }
    }

    @Test(arguments: DatabaseLocks.all)
    func `a vault that is busy after a batch that did not fit is busy, and nothing is tried for ever`(
        locks: DatabaseLocks
    ) throws {
        let test = try TestDatabase(locks, room: DatabaseMapTests.megabyte)
        let keys = try DatabaseMapTests.keys()
        try Vault.writeFirstRoot(keys, test.name, in: test.home)
        let queue = try WriteQueue(keys, test.database, in: test.home)
        func perform(isRepeatable: Bool, _ count: Int) -> VaultError.Code? {
            do throws(VaultError) {
                _ = try queue.perform(patience: 50, isRepeatable: isRepeatable) { session throws(VaultError) in
                    try DatabaseMapTests.put(count, &session)
                }
                return nil
            } catch { return error.code }
        }
        #expect(perform(isRepeatable: false, 10) == .outOfMemory)
        let other = unsafe open("\(test.home.path)/test.mdb", O_RDONLY | O_CLOEXEC)
        defer { close(other) }
        #expect(flock(other, LOCK_EX | LOCK_NB) == 0)
        for isRepeatable in [false, true] { #expect(perform(isRepeatable: isRepeatable, 1) == .busy) }
        flock(other, LOCK_UN)
        var tries = 1
        while perform(isRepeatable: false, 10) == .outOfMemory, tries < 10 { tries += 1 }
        #expect(tries < 10, "there is more room each time")
        #expect(test.exclusion.room.load(ordering: .relaxed) <= 64 * DatabaseMapTests.megabyte)
    }

    @Test(arguments: DatabaseLocks.all)
    func `a change that is larger than the room is made once there is more`(locks: DatabaseLocks) throws {
        let test = try TestDatabase(locks, room: DatabaseMapTests.megabyte)
        let keys = try DatabaseMapTests.keys()
        try Vault.writeFirstRoot(keys, test.name, in: test.home)
        let queue = try WriteQueue(keys, test.database, in: test.home)
        // What may run twice does so.
        _ = try queue.join { session throws(VaultError) in try DatabaseMapTests.put(5, &session) }
        let reader = try RecordReader(keys, test.database)
        #expect(try reader.root().count == 5)
        // A caller's closure runs once, and the caller is told.
        let runs = Mutex(0)
        func large() -> VaultError.Code? {
            do throws(VaultError) {
                _ = try queue.perform { session throws(VaultError) in
                    runs.withLock { $0 += 1 }
                    try DatabaseMapTests.put(40, &session)
                }
                return nil
            } catch { return error.code }
        }
        #expect(large() == .outOfMemory)
        #expect(runs.withLock { $0 } == 1)
        #expect(try reader.root().count == 5)
        while large() != nil { #expect(try reader.root().count == 5) }
        #expect(runs.withLock { $0 } < 8)
        #expect(try reader.root().count == 40)
    }
}
