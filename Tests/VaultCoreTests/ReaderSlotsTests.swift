import Foundation
import Synchronization
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
        let filled = try Filled(2)
        let uses = Uses(filled.readers.count)
        let slots = filled.slots
        let names = filled.readers.map(ObjectIdentifier.init)
        let threads = (0..<4).map { _ in
            GateTests.thread {
                var rounds = 0
                while rounds < 20_000 {
                    guard let taken = slots.take() else {
                        sched_yield()
                        continue
                    }
                    rounds += 1
                    let reader = unsafe taken.reader._withUnsafeGuaranteedRef { ObjectIdentifier($0) }
                    uses.enter(names.firstIndex(of: reader) ?? 0)
                    if rounds.isMultiple(of: 64) { sched_yield() }
                    uses.leave(names.firstIndex(of: reader) ?? 0)
                    if !taken.giveBack() { uses.fail() }
                }
            }
        }
        for ended in threads { ended.wait(for: 1) }
        #expect(uses.overlaps == 0)
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

/// Counts users of numbered things, and how often one had two.
private final class Uses: Sendable {
    private let users: Mutex<[Int]>
    private let failures = Atomic(0)

    init(_ count: Int) { users = Mutex(Array(repeating: 0, count: count)) }

    var overlaps: Int { failures.load(ordering: .sequentiallyConsistent) }

    func enter(_ number: Int) {
        let isFirst = users.withLock { users in
            users[number] += 1
            return users[number] == 1
        }
        if !isFirst { fail() }
    }

    func leave(_ number: Int) { users.withLock { $0[number] -= 1 } }

    func fail() { failures.add(1, ordering: .sequentiallyConsistent) }
}
