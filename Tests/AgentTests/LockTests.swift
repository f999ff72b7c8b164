import AgentMessages
import Foundation
import HoldfastAgent
import TestSupport
import Testing
import VaultCore
import VaultFormat
import VaultStorage

/// When the keys go.
@Suite struct LockTests {
    @Test func idleLocks() throws {
        let agent = try TestAgent(Scratch())
        #expect(try agent.unlock() == 900_000)
        try agent.advance(seconds: 899)
        #expect(try agent.status().locksIn == 1000, "asking is no use of the vault")
        try agent.put([1], "name")
        #expect(try agent.status().locksIn == 900_000)
        try agent.advance(seconds: 899)
        #expect(try agent.get("name") == [1])
        try agent.advance(seconds: 899)
        #expect(try agent.status().isUnlocked)
        try agent.advance(seconds: 1)
        #expect(try !agent.status().isUnlocked)
        #expect(errorCode { _ = try agent.get("name") } == .locked)
        #expect(try agent.status().locksIn == nil)
    }

    @Test func eachUnlockHasTimesOfItsOwn() throws {
        let agent = try TestAgent(Scratch(), idle: 60, timeout: 100)
        #expect(try agent.unlock() == 60_000)
        try agent.advance(seconds: 59)
        #expect(errorCode { _ = try agent.get("name") } == .recordNotFound)
        #expect(try agent.status().locksIn == 41_000, "the timeout comes first")
        try agent.advance(seconds: 40)
        #expect(errorCode { _ = try agent.get("name") } == .recordNotFound)
        try agent.advance(seconds: 1)
        #expect(try !agent.status().isUnlocked)
        #expect(try agent.unlock(idle: 5) == 5000)
        #expect(errorCode { try agent.unlock("wrong") } == .wrongPasscode)
        #expect(try agent.status().locksIn == 5000, "a wrong passcode changes nothing")
        #expect(try agent.unlock(idle: 10, timeout: 8) == 8000)
        try agent.advance(seconds: 8)
        #expect(try !agent.status().isUnlocked)
    }

    /// What the machine's own sleep does: much time at once.
    @Test func aLongSleepLocks() throws {
        let agent = try TestAgent(Scratch())
        try agent.unlock()
        try agent.put(pattern(3_000_000), "big")
        let raw = try agent.raw()
        raw.send(Request.records(.get(try path("big"))).head())
        #expect(try raw.receive() == .piece(0..<65_536))
        try agent.advance(seconds: 8 * 3600)
        #expect(try !agent.status().isUnlocked)
        var last: Reply?
        while let reply = try raw.receive() {
            last = reply
            if reply.code != nil || reply.kind == .finished { break }
        }
        #expect(last?.code == "locked", "a value under way ends with the lock")
    }

    /// Who reads nothing keeps nothing of an open vault in a locked agent.
    @Test func whatNobodyTakesIsForgotten() throws {
        let agent = try TestAgent(Scratch(), patience: 50)
        try agent.unlock()
        try agent.put(pattern(3_000_000), "big")
        let raw = try agent.raw()
        raw.send(Request.records(.get(try path("big"))).head())
        #expect(try raw.receive() == .piece(0..<65_536))
        // Until the socket is full, or seems to be.
        var before = -1
        while before != raw.available {
            before = raw.available
            for _ in 0..<100 { _ = try agent.status() }
        }
        try agent.lock()
        // The agent has the rest of a message, unless it ended with one and has said so.
        let frame = 65_536 + Frame.size
        if raw.available % frame > 1_000 {
            #expect(raw.waitForClose(), "the agent waits for this client for ever")
        }
        var pieces = 1
        while let reply = try? raw.receive(), reply.kind == .piece { pieces += 1 }
        #expect(pieces < 3_000_000 / 65_536)
    }

    /// The rules of the vault bound what may be asked for.
    @Test func theVaultsOwnTimingIsTheLongest() throws {
        let scratch = try Scratch()
        let vault = try scratch.vault()
        let passcode = try secret("right")
        try vault.changePolicy(passcode: passcode, spending: vault.burnAttempt()) { policy throws(VaultError) in
            policy.lockTiming = .after(seconds: 30)
        }
        let agent = try TestAgent(scratch)
        #expect(try agent.unlock() == 30_000)
        #expect(try agent.unlock(idle: 3600) == 30_000)
        #expect(try agent.unlock(idle: 5) == 5000)
        try agent.advance(seconds: 5)
        #expect(try !agent.status().isUnlocked)
    }

    /// Lock against everything at once: after its answer nothing opens, whoever was in the middle of what.
    @Test func afterTheAnswerNothingOpens() throws {
        let agent = try TestAgent(Scratch())
        try agent.unlock()
        try agent.put(pattern(100_000), "name")
        let (home, runtime) = (agent.home, agent.runtime)
        for round in 0..<10 {
            try agent.unlock()
            let isLocked = Shared(false)
            let late = Shared(0)
            inThreads(9) { index in
                guard let client = try? AgentClientBox(home: home, runtime: runtime) else { return }
                if index == 4 {
                    try? client.client.lock()
                    isLocked.change { $0 = true }
                    return
                }
                while true {
                    let wasLocked = isLocked.value
                    do {
                        try client.client.get(path("name")) { _ in }
                        if wasLocked { late.change { $0 += 1 } }
                    } catch { return }
                }
            }
            #expect(late.value == 0, "round \(round)")
            #expect(try !agent.status().isUnlocked)
        }
    }

    /// Unlocks that were asked for before a lock do not open after it.
    @Test func aLockCancelsWaitingUnlocks() throws {
        let agent = try TestAgent(Scratch())
        let passcode = Array("right".utf8)
        let request = Request.lock(.unlock(.passcode, idle: nil, timeout: nil, secret: 0..<5))
        let waiting = try (0..<30).map { _ in
            let raw = try agent.raw()
            raw.send(request.head(payload: 5) + passcode)
            return raw
        }
        try agent.lock()
        #expect(try !agent.status().isUnlocked)
        // They were all sent before; each was either done before the lock or never.
        for raw in waiting {
            let reply = try raw.receive()
            #expect(reply?.kind == .unlocked || reply?.code == "locked", "\(String(describing: reply))")
        }
        #expect(try !agent.status().isUnlocked)
    }

    @Test("signal", arguments: [SIGTERM, SIGINT, SIGHUP])
    func aSignalEndsIt(_ signal: Int32) throws {
        let agent = try TestAgent(Scratch())
        try agent.unlock()
        #expect(agent.end(with: signal) == 0)
        #expect(!FileManager.default.fileExists(atPath: agent.socketPath))
    }

    @Test func shutDownAnswersAndEnds() throws {
        let agent = try TestAgent(Scratch())
        try agent.unlock()
        let client = try agent.client()
        try client.shutDown()
        #expect(agent.waitForEnd() == 0)
        #expect(!FileManager.default.fileExists(atPath: agent.socketPath))
    }
}
