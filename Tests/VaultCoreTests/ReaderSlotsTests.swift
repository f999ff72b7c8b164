import Foundation
import Synchronization
@testable import VaultStorage
import SystemCalls
import TestSupport
import Testing
import VaultFormat

@testable import VaultCore

/// The lock-free hand-off of readers: what Docs/architecture.md numbers as its invariants.
@Suite struct ReaderSlotsTests {
    private static let places = 4

    /// Readers of one unlocked vault, and places with them, all idle.
    private struct Filled {
        let home: TestHome
        let vault: Vault
        let slots = ReaderSlots()
        let readers: [RecordReader]

        init(_ count: Int = ReaderSlotsTests.places) throws {
            home = try TestHome()
            vault = try home.unlocked()
            let gate = vault.gate
            var readers: [RecordReader] = []
            for _ in 0..<count { readers.append(try gate.enterWithReader()) }
            for _ in readers { gate.leave() }
            self.readers = readers
            for reader in readers { #expect(slots.fill(reader)) }
        }
    }

    private func name(_ taken: TakenReader?) -> ObjectIdentifier? {
        guard let taken else { return nil }
        return unsafe taken.reader._withUnsafeGuaranteedRef { ObjectIdentifier($0) }
    }

    @Test func `each idle reader is given once, and a reader beyond the places is not kept`() throws {
        let filled = try Filled()
        let more = try filled.vault.gate.enterWithReader()
        filled.vault.gate.leave()
        #expect(!filled.slots.fill(more))
        let taken = filled.readers.map { _ in filled.slots.take() }
        #expect(Set(taken.compactMap(name)) == Set(filled.readers.map(ObjectIdentifier.init)))
        #expect(name(filled.slots.take()) == nil)
        for one in taken { #expect(one?.giveBack() == true) }
        #expect(name(filled.slots.take()) != nil)
    }

    @Test func `a taken reader is used by one thread at a time`() throws {
        let filled = try Filled(1)
        let slots = filled.slots
        let users = Mutex(0)
        let surprises = Atomic(0)
        let start = GateTests.Steps()
        let threads = (0..<4).map { _ in
            GateTests.thread {
                start.reach()
                start.wait(for: 4)
                var (rounds, misses) = (0, 0)
                while rounds < 150_000 {
                    guard let taken = slots.take() else {
                        misses += 1
                        // Those who come at the very same moment are what this is about.
                        if misses.isMultiple(of: 1024) { sched_yield() }
                        continue
                    }
                    rounds += 1
                    var others = users.withLock { users in
                        users += 1
                        return users - 1
                    }
                    for _ in 0..<8 { others += users.withLock { $0 - 1 } }
                    users.withLock { $0 -= 1 }
                    if others != 0 || !taken.giveBack() { surprises.add(1, ordering: .sequentiallyConsistent) }
                }
            }
        }
        for ended in threads { ended.wait(for: 1) }
        let count = surprises.load(ordering: .sequentiallyConsistent)
        #expect(count == 0)
    }

    @Test func `a recalled reader never becomes idle again`() throws {
        let filled = try Filled()
        let taken = try #require(filled.slots.take())
        let idle = filled.slots.recall()
        #expect(idle.count == ReaderSlotsTests.places - 1)
        #expect(!taken.giveBack())
        #expect(name(filled.slots.take()) == nil)
        let back = filled.slots.takeBack(taken)
        #expect(back.map(ObjectIdentifier.init) == name(taken))
        #expect(name(filled.slots.take()) == nil)
        #expect(filled.slots.recall().isEmpty)
    }

    @Test func `a recalled reader keeps only a lock of its own unlocking or a later one waiting`() throws {
        let filled = try Filled()
        let generation = filled.readers[0].generation
        let me = ReaderSlots.thisThread
        let taken = try #require(filled.slots.take())
        #expect(!filled.slots.isRecalledUsed(upTo: generation, besidesBy: []), "not recalled yet")
        _ = filled.slots.recall()
        #expect(filled.slots.isRecalledUsed(upTo: generation, besidesBy: []))
        #expect(!filled.slots.isRecalledUsed(upTo: generation - 1, besidesBy: []), "let in by a later unlock")
        #expect(!filled.slots.isRecalledUsed(upTo: generation, besidesBy: [me]), "its own thread locks")
        _ = filled.slots.takeBack(taken)
        #expect(!filled.slots.isRecalledUsed(upTo: generation, besidesBy: []))
    }

    @Test func `a reader of older keys is not kept`() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        let old = try vault.gate.enterWithReader()
        let right = try secret("right")
        try vault.changePolicy(passcode: right, spending: vault.burnAttempt()) { policy throws(VaultError) in
            policy.attemptLimit = 7
        }
        vault.gate.leave(returning: old)
        #expect(name(vault.gate.takeReader()) == nil)
        let new = try vault.gate.enterWithReader()
        #expect(new !== old && new.generation > old.generation)
        vault.gate.leave(returning: new)
        let taken = try #require(vault.gate.takeReader())
        #expect(name(taken) == ObjectIdentifier(new))
        vault.gate.end(taken)
    }

    @Test func `a locked vault gives no reader`() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        vault.gate.leave(returning: try vault.gate.enterWithReader())
        vault.lock()
        #expect(name(vault.gate.takeReader()) == nil)
        #expect(errorCode { _ = try vault.gate.enterWithReader() } == .locked)
    }
}
