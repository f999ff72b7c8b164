import BetterAuth
import BetterAuthVerification
import BetterAuthMessages
import BetterAuthServer
import Holdfast
import HoldfastUI
import Synchronization
import TestSupport
import Testing

@MainActor @Suite(.serialized, .patient) struct IdentityModelTests {
    static let address = "https://auth.example"

    @Test func aLifeFromReadyToAuthenticatedAndBack() async throws {
        let scratch = try Scratch()
        let models = try await scratch.open()
        let server = try NearServer()
        let identity = server.model(models.lock)
        await identity.load()
        #expect(identity.facts.state == .ready && identity.facts.identity == nil)
        await identity.create(at: Self.address)
        #expect(identity.outcome?.action == .create && identity.outcome?.problem == .wrongPhrase, "no phrase was shown")
        identity.prepare(.create)
        #expect(identity.withPhrase(text)?.split(separator: " ").count == 24)
        server.isCut.withLock { $0 = true }
        await identity.create(at: Self.address)
        #expect(identity.outcome?.problem != nil && identity.facts.state == .unconfirmed)
        #expect(identity.prepared == .create, "the same words are tried again")
        server.isCut.withLock { $0 = false }
        await identity.create(at: Self.address)
        #expect(identity.outcome?.action == .create && identity.outcome?.problem == nil)
        #expect(identity.facts.state == .created && identity.facts.identity?.count == 44)
        #expect(identity.withPhrase(text) == nil && identity.prepared == nil)
        await identity.refreshSession()
        #expect(identity.outcome?.problem == .noSession)
        await identity.openSession()
        #expect(identity.facts.state == .authenticated && identity.facts.sessionEnds != nil)
        await identity.refreshSession()
        await identity.rotate()
        #expect(identity.outcome?.action == .rotate && identity.outcome?.problem == nil)
        await identity.link("no container", passcode: try secret("right"))
        #expect(identity.outcome?.problem == .invalidContainer)
        await identity.endSession()
        #expect(identity.facts.state == .created)
        await identity.delete(passcode: try secret("right"))
        #expect(identity.outcome?.problem == nil && identity.facts.state == .ready)
        #expect(models.vault.items.isEmpty, "the credentials are no item")
    }

    @Test func anotherDeviceJoinsByItsContainer() async throws {
        let (first, second) = (try Scratch(), try Scratch())
        let server = try NearServer()
        let (mine, theirs) = (try await first.open(), try await second.open())
        let (one, two) = (server.model(mine.lock), server.model(theirs.lock))
        one.prepare(.create)
        await one.create(at: Self.address)
        let name = try #require(one.facts.identity)
        await two.makeContainer(for: name, at: Self.address)
        let container = try #require(two.container)
        #expect(two.facts.state == .linking)
        await one.link(container, passcode: try secret("right"))
        #expect(one.outcome?.problem == nil)
        await two.openSession()
        #expect(two.facts.state == .authenticated && two.facts.identity == name)
    }

    @Test func aRequestIsAnsweredInTheSessionOnly() async throws {
        let scratch = try Scratch()
        let identity = try NearServer().model(try await scratch.open().lock)
        await identity.request("/foo/bar", #"{"a":1}"#)
        #expect(identity.outcome?.problem == .invalidAddress, "no server was named yet")
        identity.prepare(.create)
        await identity.create(at: Self.address)
        await identity.request("/foo/bar", #"{"a":1}"#)
        #expect(identity.outcome?.problem == .noSession && identity.answer == nil)
        for (path, json) in [("foo", "{}"), ("/foo", "{ }"), ("/foo", "")] {
            await identity.request(path, json)
            #expect(identity.outcome?.problem == .invalidRequest, "\(path) \(json)")
        }
        await identity.request("/foo", "{}", at: "http://example.org")
        #expect(identity.outcome?.problem == .invalidAddress, "plain http goes to this machine only")
    }

    @Test func aDrillAsksForOtherWordsEachTimeAndNotesHowItWent() async throws {
        let scratch = try Scratch()
        let models = try await scratch.open()
        let identity = try NearServer().model(models.lock)
        await identity.drill(try secret("abandon abandon abandon"))
        #expect(identity.outcome?.problem == .noAccount)
        identity.prepare(.create)
        let words = try #require(identity.withPhrase(text)).split(separator: " ").map(String.init)
        await identity.create(at: Self.address)
        let first = try #require(identity.facts.drill)
        #expect(first.positions.count == 3 && first.positions == first.positions.sorted() && !first.isDue)
        let right = first.positions.map { words[$0 - 1] }.joined(separator: " ")
        await identity.drill(try secret("no such words"))
        #expect(identity.outcome?.problem == .wrongPhrase && identity.facts.drill == first, "nothing was compared")
        let wrong = right == "zoo zoo zoo" ? "abandon abandon abandon" : "zoo zoo zoo"
        await identity.drill(try secret(wrong))
        #expect(identity.outcome?.action == .drill && identity.outcome?.problem == .drillFailed)
        #expect(identity.facts.drill?.positions == first.positions, "the same words again")
        await identity.drill(try secret(right.uppercased()))
        #expect(identity.outcome?.action == .drill && identity.outcome?.problem == nil)
        let second = try #require(identity.facts.drill)
        #expect(Set(second.positions).isDisjoint(with: first.positions))
        #expect(try #require(second.due) > #require(first.due))
        let log = try models.lock.app.vault.securityLog().entries.map(\.event)
        #expect(log.filter { $0.name == "drill" }.map { $0["passed"] } == [.flag(false), .flag(true)])
        models.lock.panic()
        await identity.drill(try secret(right))
        #expect(identity.outcome?.problem == .locked && identity.facts.drill == nil)
    }

    /// Two phrases belong to one owner, and people type the wrong one.
    @Test func theVaultsOwnPhraseIsRecognised() async throws {
        let scratch = try Scratch()
        let words = try scratch.create()
        let models = ReadyModels(try scratch.app(), interface: "test")
        await models.lock.handle(.launch)
        await models.lock.handle(.didBecomeActive)
        await models.lock.unlock(.passcode, try secret("right"))
        let identity = try NearServer().model(models.lock)
        identity.prepare(.create)
        let own = try #require(identity.withPhrase(text))
        await identity.create(at: Self.address)
        let name = try #require(identity.facts.identity)
        await identity.erase(passcode: try secret("right"))
        #expect(identity.facts.state == .ready)
        identity.prepare(.recover)
        await identity.recover(name, at: Self.address, phrase: try secret(words))
        #expect(identity.outcome?.problem == .vaultPhrase)
        await identity.recover("E", at: Self.address, phrase: try secret(own))
        #expect(identity.outcome?.problem == .invalidIdentity)
        await identity.recover(name, at: Self.address, phrase: try secret(own))
        #expect(identity.outcome?.problem == nil && identity.facts.identity == name)
        let log = try models.lock.app.vault.securityLog().entries.map(\.event.name)
        #expect(log.contains("identityCreated") && log.contains("identityRecovered"))
    }

    /// Somebody at the open device without the passcode: nothing is sent, nothing changes, and each try counts.
    @Test func whatIsForGoodNeedsThePasscode() async throws {
        let (scratch, second) = (try Scratch(), try Scratch())
        let server = try NearServer()
        let models = try await scratch.open()
        let identity = server.model(models.lock)
        let other = server.model(try await second.open().lock)
        identity.prepare(.create)
        await identity.create(at: Self.address)
        let before = identity.facts
        await other.makeContainer(for: try #require(before.identity), at: Self.address)
        let container = try #require(other.container)
        server.isCut.withLock { $0 = true }  // nothing is sent: a request would say that nobody can be reached
        let device = try #require(before.device)
        identity.prepare(.changeRecovery)
        let tries: [@MainActor (consuming SecretBytes) async -> Void] = [
            { await identity.link(container, passcode: $0) }, { await identity.unlink(device, passcode: $0) },
            { await identity.changeRecovery(passcode: $0) }, { await identity.delete(passcode: $0) },
        ]
        for (number, attempt) in tries.enumerated() {
            await attempt(try secret("wrong \(number)"))
            #expect(identity.outcome?.problem == .proof(.wrongPasscode(remaining: 4)), "\(number)")
            #expect(identity.facts == before)
            let right = try secret("right")
            try models.lock.app.vault.verify(passcode: right, spending: models.lock.app.vault.burnAttempt())
        }
        await identity.erase(passcode: try secret(""))
        guard case .proof = identity.outcome?.problem else {
            Issue.record("\(String(describing: identity.outcome))")
            return
        }
        #expect(identity.facts == before)
        #expect(identity.prepared == .changeRecovery, "the words that were shown can still be taken")
        server.isCut.withLock { $0 = false }
        await identity.changeRecovery(passcode: try secret("right"))
        #expect(identity.outcome?.problem == nil && identity.prepared == nil)
    }

    /// A rotation that another server gets is as good as the end of the account at the real one.
    @Test func theAccountsKeysSignForItsServerAlone() async throws {
        let models = try await Scratch().open()
        let server = try NearServer()
        let identity = server.model(models.lock)
        identity.prepare(.create)
        await identity.create(at: Self.address)
        let name = try #require(identity.facts.identity)
        identity.prepare(.recover)
        await identity.recover(
            name, at: "https://evil.example", phrase: try secret(String(repeating: "zoo ", count: 23)))
        #expect(identity.outcome?.problem == .otherServer, "\(String(describing: identity.outcome))")
        #expect(identity.facts.server == Self.address)
    }

    /// Another process of this user works on the identity: nobody overwrites what it does.
    @Test func oneProcessAtATimeChangesTheIdentity() async throws {
        let scratch = try Scratch()
        let models = try await scratch.open()
        let identity = try NearServer().model(models.lock)
        identity.prepare(.create)
        let turn = try #require(try IdentityTurn(in: models.lock.app.vault.home.path))
        #expect(try IdentityTurn(in: models.lock.app.vault.home.path) == nil)
        let create = Task { await identity.create(at: Self.address) }
        await until { identity.running == .create }
        #expect(identity.facts.state == .ready)
        withExtendedLifetime(turn) {}
        _ = consume turn
        await create.value
        #expect(identity.outcome?.problem == nil && identity.facts.state == .created)
    }

    @Test func whatIsKnownGoesWhenTheLockFalls() async throws {
        let scratch = try Scratch()
        let models = try await scratch.open()
        let identity = try NearServer().model(models.lock)
        identity.prepare(.create)
        await identity.create(at: Self.address)
        #expect(identity.facts.identity != nil)
        identity.prepare(.changeRecovery)
        models.lock.panic()
        #expect(identity.facts.identity == nil && identity.withPhrase(text) == nil && identity.prepared == nil)
        await identity.rotate()
        #expect(identity.outcome?.problem == .locked)
        await identity.load()
        #expect(identity.facts.state == .ready && identity.facts.identity == nil)
    }
}
