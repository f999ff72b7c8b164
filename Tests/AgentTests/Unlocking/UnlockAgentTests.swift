import AgentMessages
import Foundation
import HoldfastAgent
import RealParts
import TestSupport
import Testing
import VaultCore
import VaultFormat
import VaultStorage

/// Programs that need a locked vault: the user is asked once for all of them.
@Suite struct UnlockAgentTests {
    private let agent: TestAgent
    private let pinentry: ScriptedPinentry

    init() throws {
        let scratch = try Scratch()
        pinentry = try ScriptedPinentry(scratch)
        var parts = pinentry.part
        parts["SUBJECT_PROMPT_PATIENCE"] = "600000"
        try scratch.addItem("free")
        agent = try TestAgent(scratch, parts: parts)
        try pinentry.hold("secret")
    }

    /// A client that waits, and how that ends: `open`, or the code of an error.
    private final class Waiting {
        let raw: RawConnection

        init(_ agent: TestAgent, _ purpose: UnlockPurpose = .entries) throws {
            raw = try agent.raw()
            raw.send(Request.lock(.ask(purpose, idle: nil, timeout: nil)).head())
        }

        func outcome() throws -> String {
            switch try raw.receive() {
            case .unlocked: "open"
            case let reply?: reply.code ?? "\(reply)"
            case nil: "closed"
            }
        }
    }

    private func waiting(_ purpose: UnlockPurpose = .entries) throws -> Waiting { try Waiting(agent, purpose) }

    /// An `ssh-add -l` that runs.
    private func listing() throws -> (process: Process, output: Pipe) {
        let client = try agent.client()
        let path = try client.serveSSH()
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/usr/bin/ssh-add")
        process.arguments = ["-l"]
        process.environment = ["SSH_AUTH_SOCK": path]
        (process.standardOutput, process.standardError) = (output, FileHandle.nullDevice)
        try process.run()
        return (process, output)
    }

    private func text(_ listing: (process: Process, output: Pipe)) -> String {
        let bytes = listing.output.fileHandleForReading.readDataToEndOfFile()
        listing.process.waitUntilExit()
        return String(decoding: bytes, as: UTF8.self)
    }

    private var asked: Int { pinentry.log.count { $0 == "GETPIN" } }

    /// Until so many clients wait, as far as that can be seen: they are connected, and have been read.
    private func settle(_ clients: Waiting..., in agent: TestAgent? = nil) throws {
        // The agent reads its clients before it answers one that came later.
        for _ in 0..<2 { _ = try (agent ?? self.agent).status() }
        for client in clients { #expect(client.raw.available == 0) }
    }

    @Test func `a command without a terminal is asked for, and continues when the vault is open`() throws {
        let command = try waiting(.git)
        try pinentry.release("right", "secret")
        #expect(try command.outcome() == "open")
        #expect(try agent.status().isUnlocked && waiting().outcome() == "open")
        #expect(asked == 1)
        let question = try #require(pinentry.questions.first)
        #expect(question.hasSuffix("wants your vault to be unlocked, for a password of git."), "\(question)")
        #expect(pinentry.log.contains("SETPROMPT Passcode:"))
    }

    @Test func `ssh-add waits for the question of a locked vault`() throws {
        let client = try agent.client()
        try agent.unlock()
        let key = try String(contentsOfFile: SSHKeyFile.make(in: agent.scratch.path), encoding: .utf8)
        _ = try client.importSSH(path("laptop"), key: secret(key))
        try agent.lock()
        let program = try listing()
        try pinentry.release("right", "secret")
        #expect(text(program).contains("laptop"))
        let question = try #require(pinentry.questions.first)
        #expect(question.hasSuffix("ssh-add' wants your vault to be unlocked, to use SSH keys."), "\(question)")
    }

    @Test func `one question is asked for two commands and an SSH program`() throws {
        let (first, second) = (try waiting(), try waiting())
        let program = try listing()
        let question = try pinentry.waitForQuestion("secret")
        try settle(first, second)
        try pinentry.release(question, "right")
        #expect(try first.outcome() == "open" && second.outcome() == "open")
        #expect(text(program).contains("no identities"))
        #expect(asked == 1)
    }

    @Test(.enabled(if: PrivateBus.isInstalled, "dbus-daemon is not installed: no program uses the Secret Service"))
    func `a program of the session bus and a command share a question`() throws {
        let (bus, scratch) = (try PrivateBus(), try Scratch())
        let pinentry = try ScriptedPinentry(scratch)
        try pinentry.hold("secret")
        let agent = try TestAgent(scratch, parts: pinentry.part.merging(bus.environment) { $1 })
        try agent.client().serveSecrets()
        let programs = try BusPrograms(bus)
        try programs.begin("unlock", "nothing")
        let question = try pinentry.waitForQuestion("secret")
        let command = try Waiting(agent)
        try settle(command, in: agent)
        try pinentry.release(question, "right")
        #expect(try command.outcome() == "open")
        try programs.finish()
        #expect(pinentry.questions.count == 1)
        #expect(pinentry.questions.first?.hasSuffix(", for passwords that programs keep.") ?? false)
    }

    @Test func `a no turns all away, and nobody is asked for a minute but for the user's own call`() throws {
        let (first, second) = (try waiting(), try waiting())
        let question = try pinentry.waitForQuestion("secret")
        try settle(first, second)
        try pinentry.release(question, ScriptedPinentry.cancelled)
        #expect(try first.outcome() == "locked" && second.outcome() == "locked")
        try agent.advance(seconds: 59)
        #expect(try waiting().outcome() == "locked")
        #expect(try text(listing()).contains("no identities"))
        #expect(asked == 1)
        let own = try waiting(.unlock)
        try pinentry.release(ScriptedPinentry.cancelled, "secret")
        #expect(try own.outcome() == "locked" && asked == 2)
        try agent.advance(seconds: 60)
        let later = try waiting()
        try pinentry.release("", "secret")
        #expect(try later.outcome() == "locked", "nothing is a no")
        // The passcode itself is taken at any time, and ends the no.
        try agent.unlock()
        try agent.lock()
        let last = try waiting()
        try pinentry.release("right", "secret")
        #expect(try last.outcome() == "open")
    }

    @Test func `nobody who answers is a no`() throws {
        let scratch = try Scratch()
        let pinentry = try ScriptedPinentry(scratch)
        try pinentry.hold("secret")
        let agent = try TestAgent(
            scratch, parts: pinentry.part.merging(["SUBJECT_PROMPT_PATIENCE": "300"]) { $1 })
        #expect(try Waiting(agent).outcome() == "locked")
        #expect(try Waiting(agent).outcome() == "locked")
        #expect(pinentry.log.count { $0 == "GETPIN" } == 1)
    }

    @Test func `when the first one goes, the next is asked for`() throws {
        var first: Waiting? = try waiting(.git)
        _ = try pinentry.waitForQuestion("secret")
        let second = try waiting(.registry)
        try settle(second)
        withExtendedLifetime(first) {}
        first = nil
        // The first question's program ends, and the next one's asks.
        #expect(Patience.wait { asked == 2 })
        try pinentry.release("right", "secret")
        #expect(try second.outcome() == "open")
        #expect(pinentry.questions.last?.hasSuffix("for a password of a registry.") ?? false)
    }

    @Test func `a vault that is opened meanwhile ends the question, and all continue`() throws {
        let alive = try pinentry.watchEnd()
        defer { close(alive) }
        let command = try waiting()
        let program = try listing()
        _ = try pinentry.waitForQuestion("secret")
        try agent.unlock()
        #expect(try command.outcome() == "open")
        #expect(text(program).contains("no identities"))
        waitUntilClosed(alive)
    }

    @Test func `a lock during the question ends it for all, and is no no`() throws {
        let alive = try pinentry.watchEnd()
        defer { close(alive) }
        let (first, second) = (try waiting(), try waiting())
        _ = try pinentry.waitForQuestion("secret")
        try settle(first, second)
        try agent.lock()
        #expect(try first.outcome() == "locked" && second.outcome() == "locked")
        waitUntilClosed(alive)
        let third = try waiting()
        try pinentry.release("right", "secret")
        #expect(try third.outcome() == "open")
    }

    @Test func `a wrong passcode is asked for again, three times in all`() throws {
        let (first, second) = (try waiting(), try waiting())
        try pinentry.release("wrong", "secret")
        for number in 2...3 {
            #expect(Patience.wait { asked == number })
            #expect(pinentry.log.contains { $0.hasPrefix("SETERROR ") })
            try pinentry.release("wrong \(number)", "secret")
        }
        #expect(try first.outcome() == "wrongPasscode" && second.outcome() == "wrongPasscode")
        #expect(try asked == 3 && agent.scratch.vault().status().remainingAttempts == 2)
    }

    @Test func `a passcode is right at the second try`() throws {
        let command = try waiting()
        try pinentry.release("wrong", "secret")
        #expect(Patience.wait { asked == 2 })
        try pinentry.release("right", "secret")
        #expect(try command.outcome() == "open")
    }

    @Test func `few attempts are not for a question that comes unexpected`() throws {
        for number in 0..<4 {
            try agent.advance(seconds: 61)
            #expect(errorCode { try agent.unlock("wrong \(number)") } == .wrongPasscode)
        }
        try agent.advance(seconds: 61)
        let left = try agent.scratch.vault().status().remainingAttempts
        try #require(left == 1)
        #expect(try waiting().outcome() == "locked" && asked == 0)
    }

    @Test func `a hundred who wait are bounded, and nobody else waits for them`() throws {
        let waiting = try (0..<100).map { _ in try self.waiting() }
        _ = try pinentry.waitForQuestion("secret")
        _ = try agent.status()
        let busy = waiting.count { $0.raw.available > 0 }
        #expect(busy == 100 - UnlockBook.mostOfShare, "\(busy)")
        try agent.unlock()
        #expect(try agent.status().isUnlocked)
        let outcomes = try waiting.map { try $0.outcome() }
        #expect(outcomes.count { $0 == "open" } == UnlockBook.mostOfShare)
        #expect(outcomes.count { $0 == "busy" } == busy)
    }

    @Test func `an agent that ends answers those who wait and leaves no question`() throws {
        let alive = try pinentry.watchEnd()
        defer { close(alive) }
        let command = try waiting()
        _ = try pinentry.waitForQuestion("secret")
        #expect(agent.end(with: SIGTERM) == 0)
        #expect(try ["locked", "closed"].contains(command.outcome()))
        waitUntilClosed(alive)
    }

    @Test func `one who cannot be asked is turned away, and the others are asked for`() throws {
        let scratch = try Scratch()
        let agent = try TestAgent(scratch, parts: ["DISPLAY": "", "WAYLAND_DISPLAY": ""])
        for _ in 0..<2 {
            let (first, second) = (try Waiting(agent), try Waiting(agent))
            #expect(try first.outcome() == "locked" && second.outcome() == "locked")
        }
        #expect(try !agent.status().isUnlocked)
    }

    @Test func `a vault whose rules let nothing stay open is closed to commands, not to the user's own call`() throws {
        let vault = try agent.scratch.vault()
        let passcode = try secret("right")
        try vault.changePolicy(passcode: passcode, spending: vault.burnAttempt()) { $0.remembersPasscode = false }
        let command = try waiting()
        try pinentry.release("right", "secret")
        #expect(try command.outcome() == "busy")
        #expect(try !agent.status().isUnlocked)
        let own = try waiting(.unlock)
        try pinentry.release("right", "secret")
        #expect(try own.outcome() == "open")
    }

    @Test(.enabled(if: PrivateBus.hasMocks, "python3-dbusmock is not installed: a locked screen is not tested"))
    func `nobody is asked while the screen is locked`() throws {
        let (bus, scratch) = (try PrivateBus(), try Scratch())
        try bus.mock("logind", name: "org.freedesktop.login1")
        let pinentry = try ScriptedPinentry(scratch)
        try pinentry.enter("right")
        let agent = try TestAgent(scratch, parts: pinentry.part.merging(["SUBJECT_BUS": bus.address]) { $1 })
        func emit(_ member: String) throws {
            try bus.emit(
                "org.freedesktop.login1", path: "/org/freedesktop/login1",
                interface: "org.freedesktop.login1.Session", member: member, signature: "", "")
        }
        func lockScreen() throws {
            try agent.unlock()
            try emit("Lock")
            try bus.wait("the lock") { (try? agent.status().isUnlocked) == false }
        }
        try lockScreen()
        #expect(try Waiting(agent).outcome() == "locked" && Waiting(agent, .unlock).outcome() == "locked")
        #expect(pinentry.questions.isEmpty)
        try emit("Unlock")
        try bus.wait("a question") { (try? Waiting(agent).outcome()) == "open" }
        // A locker that does not say when it ends: the user's own passcode says it.
        try lockScreen()
        try agent.unlock()
        try agent.lock()
        #expect(try Waiting(agent).outcome() == "open")
    }

    @Test(.enabled(if: FingerprintSensor.isInstalled, "fprintd is not installed: fingerprints are not tested"))
    func `a finger is asked for once the passcode was left empty`() throws {
        let sensor = try FingerprintSensor()
        try sensor.enroll("anna")
        let scratch = try Scratch()
        try scratch.allowOwner()
        let pinentry = try ScriptedPinentry(scratch)
        try pinentry.hold("secret")
        let agent = try TestAgent(
            scratch, parts: pinentry.part.merging(["SUBJECT_BUS": sensor.bus.address]) { $1 })
        let without = try Waiting(agent)
        try pinentry.release("right", "secret")
        #expect(try without.outcome() == "open" && pinentry.log.contains("SETPROMPT Passcode:"), "no finger yet")
        try agent.lock()
        let command = try Waiting(agent)
        try pinentry.release("", "secret")
        try sensor.touch("SCAN anna")
        #expect(try command.outcome() == "open")
        #expect(pinentry.log.last { $0.hasPrefix("SETPROMPT ") }?.contains("leave empty to use your finger") ?? false)
        try agent.lock()
        let other = try Waiting(agent)
        try pinentry.release("", "secret")
        for _ in 0..<3 { try sensor.touch("SCAN berta") }
        try pinentry.release("right", "secret")
        #expect(try other.outcome() == "open")
        #expect(pinentry.log.last { $0.hasPrefix("SETPROMPT ") } == "SETPROMPT Passcode:")
    }

    @Test func `the desktop app asks while it runs, and after pinentry where it does not`() {
        let (running, other) = (
            PinentryPrompt.places(whereAppRuns: true), PinentryPrompt.places(whereAppRuns: false)
        )
        #expect(running.first == "/usr/bin/holdfast-desktop" && other.first == "/usr/bin/pinentry")
        #expect(Set(running) == Set(other))
    }

    private func waitUntilClosed(_ pipe: Int32) {
        var waiting = pollfd(fd: pipe, events: Int16(POLLIN), revents: 0)
        #expect(
            unsafe poll(&waiting, 1, Patience.milliseconds) == 1 && waiting.revents & Int16(POLLHUP) != 0,
            "it is still there")
    }
}

/// A private key as OpenSSH writes it.
enum SSHKeyFile {
    /// - Returns: Its path.
    static func make(in folder: String) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/ssh-keygen")
        process.arguments = ["-q", "-t", "ed25519", "-N", "", "-C", "laptop", "-f", folder + "/key"]
        try process.run()
        process.waitUntilExit()
        return folder + "/key"
    }
}
