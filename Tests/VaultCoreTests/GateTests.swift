import Foundation
import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultFormat

@testable import VaultCore
@testable import VaultHeader
@testable import VaultStorage
import SystemCalls

/// Locking against operations of other threads: it comes back, and nothing brings the keys back after it.
@Suite struct GateTests {
    /// Counts steps of several threads; waits without a time limit, so that a hang shows as one.
    final class Steps: Sendable {
        private let count = Monitor(0)
        func reach() {
            count.withLock { $0 += 1 }
            count.wakeAll()
        }
        func wait(for number: Int) { count.withLock(when: { $0 >= number }) { _ in } }
    }

    static func thread(_ body: @escaping @Sendable () -> Void) -> Steps {
        let ended = Steps()
        Thread {
            body()
            ended.reach()
        }.start()
        return ended
    }

    @Test func closuresThatLockDoNotWaitForEachOther() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        try vault.put([1], "name")
        let inside = Steps()
        let threads = (0..<2).map { _ in
            GateTests.thread {
                try? vault.withValue(for: "name") { _ in
                    inside.reach()
                    inside.wait(for: 2)
                    vault.lock()
                }
            }
        }
        for ended in threads { ended.wait(for: 1) }
        #expect(!vault.isUnlocked)
    }

    @Test func aLockIsNotKeptWaitingByALaterUnlock() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        try vault.put([1], "name")
        let inside = Steps()
        let mayLeave = Steps()
        let reader = GateTests.thread {
            try? vault.withValue(for: "name") { _ in
                inside.reach()
                mayLeave.wait(for: 1)
            }
        }
        inside.wait(for: 1)
        let locker = GateTests.thread { vault.lock() }
        while vault.isUnlocked { sched_yield() }
        try vault.unlock("right")
        mayLeave.reach()
        reader.wait(for: 1)
        locker.wait(for: 1)
        #expect(vault.isUnlocked, "unlocked after the lock")
    }

    @Test("a lock returns when the readers that were let in before are out", arguments: [false, true])
    func lockWaitsForReaders(isReaderKept: Bool) throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        try vault.put([1], "name")
        if isReaderKept { _ = try vault.get("name") }
        let inside = Steps()
        let mayLeave = Steps()
        let isOut = Atomic(false)
        let wasOut = Atomic(false)
        let reader = GateTests.thread {
            try? vault.withValue(for: "name") { _ in
                inside.reach()
                mayLeave.wait(for: 1)
                isOut.store(true, ordering: .sequentiallyConsistent)
            }
        }
        inside.wait(for: 1)
        let locker = GateTests.thread {
            vault.lock()
            wasOut.store(isOut.load(ordering: .sequentiallyConsistent), ordering: .sequentiallyConsistent)
        }
        while vault.isUnlocked { sched_yield() }
        for _ in 0..<1_000 { sched_yield() }
        mayLeave.reach()
        reader.wait(for: 1)
        locker.wait(for: 1)
        let waited = wasOut.load(ordering: .sequentiallyConsistent)
        #expect(waited)
    }

    @Test("nobody reads after a lock, whatever many threads do at once")
    func nobodyReadsAfterALock() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        try vault.put([1, 2, 3], "name")
        let inside = Atomic(0)
        let reads = Atomic(0)
        let others = Atomic(0)
        let isOver = Atomic(false)
        let threads = (0..<6).map { _ in
            GateTests.thread {
                while !isOver.load(ordering: .relaxed) {
                    do {
                        try vault.withValue(for: "name") { value in
                            inside.add(1, ordering: .sequentiallyConsistent)
                            if value.array != [1, 2, 3] { others.add(1, ordering: .relaxed) }
                            sched_yield()
                            inside.subtract(1, ordering: .sequentiallyConsistent)
                        }
                        reads.add(1, ordering: .relaxed)
                    } catch let error as VaultError where error.code == .locked {
                        sched_yield()
                    } catch { others.add(1, ordering: .relaxed) }
                }
            }
        }
        var seen = 0
        for _ in 0..<20 {
            while reads.load(ordering: .relaxed) < seen + 50 { sched_yield() }
            vault.lock()
            let still = inside.load(ordering: .sequentiallyConsistent)
            #expect(still == 0)
            seen = reads.load(ordering: .relaxed)
            try vault.unlock("right")
        }
        isOver.store(true, ordering: .relaxed)
        for ended in threads { ended.wait(for: 1) }
        let surprises = others.load(ordering: .relaxed)
        #expect(surprises == 0)
        #expect(try vault.get("name") == [1, 2, 3])
    }

    @Test func aClosureThatLocksAndUnlocksReadsOn() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        try vault.put([1], "name")
        _ = try vault.get("name")
        let read = try vault.withValue(for: "name") { value in
            vault.lock()
            #expect(throws: VaultError.self) { try vault.get("name") }
            try vault.unlock("right")
            // The buffer of the reader that was recalled is this closure's until it ends.
            return try vault.get("name") + value.array
        }
        #expect(read == [1, 1])
        #expect(try vault.get("name") == [1])
    }

    /// Who locked waits for others still and takes the stream's keys when they are out: nobody may use them then.
    @Test("a stream that a lock has ended does not go on under a later unlock", arguments: [false, true])
    func aLockEndsStreamsForGood(isWriter: Bool) throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        try vault.put([1], "name")
        try vault.stream(pattern(3 << 20), "file")
        let reader = try vault.reader(for: "file", in: Vault.defaultCollection)
        let writer = try vault.writer(for: "new", in: Vault.defaultCollection, replacing: false)
        let piece = pattern(FileFormat.chunkSize)
        func readOn() throws {
            if isWriter { try piece.withRawSpan { try writer.append($0) } } else { try reader.next { _, _ in } }
        }
        for _ in 0..<20 { try readOn() }
        let inside = Steps()
        let mayLeave = Steps()
        let other = GateTests.thread {
            try? vault.withValue(for: "name") { _ in
                inside.reach()
                mayLeave.wait(for: 1)
            }
        }
        inside.wait(for: 1)
        let locker = GateTests.thread { vault.lock() }
        while vault.isUnlocked { sched_yield() }
        try vault.unlock("right")
        #expect(errorCode { for _ in 0..<2 { try readOn() } } == .locked)
        mayLeave.reach()
        other.wait(for: 1)
        locker.wait(for: 1)
        #expect(try vault.readAll("file") == pattern(3 << 20), "a new one does")
        #expect(errorCode { _ = try vault.get("new") } == .recordNotFound)
    }

    @Test("new keys for who has it open do not end a stream")
    func aStreamGoesOnUnderNewRules() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        try vault.stream(pattern(3 << 20), "file")
        let reader = try vault.reader(for: "file", in: Vault.defaultCollection)
        _ = try reader.next { _, _ in }
        let right = try secret("right")
        try vault.changePolicy(passcode: right, spending: vault.burnAttempt()) { policy throws(VaultError) in
            policy.attemptLimit = 7
        }
        try reader.next { piece, isLast in #expect(piece.byteCount == FileFormat.chunkSize && !isLast) }
        vault.lock()
        #expect(errorCode { _ = try reader.next { _, _ in } } == .locked)
    }

    @Test func finishingARekeyDoesNotUndoALock() throws {
        let home = try TestHome()
        let phrase = try home.create()
        let vault = try home.open()
        try vault.unlock("right")
        try vault.put([1], "name")
        let right = try secret("right")
        try vault.rekey(
            passcode: right, spending: vault.burnAttempt(), newPasscode: right, phrase: phrase.phrase,
            isNewPhrase: false)
        let moved = Steps()
        let finisher: Steps
        do {
            // While the header is held by somebody else the last step waits, outside of the gate.
            let held = try LockedHeader(in: home.open().home)
            finisher = GateTests.thread {
                _ = try? vault.finishRekey { _, _ in moved.reach() }
            }
            moved.wait(for: 1)
            vault.lock()
            #expect(held.header.epoch == 2)
        }
        finisher.wait(for: 1)
        #expect(!vault.isUnlocked)
        try vault.unlock("right")
        try vault.finishRekey()
        #expect(try vault.get("name") == [1])
        #expect(try !vault.isRekeyUnfinished)
    }
}
