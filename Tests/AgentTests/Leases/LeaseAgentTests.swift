import AgentMessages
import Foundation
import HoldfastAgent
import Items
import SecretMemory
import TestSupport
import Testing
import VaultCore
import VaultFormat
import VaultStorage

/// What the agent asks for, whom it believes, and when what was allowed ends.
@Suite struct LeaseAgentTests {
    /// An unlocked agent with items `free`, `each`, `lock` and `time`, marked as they are called.
    private struct Stage {
        let agent: TestAgent
        let pinentry: ScriptedPinentry

        init(parts: [String: String] = [:]) throws {
            let scratch = try Scratch()
            pinentry = try ScriptedPinentry(scratch)
            try scratch.addItem("free")
            try scratch.addItem("each", tags: "ask-each-time", "work")
            try scratch.addItem("lock", tags: "ask-until-lock", "work")
            try scratch.addItem("time", tags: "ask-every-1m")
            agent = try TestAgent(scratch, parts: pinentry.part.merging(parts) { $1 })
            try agent.unlock()
        }

        /// Questions that came since the last look.
        func asked(_ before: inout Int) -> Int {
            let all = pinentry.questions.count
            defer { before = all }
            return all - before
        }
    }

    @Test func `an item without a mark asks nobody`() throws {
        let stage = try Stage()
        let session = try LeaseSession(stage.agent)
        #expect(try session.ask("value free") == "value eerf")
        #expect(stage.pinentry.log.isEmpty)
    }

    @Test func `each use of an item that asks each time is asked for, and a no is a no`() throws {
        let stage = try Stage()
        let session = try LeaseSession(stage.agent)
        for _ in 0..<2 { #expect(try session.ask("value each") == "value hcae") }
        #expect(stage.pinentry.questions.count == 2)
        let question = try #require(stage.pinentry.questions.first)
        #expect(
            question.contains("python") && question.hasSuffix("wants to use 'each'.%0AAllow it once?"), "\(question)")
        try stage.pinentry.answer(ScriptedPinentry.no)
        #expect(try session.ask("value each") == "failure notAllowed")
        #expect(try session.ask("value each") == "failure notAllowed", "without a question, just after the no")
        #expect(stage.pinentry.questions.count == 3)
        try stage.agent.advance(seconds: 5)
        try stage.pinentry.answer("OK")
        #expect(try session.ask("value each") == "value hcae")
        #expect(try stage.agent.client().leases().isEmpty)
    }

    @Test func `every way that reads a value of an item asks`() throws {
        let stage = try Stage()
        let client = try stage.agent.client()
        let reference = try SecretReference(collection: "default", item: "each", field: "password")
        _ = try client.value(of: reference)
        #expect(stage.pinentry.questions.count == 1)
        _ = try client.item(path("each"))
        #expect(stage.pinentry.questions.count == 2)
        let attributes = "protocol=https\nhost=h.example\nusername=ada\npassword=p\n"
        _ = try client.credential(.store, collection: "git", secret(attributes))
        let vault = try stage.agent.scratch.vault()
        let passcode = try secret("right")
        try vault.unlock(passcode: passcode, spending: vault.burnAttempt())
        try ItemStore(vault).change("https://ada@h.example", in: "git") { item in try item.addTag("ask-each-time") }
        #expect(try client.credential(.get, collection: "git", secret("protocol=https\nhost=h.example\n")).count > 0)
        #expect(stage.pinentry.questions.last?.contains("'git/https://ada@h.example'") == true)
        #expect(stage.pinentry.questions.count == 3)
        try stage.pinentry.answer(ScriptedPinentry.no)
        #expect(errorCode { _ = try client.value(of: reference) } == .notAllowed)
        #expect(errorCode { _ = try client.item(path("each")) } == .notAllowed)
        #expect(
            errorCode {
                _ = try client.credential(.get, collection: "git", secret("protocol=https\nhost=h.example\n"))
            } == .notAllowed)
        // Another name is what the next question would show.
        #expect(errorCode { try client.copy(path("each"), to: path("copy")) } == .notAllowed)
        #expect(errorCode { try client.move(path("each"), to: path("moved")) } == .notAllowed)
        // What hands out nothing is as before.
        #expect(try client.list(nil).count == 5)
        try client.move(path("free"), to: path("moved"))
        try client.remove(path("moved"))
        try stage.agent.advance(seconds: 5)
        try stage.pinentry.answer("OK")
        try client.copy(path("each"), to: path("copy"))
        #expect(stage.pinentry.questions.last?.contains("'each'") == true)
        try client.move(path("copy"), to: path("other"))
        #expect(stage.pinentry.questions.last?.contains("'copy'") == true, "a copy has the mark too")
    }

    @Test func `what was allowed under other rules is asked for again`() throws {
        let stage = try Stage()
        var asked = 0
        let session = try LeaseSession(stage.agent)
        for _ in 0..<2 { #expect(try session.ask("value lock") == "value kcol") }
        #expect(stage.asked(&asked) == 1)
        let other = try stage.agent.scratch.vault()
        try other.changePolicy(passcode: secret("right"), spending: other.burnAttempt()) { $0.attemptLimit = 9 }
        #expect(try session.ask("value free") == "value eerf")
        #expect(try stage.agent.client().leases().isEmpty)
        #expect(try session.ask("value lock") == "value kcol")
        #expect(stage.asked(&asked) == 1)
    }

    /// An item whose tag no program of this version gives.
    private func item(tagged tag: String) throws -> Item {
        var item = try Item(.login)
        try item.add(.secret, "password", secret("p"))
        let other = String(repeating: "x", count: tag.utf8.count)
        try item.addTag(other)
        var bytes = item.withBytes { $0.array }
        let start = try #require(bytes.indices.first { bytes[$0...].starts(with: other.utf8) })
        bytes.replaceSubrange(start..<start + other.utf8.count, with: tag.utf8)
        return try unsafe Item(parsing: bytes.span.bytes)
    }

    @Test func `a client stores no new tag that is a misspelled guard, and one that is there asks`() throws {
        let stage = try Stage()
        let client = try stage.agent.client()
        let put = #expect(throws: VaultError.self) {
            try client.put(item(tagged: "ask-each"), as: path("new"), replacing: nil)
        }
        #expect(put?.code == .invalidItem && put?.reason.contains("ask-each-time") == true, "\(put?.reason ?? "")")
        let vault = try stage.agent.scratch.vault()
        let passcode = try secret("right")
        try vault.unlock(passcode: passcode, spending: vault.burnAttempt())
        try ItemStore(vault).add(item(tagged: "ask-eech"), as: "old")
        vault.lock(because: .ended)
        let asked = stage.pinentry.questions.count
        var old = try client.item(path("old"))
        #expect(stage.pinentry.questions.count == asked + 1)
        try old.addTag("work")
        let sequence = old.sequence
        try client.put(old, as: path("old"), replacing: sequence)
        #expect(try client.item(path("old")).tags == ["ask-eech", "work"])
    }

    @Test func `what is allowed until the lock is for this program in this session`() throws {
        let stage = try Stage()
        var asked = 0
        let (session, other) = (try LeaseSession(stage.agent), try LeaseSession(stage.agent))
        #expect(try session.ask("value lock") == "value kcol")
        #expect(stage.asked(&asked) == 1)
        for words in ["value lock", "child lock", "value lock"] { #expect(try session.ask(words) == "value kcol") }
        #expect(stage.asked(&asked) == 0, "the same program, in new processes too")
        #expect(try session.ask("other lock") == "value kcol")
        #expect(stage.asked(&asked) == 1, "another program")
        #expect(try other.ask("value lock") == "value kcol")
        #expect(stage.asked(&asked) == 1, "another session")
        #expect(try stage.agent.client().leases().count == 3)
        try stage.agent.lock()
        #expect(try stage.agent.client().leases().isEmpty)
        try stage.agent.unlock()
        #expect(try session.ask("value lock") == "value kcol")
        #expect(stage.asked(&asked) == 1, "after the lock")
    }

    @Test func `what is allowed for a time ends with it, also while the machine slept`() throws {
        let stage = try Stage()
        let session = try LeaseSession(stage.agent)
        #expect(try session.ask("value time") == "value emit")
        try stage.agent.advance(seconds: 59)
        #expect(try session.ask("value time") == "value emit")
        #expect(stage.pinentry.questions.count == 1)
        let lease = try #require(try stage.agent.client().leases().first)
        let time = try path("time")
        #expect(lease.remaining == 1000 && lease.target == .item(time) && lease.program.contains("python"))
        try stage.agent.advance(seconds: 1)
        #expect(try session.ask("value time") == "value emit")
        #expect(stage.pinentry.questions.count == 2)
    }

    @Test func `a connection is its maker's, and nobody's once that has ended`() throws {
        let stage = try Stage()
        let session = try LeaseSession(stage.agent)
        #expect(try session.ask("value lock") == "value kcol")
        #expect(try session.ask("fork lock") == "failure notAllowed")
        #expect(stage.pinentry.questions.count == 1, "nobody is asked about a process that is gone")
    }

    @Test func `a program that another one was exec'd from uses none of its leases`() throws {
        let stage = try Stage()
        let session = try LeaseSession(stage.agent)
        #expect(try session.ask("value lock") == "value kcol")
        #expect(try session.ask("other lock") == "value kcol")
        #expect(stage.pinentry.questions.count == 2)
        // Both programs have a lease; the connection was made by one and is used by the other.
        for _ in 0..<2 { #expect(try session.ask("exec lock") == "value kcol") }
        let question = try #require(stage.pinentry.questions.last)
        #expect(question.contains("/python-") && question.contains("which was '/usr/bin/python3"), "\(question)")
        #expect(stage.pinentry.questions.count == 4, "asked each time")
    }

    @Test func `a process whose session has lost its leader is asked for each time`() throws {
        let stage = try Stage()
        let session = try LeaseSession(stage.agent)
        for _ in 0..<2 { #expect(try session.ask("orphan lock") == "value kcol") }
        #expect(stage.pinentry.questions.count == 2)
        #expect(try stage.agent.client().leases().isEmpty)
    }

    @Test func `what a client says of its program counts for nothing where the kernel tells`() throws {
        let stage = try Stage()
        let session = try LeaseSession(stage.agent)
        #expect(try session.ask("value lock") == "value kcol")
        #expect(try session.ask("introduce 1:2 lock") == "value kcol")
        #expect(stage.pinentry.questions.count == 1, "it is still the program that it is")
        #expect(try session.ask("other lock") == "value kcol")
        #expect(stage.pinentry.questions.count == 2)
    }

    @Test func `leases end with the agent`() throws {
        let stage = try Stage()
        let before = try LeaseSession(stage.agent)
        #expect(try before.ask("value lock") == "value kcol")
        stage.agent.kill()
        let agent = try TestAgent(stage.agent.scratch, parts: stage.pinentry.part)
        try agent.unlock()
        #expect(try before.ask("value lock") == "value kcol")
        #expect(stage.pinentry.questions.count == 2)
    }

    @Test func `a lease can be asked for, for an item or a tag, and never covers what asks each time`() throws {
        let stage = try Stage()
        let session = try LeaseSession(stage.agent)
        #expect(try session.ask("lease #work 600") == "done")
        #expect(stage.pinentry.questions.last?.hasSuffix("Allow it for 10 minutes?") == true)
        #expect(stage.pinentry.questions.last?.contains("all entries with the tag 'work'") == true)
        #expect(try session.ask("value lock") == "value kcol")
        #expect(stage.pinentry.questions.count == 1)
        #expect(try session.ask("value each") == "value hcae")
        #expect(stage.pinentry.questions.count == 2)
        #expect(try session.ask("lease each") == "failure notAllowed")
        #expect(try session.ask("lease free") == "done", "nothing is asked for it")
        #expect(try session.ask("lease nothing") == "failure recordNotFound")
        #expect(stage.pinentry.questions.count == 2)
        #expect(try session.ask("lease time 30") == "done")
        let client = try stage.agent.client()
        #expect(try client.leases().map(\.remaining) == [600_000, 30_000])
        #expect(try client.revoke(client.leases()[0].number) == 1)
        #expect(try session.ask("value lock") == "value kcol")
        #expect(stage.pinentry.questions.count == 4)
        #expect(try client.revoke(nil) == 2)
        #expect(try client.leases().isEmpty)
    }

    @Test func `an item that changed while the user was asked is asked for as it is now`() throws {
        let stage = try Stage()
        let session = try LeaseSession(stage.agent)
        try stage.pinentry.hold()
        #expect(try session.ask("begin lock") == "begun")
        // What the agent read before it asks must be the item as it was.
        let asked = try stage.pinentry.waitForQuestion()
        let vault = try stage.agent.scratch.vault()
        let passcode = try secret("right")
        try vault.unlock(passcode: passcode, spending: vault.burnAttempt())
        try ItemStore(vault).change("lock") { item in try item.addTag("ask-each-time") }
        try stage.pinentry.release(asked, "OK")
        try stage.pinentry.release(ScriptedPinentry.no)
        #expect(try session.ask("answer") == "failure notAllowed")
        #expect(stage.pinentry.questions.last?.hasSuffix("Allow it once?") == true)
    }
}
