import AgentMessages
import BetterAuth
import BetterAuthMessages
import BetterAuthServer
import Foundation
import HoldfastAgent
import Synchronization
import Testing
import VaultCore
import VaultFormat
import VaultStorage

/// The identity commands: the real binary, the real server logic, HTTP between them. The agent holds the vaults open,
/// so that each command costs no key derivation.
@Suite struct IdentityTests {
    @Test func aLife() throws {
        let server = try AuthHTTPServer()
        let phone = try IdentityDevice(server)
        let none = try phone.run("rotate", "--server", server.address)
        #expect(none.code == 6 && none.errors.contains("no identity"), "\(none.errors)")
        #expect(try phone.status()["state"] as? String == "ready")
        let nowhere = try phone.run("create", newRecovery: "phrase")
        #expect(nowhere.code == 2 && nowhere.errors.contains("--server"), "\(nowhere.errors)")
        let plain = try phone.run("create", "--server", "http://example.org", newRecovery: "phrase")
        #expect(plain.code == 2 && plain.errors.contains("--plain-http"), "\(plain.errors)")

        let silent = try ClosedPort()
        let unsent = try phone.run("create", "--server", silent.address, newRecovery: "unsent")
        #expect(unsent.code == 1 && unsent.errors.contains("run holdfast identity create again"), "\(unsent.errors)")
        #expect(try phone.run("erase", "--yes").code == 0)

        let created = try phone.run("create", "--json", "--server", server.address, newRecovery: "phrase")
        #expect(created.code == 0, "\(created.errors)")
        #expect(created.errors.contains("WARNING") && created.errors.contains("\(server.responseKey.publicKey)"))
        let identity = try #require(try created.json()["identity"] as? String)
        let phrase = try phone.phrase("phrase")
        #expect(phrase.split(separator: " ").count == 24)
        #expect(!created.text.contains(String(phrase.prefix(12))) && !created.errors.contains(phrase.prefix(12)))
        let again = try phone.run("create", newRecovery: "other")
        #expect(again.code == 1 && again.errors.contains("already"), "\(again.errors)")

        // The server is remembered, and its key believed without another word.
        let rotated = try phone.run("rotate")
        #expect(rotated.code == 0 && rotated.errors.isEmpty, "\(rotated.errors)")
        let early = try phone.run("request", "/echo", #"{"a":1}"#)
        #expect(early.code == 6 && early.errors.contains("session"), "\(early.errors)")
        #expect(try phone.run("session", "open").code == 0)
        #expect(try phone.status()["state"] as? String == "authenticated")
        #expect(try phone.run("session", "refresh").code == 0)
        let echo = try phone.run("request", "/echo", #"{"a":[1,"ä"]}"#)
        #expect(echo.code == 0 && echo.text == #"{"a":[1,"ä"]}"# + "\n", "\(echo.errors)")
        #expect(try phone.run("request", "/echo", input: "  {\"b\":2}\n").text == "{\"b\":2}\n")
        let spaced = try phone.run("request", "/echo", #"{"a": 1}"#)
        #expect(spaced.code == 2 && spaced.errors.contains("compact"), "\(spaced.errors)")
        #expect(try phone.run("session", "close").code == 0)
        #expect(try phone.status()["state"] as? String == "created")

        // No list shows it.
        let list = try phone.sandbox.run("list", "--json").json()["records"] as? [[String: Any]]
        #expect(list?.compactMap { $0["name"] as? String } == ["greeting", "big"])

        let changed = try phone.run("change-recovery", newRecovery: "second")
        #expect(changed.code == 0, "\(changed.errors)")
        #expect(try phone.phrase("second") != phrase)
        #expect(try phone.run("delete").code == 2, "nobody to ask")
        #expect(try phone.run("delete", "--yes").code == 0)
        #expect(try phone.status()["state"] as? String == "ready")
        #expect(try server.store.account(#require(IdentityID(identity)))?.isDeleted == true)
    }

    @Test func devicesAndRecovery() throws {
        let server = try AuthHTTPServer()
        let phone = try IdentityDevice(server)
        let created = try phone.run("create", "--json", "--server", server.address, newRecovery: "phrase")
        let identity = try #require(try created.json()["identity"] as? String, "\(created.errors)")
        let key = "\(server.responseKey.publicKey)"
        let laptop = try IdentityDevice(server)
        let container = try laptop.run("link", identity, "--server", server.address, "--authority", key, "--qr")
        #expect(container.code == 0 && container.errors.isEmpty, "\(container.errors)")
        let lines = container.text.split(separator: "\n")
        #expect(lines.count > 20 && lines[1].contains("\u{1B}["), "a QR code follows")
        let text = String(lines[0])
        #expect(try laptop.status()["state"] as? String == "linking")
        let early = try laptop.run("session", "open")
        #expect(early.code == 7, "\(early.errors)")
        let damaged = try phone.run("accept-link", text.replacingOccurrences(of: "\"device\"", with: "\"Device\""))
        #expect(damaged.code == 2 && damaged.errors.contains("not a link container"), "\(damaged.errors)")
        let accepted = try phone.run("accept-link", input: text + "\n")
        #expect(accepted.code == 0, "\(accepted.errors)")
        let device = accepted.text.trimmingCharacters(in: .newlines)
        #expect(try laptop.run("session", "open").code == 0)
        #expect(try laptop.status()["device"] as? String == device)
        let twice = try phone.run("accept-link", text)
        #expect(twice.code == 7 && twice.errors.contains("it will not happen"), "\(twice.errors)")
        #expect(try phone.run("unlink", device, "--yes").code == 0)
        let out = try laptop.run("session", "open")
        #expect(out.code == 7, "\(out.errors)")
        #expect(try laptop.run("erase", "--yes").code == 0)

        // The wrong phrase is recognised before anything is sent, both ways.
        let phrase = try phone.phrase("phrase")
        let vaults = try Prepared.shared().phrase
        let wrong = try laptop.run(
            "recover", identity, "--server", server.address, recovery: vaults, newRecovery: "next")
        #expect(wrong.code == 3 && wrong.errors.contains("recovery phrase of the vault"), "\(wrong.errors)")
        let crossed = try phone.sandbox.run(
            "get", "greeting", "--phrase-fd=5", descriptors: [5: .file(try phone.sandbox.file((phrase + "\n").utf8))])
        #expect(crossed.code == 3 && crossed.errors.contains("recovery phrase of your identity"), "\(crossed.errors)")
        let misspelt = phrase.split(separator: " ").enumerated().map {
            $0.offset == 6 ? "holdfast" : String($0.element)
        }
        let named = try laptop.run(
            "recover", identity, "--server", server.address, recovery: misspelt.joined(separator: " "),
            newRecovery: "next")
        #expect(named.code == 3 && named.errors.contains("word 7"), "\(named.errors)")

        let recovered = try laptop.run(
            "recover", identity, "--server", server.address, recovery: "  " + phrase.uppercased(), newRecovery: "next")
        #expect(recovered.code == 0, "\(recovered.errors)")
        #expect(try laptop.run("rotate").code == 0)
        let revoked = try phone.run("rotate")
        #expect(revoked.code == 7 && revoked.errors.contains("keys are kept"), "\(revoked.errors)")

        // Drills.
        let next = try laptop.phrase("next")
        let full = try laptop.run("drill", "--full", "--json", recovery: next)
        #expect(try full.code == 0 && full.json()["passed"] as? Bool == true, "\(full.errors)")
        let three = try laptop.run("drill", recovery: "abandon abandon abandon")
        #expect(three.code == 3 && three.errors.contains("not the identity's recovery phrase"), "\(three.errors)")
        let log = try laptop.sandbox.run("log", "--json", passcode: Prepared.passcode)
        #expect(log.text.contains("drill") && log.text.contains("recovered"), "\(log.text.prefix(2000))")
    }

    /// The server's answers are believed because a key chain endorses their key, and for no other reason.
    @Test func aKeyChainSaysWhoseAnswersCount() throws {
        let server = try AuthHTTPServer()
        let phone = try IdentityDevice(server)
        var keys = try EndorsedKeys()
        server.keys.withLock { [keys] in $0 = keys }
        let stranger = try SoftwareSigningKey.generate().publicKey
        func create(_ chain: DigestText, _ phrase: String) throws -> Sandbox.Result {
            try phone.run(
                "create", "--server", server.address, "--authority", "\(chain)", newRecovery: phrase)
        }
        func expectRefused(_ result: Sandbox.Result, _ place: String) throws {
            #expect(result.code != 0, "\(place)")
            #expect(result.errors.contains("key"), "\(place): \(result.errors)")
            // Whether there is an account, the server alone could tell, and no answer is known to be its own.
            #expect(try phone.status()["state"] as? String == "unconfirmed", "\(place)")
        }
        // The chain does not know the server's key; it says something of it that is about another key; it is not the
        // chain.
        try expectRefused(create(keys.identity, "one"), "not endorsed")
        try keys.endorse(stranger, as: server.responseKey.publicKey)
        server.keys.withLock { [keys] in $0 = keys }
        try expectRefused(create(keys.identity, "two"), "another key")
        try keys.endorse(server.responseKey.publicKey)
        server.keys.withLock { [keys] in $0 = keys }
        try expectRefused(create(EndorsedKeys().identity, "three"), "another chain")

        let created = try create(keys.identity, "four")
        #expect(created.code == 0 && !created.errors.contains("WARNING"), "\(created.errors)")
        #expect(try phone.status()["keyChain"] as? String == "\(keys.identity)")
        // It is remembered, and asked again by each command.
        #expect(try phone.run("session", "open").code == 0)
        server.keys.withLock { $0?.records = [:] }
        let withdrawn = try phone.run("rotate")
        #expect(withdrawn.code != 0 && withdrawn.errors.contains("key"), "\(withdrawn.errors)")
        server.keys.withLock { [keys] in $0 = keys }
        #expect(try phone.run("session", "refresh").code == 0)
        let another = "\(try EndorsedKeys().identity)"
        let elsewhere = try phone.run(["rotate", "--authority", another], passcode: Prepared.passcode)
        #expect(elsewhere.code == 1 && elsewhere.errors.contains("identity trust"), "\(elsewhere.errors)")
        #expect(try phone.status()["keyChain"] as? String == "\(keys.identity)")
        #expect(try phone.run("trust", "--authority", another).code == 0)
        let unbelieved = try phone.run("rotate")
        #expect(unbelieved.code != 0 && unbelieved.errors.contains("key"), "\(unbelieved.errors)")
    }

    /// The answer is lost; the next command finds out its outcome, and a refusal leaves everything in order.
    @Test func lostAnswers() throws {
        let server = try AuthHTTPServer()
        let phone = try IdentityDevice(server)
        #expect(try phone.run("create", "--server", server.address, newRecovery: "phrase").code == 0)
        // Two: the command asks for both keys, and knows.
        server.faults.withLock { $0 = [.dropAnswer, .dropAnswer] }
        #expect(try phone.run("rotate").code == 0)
        #expect(try phone.status()["isUnfinished"] as? Bool == false)
        // Three: it cannot ask.
        server.faults.withLock { $0 = [.dropAnswer, .dropAnswer, .dropAnswer] }
        let lost = try phone.run("rotate")
        server.faults.withLock { $0 = [] }
        #expect(lost.code == 1, "\(lost.errors)")
        #expect(try phone.status()["isUnfinished"] as? Bool == true)
        let next = try phone.run("session", "open")
        #expect(next.code == 0 && next.errors.contains("done now, from an earlier command"), "\(next.errors)")
        #expect(try phone.status()["isUnfinished"] as? Bool == false)

        // Nobody there at all.
        let elsewhere = try phone.run("rotate", "--server", "http://127.0.0.1:1")
        #expect(elsewhere.code == 1 && elsewhere.errors.contains("holdfast identity trust"), "\(elsewhere.errors)")
        #expect(try phone.run("trust", "--server", "http://127.0.0.1:1").code == 0)
        let gone = try phone.run("rotate")
        #expect(gone.code == 1 && gone.errors.contains("cannot be reached"), "\(gone.errors)")
        #expect(try phone.run("trust", "--server", server.address).code == 0)
        #expect(try phone.run("rotate").code == 0)
    }

    /// A proxy shuts the path of rotations: the phrase that someone may have seen can still be replaced.
    @Test func `the recovery phrase is changed while another path is shut`() throws {
        let server = try AuthHTTPServer()
        let phone = try IdentityDevice(server)
        let created = try phone.run("create", "--json", "--server", server.address, newRecovery: "phrase")
        let identity = try #require(try created.json()["identity"] as? String, "\(created.errors)")
        server.shut.withLock { $0 = ["/device/rotate"] }
        #expect(try phone.run("rotate").code != 0)
        #expect(try phone.status()["isUnfinished"] as? Bool == true)
        let changed = try phone.run("change-recovery", newRecovery: "new")
        #expect(changed.code == 0, "\(changed.errors)")
        // Its own path is another matter.
        server.shut.withLock { $0 = ["/recovery/change"] }
        #expect(try phone.run("change-recovery", newRecovery: "third").code != 0)
        server.shut.withLock { $0 = [] }
        // The answer to a recovery is lost: what to run again is said.
        let spare = try IdentityDevice(server)
        let phrase = try String(contentsOfFile: phone.sandbox.path + "/new", encoding: .utf8)
        #expect(try phone.run("session", "open").code == 0)
        server.shut.withLock { $0 = ["/account/recover"] }
        let lost = try spare.run(
            "recover", identity, "--server", server.address, recovery: phrase.trimmingCharacters(in: .newlines),
            newRecovery: "next")
        #expect(lost.code == 1 && lost.errors.contains("then run holdfast identity recover again"), "\(lost.errors)")
    }

    /// Whoever found the vault open, in an agent that serves it, has no passcode.
    @Test func anOpenVaultIsNotEnough() throws {
        let server = try AuthHTTPServer()
        let phone = try IdentityDevice(server)
        let created = try phone.run("create", "--json", "--server", server.address, newRecovery: "phrase")
        let identity = try #require(try created.json()["identity"] as? String, "\(created.errors)")
        #expect(try phone.run("session", "open").code == 0)
        let thief = try IdentityDevice(server)
        let container = try thief.run("link", identity, "--server", server.address).text
        let before = try phone.status()
        let asked = server.requests
        let device = try #require(before["device"] as? String)
        let attempts: [(words: [String], newRecovery: String?)] = [
            (["change-recovery"], "stolen"), (["accept-link", container], nil), (["unlink", device, "--yes"], nil),
            (["delete", "--yes"], nil), (["erase", "--yes"], nil), (["trust", "--server", "http://127.0.0.1:1"], nil),
            (["trust", "--new-response-key"], nil), (["rotate", "--server", "http://127.0.0.1:1"], nil),
        ]
        for attempt in attempts {
            let nothing = try phone.run(attempt.words, passcode: nil, newRecovery: attempt.newRecovery)
            #expect(nothing.code == 2 && nothing.errors.contains("passcode"), "\(attempt.words): \(nothing.errors)")
            let guess = try phone.run(attempt.words, passcode: "guess", newRecovery: attempt.newRecovery)
            #expect(guess.code == 3 && guess.errors.contains("wrong passcode"), "\(attempt.words): \(guess.errors)")
            #expect(try phone.sandbox.run("passcode", "verify", passcode: Prepared.passcode).code == 0)
        }
        let byPIN = try phone.run(["delete", "--yes", "--pin-fd=3"], passcode: nil)
        #expect(byPIN.code == 2 && byPIN.errors.contains("--pin-fd"), "a PIN proves nothing: \(byPIN.errors)")
        #expect(server.requests == asked, "nothing was sent")
        #expect(try phone.status() as NSDictionary == before as NSDictionary)
        // The vault's phrase proves it too.
        let words = try Prepared.shared().phrase + "\n"
        let deleted = try phone.sandbox.run(
            "identity", "delete", "--yes", "--phrase-fd=5",
            descriptors: [5: .file(try phone.sandbox.file(words.utf8))])
        #expect(deleted.code == 0, "\(deleted.errors)")
    }

    /// On a terminal the passcode is asked for when the words are on paper, and then it is fresh.
    @Test func aNewPhraseIsProvedWhenItIsWrittenDown() throws {
        let server = try AuthHTTPServer()
        let phone = try IdentityDevice(server)
        #expect(try phone.run("create", "--server", server.address, newRecovery: "phrase").code == 0)
        let asked = server.requests
        let terminal = try PseudoTerminal()
        func begin() throws -> Child {
            try phone.sandbox.sandbox.start(
                "identity", "change-recovery", on: terminal, environment: phone.sandbox.variables)
        }
        // With the agent unlocked nothing is asked for before the words are shown; whoever turns away has changed
        // nothing.
        let given = try begin()
        try terminal.wait(for: "three words are then asked for: ")
        terminal.type("\u{4}")
        #expect(given.wait() == 1)
        let guessed = try begin()
        try terminal.takePhrase()
        try terminal.wait(for: "Passcode: ")
        terminal.type("whoever sits here\n")
        try terminal.wait(for: "Passcode: ")
        terminal.type("\u{3}")
        #expect(guessed.wait() == 130)
        #expect(server.requests == asked)
        let owner = try begin()
        try terminal.takePhrase()
        try terminal.wait(for: "Passcode: ")
        terminal.type(Prepared.passcode + "\n")
        #expect(owner.wait() == 0, "\(terminal.rest())")
        // Locked, it is unlocked first, and the passcode asked for once more.
        #expect(try phone.sandbox.run("lock").code == 0)
        let alone = try begin()
        try terminal.wait(for: "Passcode: ")
        terminal.type(Prepared.passcode + "\n")
        try terminal.takePhrase()
        try terminal.wait(for: "Passcode: ")
        terminal.type(Prepared.passcode + "\n")
        #expect(alone.wait() == 0, "\(terminal.rest())")
    }

    /// Nothing that another operation could be made of comes out of the agent.
    @Test func theAgentKeepsTheKeysToItself() throws {
        let server = try AuthHTTPServer()
        let phone = try IdentityDevice(server)
        #expect(try phone.run("create", "--server", server.address, newRecovery: "phrase").code == 0)
        #expect(try phone.run("session", "open").code == 0)
        guard let agent = try AgentClient(home: phone.sandbox.home, runtime: phone.sandbox.runtime) else {
            Issue.record("no agent")
            return
        }
        let path = try #require(RecordName(collection: "\u{0}identity", name: "credentials"))
        func code(_ body: () throws -> Void) -> VaultError.Code? {
            do { try body() } catch { return (error as? VaultError)?.code }
            return nil
        }
        #expect(code { try agent.get(path) { _ in } } == .reservedCollection)
        #expect(code { _ = try agent.put(path, replacing: true) { _ in 0 } } == .reservedCollection)
        #expect(code { try agent.remove(path) } == .reservedCollection)
        #expect(code { _ = try agent.list(path.collection) } == .reservedCollection)
        guard case .report(let report) = try agent.identity(IdentityCall(.status)) else {
            Issue.record("no report")
            return
        }
        #expect(report.state == "authenticated" && report.server == server.address)
        #expect(
            code {
                _ = try agent.identity(IdentityCall(.request(.init(path: "/echo"), json: 0..<2)), json: [0x7b, 0x20])
            } != nil)
    }
}
