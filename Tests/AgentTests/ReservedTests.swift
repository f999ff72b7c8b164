import AgentMessages
import Foundation
import HoldfastAgent
import TestSupport
import Testing
import VaultCore
import VaultStorage

/// What of the vault is not the user's: no program that speaks to the agent reads it, writes it or learns that it is
/// there.
@Suite struct ReservedTests {
    @Test func theIdentitysSecretsDoNotLeaveTheAgent() throws {
        let scratch = try Scratch()
        let vault = try scratch.vault()
        let passcode = try secret("right")
        try vault.unlock(passcode: passcode, spending: vault.burnAttempt())
        let credentials = try secret("keys of the device")
        try vault.identityRecord.replace(with: credentials)
        vault.lock()
        let agent = try TestAgent(scratch)
        try agent.unlock()
        for (name, collection) in [("credentials", "\u{0}identity"), ("x", "\u{0}"), ("new", "\u{0}other")] {
            #expect(errorCode { _ = try agent.get(name, collection) } == .reservedCollection)
            #expect(errorCode { try agent.put([1], name, collection) } == .reservedCollection)
            #expect(errorCode { try agent.put([1], name, collection, replacing: true) } == .reservedCollection)
            #expect(errorCode { try agent.client().remove(path(name, collection)) } == .reservedCollection)
            #expect(errorCode { _ = try agent.client().list(collection) } == .reservedCollection)
        }
        #expect(try agent.client().list(nil).isEmpty)
        try agent.client().lock()
        try vault.unlock(passcode: passcode, spending: vault.burnAttempt())
        #expect(try vault.identityRecord.withValue { $0.byteCount } == 18)
    }

    /// An agent that was given nothing to work with says so, and one that is locked does nothing.
    @Test func anAgentWithoutAnIdentityService() throws {
        let agent = try TestAgent(Scratch())
        for action in [IdentityCall.Action.status, .openSession, .rotate] {
            #expect(errorCode { _ = try agent.client().identity(IdentityCall(action)) } == .agentProtocol)
        }
    }

    /// Nobody is asked for it, so it must not be what makes the agent ask.
    @Test func `no tag but one that lets git have a login is taken from all entries`() throws {
        let agent = try TestAgent(Scratch())
        try agent.unlock()
        for tag in ["ask-each-time", "no-forwarding", "work", "git:", "git:a/b", "GIT:h.example"] {
            #expect(errorCode { _ = try agent.client().disallow(tag: tag) } == .invalidItem, "\(tag)")
        }
        #expect(try agent.client().disallow(tag: "git:h.example") == 0)
    }
}
