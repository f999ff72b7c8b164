import Foundation
import SecretMemory
import Testing
import VaultFormat

@testable import VaultCore

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

    private func thread(_ body: @escaping @Sendable () -> Void) -> Steps {
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
            thread {
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
        let reader = thread {
            try? vault.withValue(for: "name") { _ in
                inside.reach()
                mayLeave.wait(for: 1)
            }
        }
        inside.wait(for: 1)
        let locker = thread { vault.lock() }
        while vault.isUnlocked { sched_yield() }
        try vault.unlock("right")
        mayLeave.reach()
        reader.wait(for: 1)
        locker.wait(for: 1)
        #expect(vault.isUnlocked, "unlocked after the lock")
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
            finisher = thread {
                try? vault.finishRekey { _, _ in moved.reach() }
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
