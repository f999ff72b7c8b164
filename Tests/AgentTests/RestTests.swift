import AgentMessages
import Foundation
import HoldfastAgent
import KeyStores
import RealParts
import TestSupport
import Testing
import VaultCore
import VaultHeader
import VaultFormat

/// An agent that a service manager starts again ends when it is not needed, and only where nothing is lost by that.
@Suite struct RestTests {
    /// Lets ten minutes pass again and again until the agent has ended.
    private func restUntilEnd(_ agent: TestAgent) -> Bool {
        Patience.wait {
            agent.pass(seconds: 600)
            return !agent.isRunning
        }
    }

    /// Lets a long time pass, with a client in between, so that the agent has seen each step.
    private func expectToStay(_ agent: TestAgent, _ why: Comment) throws {
        for _ in 0..<3 { try agent.advance(seconds: 3000) }
        agent.pass(seconds: 600)
        // The clock is read before clients are heard.
        #expect((try? agent.status()) != nil, why)
    }

    @Test func `a locked agent that nobody needs ends, and leaves the manager's sockets`() throws {
        let agent = try TestAgent(Scratch(), parts: ["SUBJECT_PASSED": "agent:ssh"])
        try agent.unlock()
        try agent.lock()
        #expect(restUntilEnd(agent) && agent.waitForEnd() == 0)
        let left = try FileManager.default.contentsOfDirectory(atPath: agent.scratch.runtime + "/holdfast")
        #expect(left.sorted() == ["agent.sock", "ssh.sock"])
    }

    @Test func `an agent that locks by itself ends after that`() throws {
        let agent = try TestAgent(Scratch(), parts: ["SUBJECT_PASSED": "ssh"])
        try agent.unlock()
        agent.pass(seconds: 800)
        #expect(try agent.status().isUnlocked)
        #expect(restUntilEnd(agent))
    }

    @Test func `an agent that no manager started stays`() throws {
        try expectToStay(TestAgent(Scratch()), "it was started for good")
    }

    @Test func `a client sees that the agent has ended`() throws {
        let agent = try TestAgent(Scratch())
        let client = try agent.client()
        let other = try agent.client()
        try client.ping()
        let before = client.isConnected
        try other.shutDown()
        _ = agent.waitForEnd()
        let after = client.isConnected
        #expect(before && !after)
    }

    @Test func `a client keeps it, and its end does not`() throws {
        let agent = try TestAgent(Scratch(), parts: ["SUBJECT_PASSED": "agent"])
        func stay() throws {
            let client = try agent.client()
            for _ in 0..<3 {
                agent.pass(seconds: 3000)
                try client.ping()
            }
        }
        try stay()
        #expect(restUntilEnd(agent))
    }

    @Test func `a client that comes when it ends is served by it or by the next one, and never cut off`() throws {
        let agent = try TestAgent(Scratch(), parts: ["SUBJECT_PASSED": "agent"])
        var served = 0
        while agent.isRunning {
            agent.pass(seconds: 600)
            // Nil where its name is gone: then the manager's socket is there.
            guard let client = try AgentClient(home: agent.home, runtime: agent.runtime) else {
                // It serves only where its name is there again: nobody takes it for one in another runtime folder.
                let isThere =
                    try !HomeClaim.isServing(home: agent.home)
                    || AgentClientBox(home: agent.home, runtime: agent.runtime) != nil
                #expect(isThere)
                continue
            }
            try client.ping()
            served += 1
            if served >= 200 { break }
        }
        #expect(agent.isRunning || agent.waitForEnd() == 0)
    }

    @Test func `one that serves what somebody was told of stays`() throws {
        let ssh = try TestAgent(Scratch(), parts: ["SUBJECT_PASSED": "agent"])
        _ = try ssh.client().serveSSH()
        try expectToStay(ssh, "the path of its SSH socket was told")
    }

    @Test(.enabled(if: PrivateBus.isInstalled, "dbus-daemon is not installed: no agent is the Secret Service"))
    func `one that is the Secret Service stays`() throws {
        let bus = try PrivateBus()
        let secrets = try TestAgent(
            Scratch(), parts: ["SUBJECT_PASSED": "agent"].merging(bus.environment) { $1 })
        try secrets.client().serveSecrets()
        try expectToStay(secrets, "it is the Secret Service")
    }

    /// Which vault may be opened without asking is known to the agent that saw it alone.
    @Test func `one that may open a vault without asking stays`() throws {
        let scratch = try Scratch(vault: false)
        var settings = scratch.settings
        settings.shareStores = { .files(in: $0 + "/shares") }
        try Vault.createAtDevice(at: scratch.home, settings: settings)
        let agent = try TestAgent(scratch, parts: ["SUBJECT_PASSED": "agent", "SUBJECT_SHARES": "1"])
        try expectToStay(agent, "it knows the vault that asked nobody")
    }

    /// The share of a confirmed owner, and how often a finger did not match, are in its memory alone.
    @Test(.enabled(if: AccountModule.path != nil, "no PAM module for tests: no owner is confirmed"))
    func `one that keeps the owner's share stays`() throws {
        let scene = try Scene(.owner)
        let agent = try TestAgent(scene.scratch, parts: scene.parts.merging(["SUBJECT_PASSED": "agent"]) { $1 })
        try scene.open(agent, .passcode)
        try agent.lock()
        try expectToStay(agent, "it keeps the owner's share")
    }
}
