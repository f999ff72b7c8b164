import AgentMessages
import Foundation
import HoldfastAgent
import TestSupport
import Testing

/// Questions that nobody answers, that are answered late, or by programs that are no pinentry.
@Suite struct PromptAgentTests {
    private func agent(_ pinentry: (Scratch) throws -> ScriptedPinentry, patience: String? = nil) throws -> (
        TestAgent, ScriptedPinentry
    ) {
        let scratch = try Scratch()
        let pinentry = try pinentry(scratch)
        try scratch.addItem("free")
        try scratch.addItem("each", tags: "ask-each-time")
        var parts = pinentry.part
        parts["SUBJECT_PROMPT_PATIENCE"] = patience
        parts["HOLDFAST_TEST_VARIABLE"] = "nothing for a pinentry"
        let agent = try TestAgent(scratch, parts: parts)
        try agent.unlock()
        return (agent, pinentry)
    }

    @Test func `a question that is open costs no other client anything`() throws {
        let (agent, pinentry) = try agent { try ScriptedPinentry($0) }
        try pinentry.hold()
        let session = try LeaseSession(agent)
        #expect(try session.ask("begin each") == "begun")
        let other = try LeaseSession(agent)
        for _ in 0..<20 { #expect(try other.ask("value free") == "value eerf") }
        #expect(try session.ask("value free") == "value eerf")
        try pinentry.release("OK")
        #expect(try session.ask("answer") == "value hcae")
    }

    @Test func `a lock refuses what is asked, and the program that asks ends`() throws {
        let (agent, pinentry) = try agent({ try ScriptedPinentry($0) }, patience: "600000")
        let alive = try pinentry.watchEnd()
        defer { close(alive) }
        try pinentry.hold()
        let session = try LeaseSession(agent)
        for _ in 0..<2 { #expect(try session.ask("begin each") == "begun") }
        let held = try pinentry.waitForQuestion()
        defer { close(held) }
        try agent.lock()
        for _ in 0..<2 { #expect(try session.ask("answer") == "failure locked") }
        waitUntilClosed(alive)
        try agent.unlock()
        #expect(try session.ask("begin each") == "begun")
        try pinentry.release("OK")
        #expect(try session.ask("answer") == "value hcae", "an answer is for the question that was asked last")
    }

    @Test func `a client that goes away withdraws its question`() throws {
        let (agent, pinentry) = try agent({ try ScriptedPinentry($0) }, patience: "600000")
        let alive = try pinentry.watchEnd()
        defer { close(alive) }
        try pinentry.hold()
        let session = try LeaseSession(agent)
        #expect(try session.ask("begin each") == "begun")
        let held = try pinentry.waitForQuestion()
        defer { close(held) }
        #expect(try session.ask("leave") == "left")
        waitUntilClosed(alive)
        #expect(try agent.status().isUnlocked)
    }

    @Test func `an agent that ends leaves no question behind`() throws {
        let (agent, pinentry) = try agent({ try ScriptedPinentry($0) }, patience: "600000")
        let alive = try pinentry.watchEnd()
        defer { close(alive) }
        try pinentry.hold()
        let session = try LeaseSession(agent)
        #expect(try session.ask("begin each") == "begun")
        let held = try pinentry.waitForQuestion()
        defer { close(held) }
        #expect(agent.end(with: SIGTERM) == 0)
        waitUntilClosed(alive)
        #expect(try session.ask("answer") == "failure locked")
    }

    @Test func `a session has four questions at most`() throws {
        let (agent, pinentry) = try agent { try ScriptedPinentry($0) }
        try pinentry.hold()
        let session = try LeaseSession(agent)
        for _ in 0..<5 { #expect(try session.ask("begin each") == "begun") }
        for _ in 0..<4 { try pinentry.release("OK") }
        let answers = try (0..<5).map { _ in try session.ask("answer") }
        #expect(answers.count { $0 == "value hcae" } == 4 && answers.count { $0 == "failure busy" } == 1, "\(answers)")
    }

    @Test func `a hundred connections that ask cost nobody else, and are told that they are too many`() throws {
        let (agent, pinentry) = try agent({ try ScriptedPinentry($0) }, patience: "600000")
        try pinentry.hold()
        let (session, other) = (try LeaseSession(agent), try LeaseSession(agent))
        for number in 0..<100 {
            #expect(try session.ask("begin each") == "begun")
            if number % 20 == 0 { #expect(try other.ask("value free") == "value eerf") }
        }
        #expect(try other.ask("begin each") == "begun")
        try agent.lock()
        #expect(try other.ask("answer") == "failure locked", "another session's question has a place")
        let answers = try (0..<100).map { _ in try session.ask("answer") }
        let busy = answers.count { $0 == "failure busy" }
        // What the lock met on its way to the queue is refused by it.
        #expect(busy >= 50 && answers.count { $0 == "failure locked" } == 100 - busy, "\(busy)")
    }

    @Test func `nobody answers for ever`() throws {
        let (agent, pinentry) = try agent({ try ScriptedPinentry($0) }, patience: "300")
        let alive = try pinentry.watchEnd()
        defer { close(alive) }
        try pinentry.hold()
        let session = try LeaseSession(agent)
        #expect(try session.ask("value each") == "failure notAllowed")
        waitUntilClosed(alive)
    }

    /// What each does when it is started; the shell's own `read` takes what the agent says.
    static let hostile = [
        "echo OK; echo OK; echo OK; echo OK; echo OK; echo OK; echo OK; echo OK; echo OK; echo OK; sleep 60",
        "echo allowed", "exit 0", "exit 1", "kill -9 $$", "echo 'ERR 99 no'", "head -c 1000000 /dev/zero",
        "echo OK; while read -r line; do echo 'D yes'; done",
        "echo OK; read -r line; head -c 5000 /dev/zero | tr '\\0' x",
        "while :; do echo '# aside'; done", "echo OK; while read -r line; do echo INQUIRE X; done",
        "echo OK; exec 1>&-; sleep 60", "trap '' TERM; echo OK; while :; do :; done", "sleep 60",
    ]

    @Test(arguments: hostile)
    func `a program that does not speak the protocol allows nothing and stops nobody`(_ script: String) throws {
        let (agent, _) = try agent({ try ScriptedPinentry($0, script: "#!/bin/sh\n\(script)\n") }, patience: "2000")
        let session = try LeaseSession(agent)
        #expect(try session.ask("value each") == "failure notAllowed")
        #expect(try session.ask("value free") == "value eerf")
    }

    @Test func `without a program, a terminal and a display nobody is asked and nothing is allowed`() throws {
        let scratch = try Scratch()
        try scratch.addItem("each", tags: "ask-each-time")
        let agent = try TestAgent(scratch, parts: ["DISPLAY": "", "WAYLAND_DISPLAY": ""])
        try agent.unlock()
        let session = try LeaseSession(agent)
        #expect(try session.ask("value each") == "failure notAllowed")
        let other = try TestAgent(
            Scratch(), parts: ["SUBJECT_PINENTRY": "/nonexistent/pinentry"])
        try other.unlock()
        try other.scratch.addItem("each", tags: "ask-each-time")
        #expect(try LeaseSession(other).ask("value each") == "failure notAllowed")
    }

    @Test func `a pinentry gets its three descriptors and a few variables, and is told what the client said`() throws {
        let (agent, pinentry) = try agent { try ScriptedPinentry($0) }
        let session = try LeaseSession(agent)
        #expect(try session.ask("introduce 1:2 each") == "value hcae")
        let environment = try #require(pinentry.log.first { $0.hasPrefix("ENV ") })
        #expect(environment.contains("DISPLAY") && environment.contains("PATH"))
        #expect(!environment.contains("HOLDFAST") && !environment.contains("SUBJECT"))
        #expect(pinentry.log.contains("OPTION display=:7"))
        let descriptors = try #require(pinentry.log.first { $0.hasPrefix("FDS ") })
        // Its log, and the list itself.
        #expect(descriptors.split(separator: " ").count == 6, "\(descriptors)")
    }

    /// Until nobody has it open any more who had.
    private func waitUntilClosed(_ pipe: Int32) {
        var waiting = pollfd(fd: pipe, events: Int16(POLLIN), revents: 0)
        #expect(
            unsafe poll(&waiting, 1, Patience.milliseconds) == 1 && waiting.revents & Int16(POLLHUP) != 0,
            "it is still there")
    }
}
