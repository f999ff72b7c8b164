import SecretMemory
import Synchronization
import SystemCalls
import TestSupport
import Testing
import VaultFormat

@testable import VaultCore
@testable import VaultStorage

/// Readers and writers of one process, with LMDB's locks and with ours.
@Suite(.seeded, .serialized) struct DatabaseExclusionTests {
    @Test(arguments: DatabaseLocks.all)
    func `a reader sees one state while pages are used again`(locks: DatabaseLocks) throws {
        var generator = SeededGenerator()
        let test = try TestDatabase(locks)
        try test.rewrite(0)
        let crew = test.readers(3, seed: &generator)
        var number = 1
        while number < (TestRun.isSoak ? 5_000 : 100) || crew.snapshots.load(ordering: .relaxed) < 10 {
            try test.rewrite(number)
            number += 1
        }
        #expect(crew.end() == [])
        // A reader that was kept from running kept the pages of its state. Without any, what is rewritten takes pages
        // that are free: the file would else become as much longer with each of them.
        let size = try test.size()
        for number in 0..<20 { try test.rewrite(number) }
        #expect(try test.size() <= size + 2 * TestDatabase.sizes.reduce(0, +))
        try test.database.checkPages()
    }

    /// Runs `body` on another thread and returns when it has ended.
    private func elsewhere(_ body: @escaping @Sendable () throws -> Void) -> VaultError.Code? {
        let code = Mutex<VaultError.Code?>(nil)
        GateTests.thread {
            do { try body() } catch { code.withLock { $0 = (error as? VaultError)?.code ?? .unexpected } }
        }.wait(for: 1)
        return code.withLock { $0 }
    }

    @Test func `with our own locks a change waits for those who read what is older than the newest state`() throws {
        let test = try TestDatabase(.own)
        try test.rewrite(1)
        let reader = try ReadTransaction(test.database)
        try reader.renew()
        #expect(elsewhere { try test.rewrite(2, patience: 0) } == nil, "nothing that the reader sees is written over")
        #expect(elsewhere { try test.rewrite(3, patience: 20) } == .busy)
        let other = try ReadTransaction(test.database)
        #expect(try TestDatabase.read(other) == [2], "readers are not kept by a writer that waits")
        reader.park()
        #expect(elsewhere { try test.rewrite(3, patience: 0) } == nil)
        #expect(try TestDatabase.read(other) == [3])
    }

    @Test func `with our own locks a change from within a read is refused at once`() throws {
        let test = try TestDatabase(.own)
        try test.rewrite(1)
        let reader = try ReadTransaction(test.database)
        try reader.renew()
        try test.rewrite(2)
        #expect(errorCode { try test.rewrite(3) } == .busy)
        reader.park()
        try test.rewrite(3)
        #expect(try TestDatabase.read(reader) == [3])
    }

    @Test func `with our own locks one transaction writes at a time`() throws {
        let test = try TestDatabase(.own)
        do {
            let first = try WriteTransaction(test.database)
            #expect(elsewhere { try test.rewrite(1, patience: 20) } == .busy)
            _ = consume first
        }
        #expect(elsewhere { try test.rewrite(1, patience: 0) } == nil)
    }

    @Test func `with our own locks a file is held only while it is in use`() throws {
        let test = try TestDatabase(.own)
        try test.rewrite(1)
        // As another process would.
        guard let file = try test.home.openFile(test.name.file, O_RDONLY) else { throw VaultError.damaged("no file") }
        let isFree = try file.tryLock(exclusive: true)
        #expect(isFree)
        #expect(errorCode { try test.rewrite(2, patience: 20) } == .busy)
        file.unlock()
        let reader = try ReadTransaction(test.database)
        try reader.renew()
        let isFreeMeanwhile = try file.tryLock(exclusive: true)
        #expect(!isFreeMeanwhile)
        reader.park()
        let isFreeAgain = try file.tryLock(exclusive: true)
        #expect(isFreeAgain)
        file.unlock()
    }

    @Test(arguments: DatabaseLocks.all)
    func `a copy beside writers is one state`(locks: DatabaseLocks) throws {
        let test = try TestDatabase(locks)
        try test.rewrite(1)
        let isOver = Atomic(false)
        let writer = GateTests.thread {
            var number = 1
            while !isOver.load(ordering: .relaxed) {
                number += 1
                try? test.rewrite(number)
            }
        }
        for round in 0..<10 {
            let name = DatabaseName(file: "copy-\(round).mdb", limit: test.name.limit, room: test.name.room)
            do {
                let file = try test.home.openFile(name.file, O_RDWR | O_CREAT | O_EXCL)
                guard let file else { throw VaultError.damaged("no file") }
                try test.database.copy(to: file.descriptor)
            }
            let copy = try DatabaseEnvironment.acquire(name, in: test.home, locks: locks)
            #expect(try TestDatabase.read(ReadTransaction(copy)).count == 1)
        }
        isOver.store(true, ordering: .relaxed)
        writer.wait(for: 1)
    }
}
