import AgentMessages
import Foundation
import HoldfastAgent
import TestSupport
import Testing
import VaultCore
import VaultHeader
import VaultFormat
import VaultStorage

/// Clients that send garbage, send slowly, go away, or are too many.
@Suite(.seeded) struct HostileTests {
    @Test func garbageEndsItsOwnConnectionOnly() throws {
        let agent = try TestAgent(Scratch())
        try agent.unlock()
        try agent.put([1], "name")
        let messages: [([UInt8], String)] = [
            ([0, 0, 0, 0, 2, 9], "agentProtocol"),  // another version
            ([0, 0, 0, 0, 1, 77], "agentProtocol"),  // no such message
            ([0, 0, 0, 0, 1, 128], "agentProtocol"),  // an answer
            ([255, 255, 255, 255, 1, 9], "agentProtocol"),  // 4 GiB to come
            ([1, 16, 0, 0, 1, 5], "agentProtocol"),  // 4,097 bytes of a request
            ([1, 0, 0, 0, 1, 9, 0], "agentProtocol"),  // a byte behind a message without fields
            ([0, 0, 0, 0, 1, 5], "agentProtocol"),  // no fields
            (Request.transfer(.data(0..<1)).head(payload: 1) + [1], "agentProtocol"),  // a piece that nobody takes
            (Frame.bytes(kind: 3, bodySize: 12) + [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], "closed"),  // cut, then closed
        ]
        for (message, code) in messages {
            let raw = try agent.raw()
            raw.send(message)
            if code == "closed" { shutdown(raw.socket, Int32(SHUT_WR)) }
            let reply = try raw.receive()
            #expect(reply?.code == (code == "closed" ? nil : code), "\(message)")
            if reply != nil { #expect(try raw.receive() == nil, "it stays open after \(message)") }
            #expect(try agent.get("name") == [1])
        }
        var random = SeededGenerator()
        for round in 0..<300 {
            let raw = try agent.raw()
            var bytes = (0..<Int.random(in: 1...200, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            if round % 2 == 0, bytes.count > 6 {
                bytes.replaceSubrange(
                    0..<6, with: Frame.bytes(kind: UInt8.random(in: 1...13, using: &random), bodySize: bytes.count - 6))
                // A lucky lock or end would be right, and the end of this test.
                if [4, 10].contains(bytes[5]) { bytes[5] = 5 }
            }
            raw.send(bytes)
        }
        #expect(try agent.get("name") == [1])
        #expect(try agent.status().isUnlocked)
    }

    /// Each has sent a part of a message and sends no more, as one does that sends a byte a second.
    @Test func slowClientsStopNobody() throws {
        let agent = try TestAgent(Scratch())
        try agent.unlock()
        try agent.put([1], "name")
        let whole = Request.records(.get(try path("name"))).head()
        let slow = try (0..<40).map { index in
            let raw = try agent.raw()
            raw.send(Array(whole.prefix(1 + index % (whole.count - 1))))
            return raw
        }
        #expect(try agent.status().connections == 41)
        #expect(try agent.get("name") == [1])
        // One that continues is served.
        let last = slow[0]
        for byte in whole[1...] { last.send([byte]) }
        #expect(try last.receive() == .piece(0..<1))
        #expect(try last.receive() == .finished(1))
    }

    @Test func aMessageHasAnEnd() throws {
        let agent = try TestAgent(Scratch(), patience: 50)
        let raw = try agent.raw()
        raw.send([0, 0])
        #expect(try raw.receive()?.code == "agentProtocol")
        #expect(try raw.receive() == nil)
        #expect(try agent.status().connections == 1)
    }

    /// A client that takes nothing of its answers costs what fits into its socket.
    @Test func aClientThatDoesNotReadStopsNobody() throws {
        let agent = try TestAgent(Scratch())
        try agent.unlock()
        try agent.put(pattern(5_000_000), "big")
        let deaf = try (0..<20).map { _ in
            let raw = try agent.raw()
            raw.send(Request.records(.get(try path("big"))).head())
            return raw
        }
        #expect(try agent.get("big") == pattern(5_000_000))
        #expect(try agent.status().connections == 21)
        // The lock ends what they were in the middle of.
        try agent.lock()
        var codes: [String] = []
        for raw in deaf {
            while let reply = try raw.receive() {
                if let code = reply.code {
                    codes.append(code)
                    break
                }
                if case .finished = reply {
                    Issue.record("it read all of it")
                    break
                }
            }
        }
        #expect(codes == [String](repeating: "locked", count: 20))
    }

    @Test func aThousandConnections() throws {
        let limit = rlimit(rlim_cur: 4096, rlim_max: 4096)
        var old = rlimit()
        unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &old)
        if old.rlim_cur < 4096 {
            var wanted = rlimit(rlim_cur: min(limit.rlim_cur, old.rlim_max), rlim_max: old.rlim_max)
            unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &wanted)
        }
        let agent = try TestAgent(Scratch())
        try agent.unlock()
        try agent.put([1], "name")
        let kept = try agent.client()
        var idle: [RawConnection] = []
        for count in 0..<1000 {
            idle.append(try agent.raw())
            if count % 100 == 0 {
                #expect(try agent.get("name") == [1])
                try kept.ping()
            }
        }
        #expect(try agent.get("name") == [1])
        let status = try agent.status()
        #expect(status.connections <= 256 && status.connections > 200)
        // Who had to go was told why.
        #expect(try idle[0].receive()?.code == "busy")
        #expect(try idle[0].receive() == nil)
        idle = []
        try kept.ping()
        #expect(try agent.get("name") == [1])
    }

    /// Killed in the middle of a value: nothing of it stays, and the vault is whole.
    @Test func aClientThatGoesAwayLeavesNothing() throws {
        let agent = try TestAgent(Scratch())
        try agent.unlock()
        for size in [1000, 65_536, 2_000_000] {
            let raw = try agent.raw()
            raw.send(Request.records(.put(try path("half"), replacing: false)).head())
            #expect(try raw.receive() == .ready)
            var sent = 0
            while sent < size {
                let count = min(65_536, size - sent)
                raw.send(Request.transfer(.data(0..<count)).head(payload: count) + pattern(count))
                #expect(try raw.receive() == .ready)
                sent += count
            }
            // And a message that is cut.
            raw.send(Array(Request.transfer(.data(0..<100)).head(payload: 100) + [1, 2, 3]))
        }
        for _ in 0..<20 {
            let raw = try agent.raw()
            raw.send(Request.records(.list(collection: nil)).head())
            raw.send(Request.records(.get(try path("none"))).head())
        }
        try agent.put([1], "name")
        #expect(try agent.get("name") == [1])
        #expect(errorCode { _ = try agent.get("half") } == .recordNotFound)
        try agent.lock()
        let vault = try agent.scratch.vault()
        let passcode = try secret("right")
        try vault.unlock(passcode: passcode, spending: vault.burnAttempt())
        #expect(try vault.records().map(\.name) == ["name"])
        let result = try vault.verify()
        #expect(result.isIntact && result.orphanedFiles == 0)
    }

    @Test func requestsInTheMiddleOfAValueAreRefused() throws {
        let agent = try TestAgent(Scratch())
        try agent.unlock()
        let raw = try agent.raw()
        raw.send(Request.records(.put(try path("name"), replacing: false)).head())
        #expect(try raw.receive() == .ready)
        raw.send(Request.connection(.status).head())
        #expect(try raw.receive()?.code == "agentProtocol")
        raw.send(Request.transfer(.end).head())
        #expect(try raw.receive()?.code == "agentProtocol")
        raw.send(Request.connection(.ping).head())
        #expect(try raw.receive() == .done)
        #expect(errorCode { _ = try agent.get("name") } == .recordNotFound)
    }

    /// 64 clients, half of them beside the agent, each with wrong passcodes of its own: together they get the limit.
    @Test func guessersShareOneBudget() throws {
        let agent = try TestAgent(Scratch())
        let codes = Shared<[String: Int]>([:])
        for round in 0..<5 {
            let (home, runtime) = (agent.home, agent.runtime)
            let settings = agent.scratch.settings
            inThreads(64) { guesser in
                let code = HostileTests.guess(
                    "wrong \(round) \(guesser)", guesser % 2 == 0 ? nil : settings, home, runtime)
                codes.change { $0[code, default: 0] += 1 }
            }
            // Longer than every delay but the hour that follows the limit.
            try agent.advance(seconds: 61)
        }
        let counts = codes.value
        #expect(counts["wrongPasscode"] == 5, "\(counts)")
        #expect(
            counts["wrongPasscode", default: 0] + counts["delayed", default: 0]
                + counts["attemptsExhausted", default: 0] + counts["busy", default: 0] == 5 * 64, "\(counts)")
        #expect(try agent.scratch.vault().status().refusedAttempts == 5)
        #expect(try !agent.status().isUnlocked)
        #expect(errorCode { try agent.unlock("right") } != nil, "the right one too has to wait")
        try agent.advance(seconds: 3600)
        try agent.unlock("right")
        #expect(try agent.scratch.vault().status().remainingAttempts == 5)
    }

    /// - Parameter beside: Settings of a vault of its own; nil goes through the agent.
    private static func guess(
        _ passcode: String, _ beside: VaultSettings?, _ home: String, _ runtime: String?
    ) -> String {
        do {
            let passcode = try secret(passcode)
            if let beside {
                let vault = try Vault(at: home, settings: beside)
                try vault.unlock(passcode: passcode, spending: vault.burnAttempt())
            } else {
                guard let client = try AgentClientBox(home: home, runtime: runtime) else { return "no agent" }
                _ = try client.client.unlock(.passcode, passcode)
            }
            return "opened"
        } catch { return (error as? VaultError)?.code.description ?? "\(error)" }
    }
}
