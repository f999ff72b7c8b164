import AgentMessages
import HoldfastAgent
import SecretMemory
import TestSupport
import Testing
import VaultCore
import VaultFormat
import VaultStorage

/// A change of self-destruct that the agent holds.
@Suite struct PendingChangeTests {
    private let scratch: Scratch
    private let agent: TestAgent
    private let owner: AgentClientBox

    init() throws {
        scratch = try Scratch()
        agent = try TestAgent(scratch)
        try agent.unlock()
        owner = try #require(try AgentClientBox(home: agent.home, runtime: agent.runtime))
    }

    private func begin(_ change: ChangeRequest.Change = .enable, passcode: String = "right") throws -> PendingChange {
        let passcode = try secret(passcode)
        return try owner.client.begin(change, countdown: nil, passcode: passcode)
    }

    private func finish(_ passcode: String = "right") throws {
        let passcode = try secret(passcode)
        try owner.client.finishChange(passcode: passcode)
    }

    private func pending() throws -> PendingChange? {
        let other = try agent.client()
        return try other.pendingChange()
    }

    private var isOn: Bool { get throws { try scratch.vault().status().policy.selfDestruct } }

    @Test func aWholeChange() throws {
        #expect(try pending() == nil)
        #expect(try begin() == PendingChange(change: .enable, countdown: 30_000, remaining: nil))
        #expect(errorCode { try finish() } == .notPending, "not before it is confirmed")
    }

    @Test func theCountdownRunsInTheAgent() throws {
        _ = try begin()
        try owner.client.confirmChange()
        #expect(try pending()?.remaining == 30_000)
        try agent.advance(seconds: 29)
        #expect(try pending()?.remaining == 1000)
        #expect(errorCode { try finish() } == .delayed)
        try agent.advance(seconds: 1)
        #expect(try pending()?.remaining == 0)
        #expect(try !isOn)
        try finish()
        #expect(try isOn)
        #expect(try pending() == nil)
        #expect(try agent.status().isUnlocked, "its own change does not lock the agent")
        // And off again, through the same connection.
        _ = try begin(.disable)
        try owner.client.confirmChange()
        try agent.advance(seconds: 30)
        try finish()
        #expect(try !isOn)
    }

    @Test func anybodyCancels() throws {
        _ = try begin()
        try owner.client.confirmChange()
        let other = try agent.client()
        try other.cancelChange()
        #expect(try pending() == nil)
        try agent.advance(seconds: 30)
        #expect(errorCode { try finish() } == .notPending)
        #expect(errorCode { try other.cancelChange() } == .notPending)
        #expect(try !isOn)
    }

    @Test func onlyWhoBeganGoesOn() throws {
        _ = try begin()
        let other = try agent.client()
        #expect(errorCode { try other.confirmChange() } == .notPending)
        try owner.client.confirmChange()
        try agent.advance(seconds: 30)
        let passcode = try secret("right")
        #expect(errorCode { try other.finishChange(passcode: passcode) } == .notPending)
        #expect(errorCode { _ = try other.begin(.enable, countdown: nil, passcode: passcode) } == .exists)
        try finish()
        #expect(try isOn)
    }

    @Test func aLockEndsIt() throws {
        _ = try begin()
        try owner.client.confirmChange()
        try agent.lock()
        #expect(try pending() == nil)
        try agent.unlock()
        try agent.advance(seconds: 30)
        #expect(errorCode { try finish() } == .notPending)
        #expect(try !isOn)
    }

    @Test func idleEndsIt() throws {
        let passcode = try secret("right")
        _ = try owner.client.begin(.enable, countdown: 3600, passcode: passcode)
        try owner.client.confirmChange()
        try agent.advance(seconds: 900)
        #expect(try !agent.status().isUnlocked, "waiting is no use of the vault")
        #expect(try pending() == nil)
    }

    /// The terminal that showed the countdown is gone.
    @Test func itsConnectionsEndEndsIt() throws {
        let passcode = try secret("right")
        do {
            let client = try agent.client()
            _ = try client.begin(.enable, countdown: nil, passcode: passcode)
            try client.confirmChange()
            #expect(try pending() != nil)
        }
        // Its place is free as soon as the agent has seen the end of the connection, which may take a few rounds.
        while try pending() != nil {}
        _ = try begin()
        #expect(try pending()?.remaining == nil)
    }

    @Test func aWrongPasscodeBeginsNothing() throws {
        #expect(errorCode { _ = try begin(passcode: "wrong") } == .wrongPasscode)
        #expect(try pending() == nil)
        _ = try begin()
        try owner.client.confirmChange()
        try agent.advance(seconds: 30)
        #expect(errorCode { try finish("wrong again") } == .wrongPasscode)
        #expect(try pending() == nil, "a refusal ends the change")
        #expect(try !isOn)
    }

    /// Nobody asks for what is pending in between, which would look whether it has ended.
    @Test func aRefusedBeginningStandsInNobodysWay() throws {
        #expect(errorCode { _ = try begin(passcode: "wrong") } == .wrongPasscode)
        let other = try agent.client()
        let passcode = try secret("right")
        _ = try other.begin(.enable, countdown: nil, passcode: passcode)
        #expect(errorCode { try owner.client.confirmChange() } == .notPending)
        try other.confirmChange()
    }

    @Test func whatIsSoAlreadyIsRefused() throws {
        #expect(errorCode { _ = try begin(.disable) } == .exists)
        #expect(try pending() == nil)
        try agent.lock()
        #expect(errorCode { _ = try begin() } == .locked)
    }
}
