import AgentMessages
import Cryptography
import Foundation
import HoldfastAgent
import RealParts
import Synchronization
import TestSupport
import Testing
import VaultCore
import VaultFormat
import VaultStorage

/// What an agent does for its clients.
@Suite struct ServiceTests {
    @Test func everythingGoesThroughIt() throws {
        let agent = try TestAgent(Scratch())
        #expect(try !agent.status().isUnlocked)
        #expect(errorCode { _ = try agent.get("name") } == .locked)
        #expect(errorCode { try agent.put([1], "name") } == .locked)
        #expect(try agent.unlock() == 900_000)
        let status = try agent.status()
        #expect(status.isUnlocked && status.process == UInt32(agent.pid) && status.locksIn == 900_000)
        try agent.put([1, 2, 3], "name")
        try agent.put([], "nothing", "c")
        #expect(try agent.get("name") == [1, 2, 3])
        #expect(try agent.get("nothing", "c").isEmpty)
        #expect(errorCode { try agent.put([4], "name") } == .recordExists)
        try agent.put([4], "name", replacing: true)
        #expect(try agent.get("name") == [4])
        let client = try agent.client()
        let records = try client.list(nil)
        #expect(records.map(\.name) == ["nothing", "name"])
        #expect(try client.list("c").map(\.name) == ["nothing"])
        #expect(records[1].size == 1 && !records[1].isFile && records[1].created > 0)
        let other = try agent.scratch.vault()
        let passcode = try secret("right")
        try other.unlock(passcode: passcode, spending: other.burnAttempt())
        #expect(try other.records() == records)
        try client.remove(path("name"))
        #expect(errorCode { try client.remove(path("name")) } == .recordNotFound)
        #expect(errorCode { _ = try agent.get("name") } == .recordNotFound)
        try client.ping()
        #expect(try client.hello().program == "test")
        try client.lock()
        #expect(try !client.status().isUnlocked)
        #expect(errorCode { _ = try agent.get("nothing", "c") } == .locked)
        #expect(errorCode { _ = try client.list(nil) } == .locked)
    }

    @Test func `records are moved, copied and found, and a lock ends that`() throws {
        let agent = try TestAgent(Scratch())
        try agent.unlock()
        try agent.put([1, 2], "mail")
        let client = try agent.client()
        try client.copy(path("mail"), to: path("mail two", "work"))
        try client.move(path("mail"), to: path("logins/mail"))
        #expect(try agent.get("logins/mail") == [1, 2] && agent.get("mail two", "work") == [1, 2])
        #expect(errorCode { _ = try agent.get("mail") } == .recordNotFound)
        #expect(errorCode { try client.move(path("mail"), to: path("other")) } == .recordNotFound)
        #expect(errorCode { try client.copy(path("logins/mail"), to: path("mail two", "work")) } == .recordExists)
        let found = try client.find("MAIL", in: nil)
        #expect(found.map(\.path.name) == ["logins/mail", "mail two"] && found.map(\.size) == [2, 2])
        #expect(try client.find("mail", in: "work").map(\.path.name) == ["mail two"])
        #expect(try client.find("mail nothing", in: nil).isEmpty)
        try client.lock()
        #expect(errorCode { _ = try client.find("mail", in: nil) } == .locked)
        #expect(errorCode { try client.move(path("logins/mail"), to: path("mail")) } == .locked)
    }

    @Test("size", arguments: [65_535, 65_536, 65_537, 1 << 20, (1 << 20) + 1, 20_000_000])
    func valuesOfAnySize(_ size: Int) throws {
        let agent = try TestAgent(Scratch())
        try agent.unlock()
        let bytes = pattern(size)
        try agent.put(bytes, "big")
        #expect(try agent.get("big") == bytes)
        let memory = try String(contentsOfFile: "/proc/\(agent.pid)/status", encoding: .utf8)
        let peak = memory.split(separator: "\n").first { $0.hasPrefix("VmHWM") }
        if let peak, let size = Int(peak.filter(\.isNumber)), !Sanitizer.isPresent {
            #expect(size < 200_000, "\(peak)")
        }
    }

    /// Looking shares the claim for an instant.
    @Test func `an agent starts while others look whether one is there`() throws {
        let scratch = try Scratch()
        let home = scratch.home
        let isOver = Mutex(false)
        let looker = Thread { while !isOver.withLock({ $0 }) { _ = HomeClaim.isTaken(home: home) } }
        looker.start()
        defer { isOver.withLock { $0 = true } }
        for _ in 0..<10 {
            let agent = try TestAgent(scratch)
            #expect(HomeClaim.isTaken(home: home))
            #expect(throws: TestAgent.Refused(code: "agentRunning")) { _ = try TestAgent(scratch) }
            agent.kill()
        }
    }

    @Test func `an agent that starts or ends is told from one that serves in another runtime folder`() throws {
        let scratch = try Scratch()
        let folder = unsafe open(scratch.home, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        try #require(folder >= 0 && flock(folder, LOCK_EX | LOCK_NB) == 0)
        #expect(HomeClaim.isTaken(home: scratch.home) && !HomeClaim.isServing(home: scratch.home))
        close(folder)
        let agent = try TestAgent(scratch)
        #expect(HomeClaim.isTaken(home: scratch.home) && HomeClaim.isServing(home: scratch.home))
        agent.kill()
        #expect(!HomeClaim.isTaken(home: scratch.home) && !HomeClaim.isServing(home: scratch.home))
    }

    @Test func longListsComeInParts() throws {
        let scratch = try Scratch()
        let vault = try scratch.vault()
        let passcode = try secret("right")
        try vault.unlock(passcode: passcode, spending: vault.burnAttempt())
        let names = (0..<3000).map { String(repeating: "n", count: 200) + "\($0)" }
        let empty: [UInt8] = []
        try vault.write { session in
            for name in names { try session.put(unsafe empty.span.bytes, for: name) }
        }
        let agent = try TestAgent(scratch)
        try agent.unlock()
        let client = try agent.client()
        #expect(Set(try client.list(nil).map(\.name)) == Set(names))
        #expect(try client.list("none").isEmpty)
    }

    @Test func thePhraseOpensItToo() throws {
        let scratch = try Scratch(vault: false)
        let passcode = try secret("right")
        let phrase = try Vault.create(at: scratch.home, passcode: passcode, settings: scratch.settings)
        let agent = try TestAgent(scratch)
        let client = try agent.client()
        let nonsense = try secret("not a phrase at all")
        #expect(
            errorCode { _ = try client.unlock(.recoveryPhrase, nonsense) } == .malformedPhrase)
        try phrase.withText { text in
            let text = try secret(String(decoding: text.array, as: UTF8.self))
            #expect(try client.unlock(.recoveryPhrase, text) == 900_000)
        }
        #expect(try agent.status().isUnlocked)
    }

    /// A wrong passcode while the lock is open costs an attempt like any other and changes nothing else.
    @Test func aWrongPasscodeNeverLocksOrOpens() throws {
        let agent = try TestAgent(Scratch())
        #expect(errorCode { try agent.unlock("wrong") } == .wrongPasscode)
        #expect(try !agent.status().isUnlocked)
        #expect(try agent.scratch.vault().status().refusedAttempts == 1)
        try agent.unlock()
        #expect(try agent.scratch.vault().status().refusedAttempts == 0)
        #expect(errorCode { try agent.unlock("wrong too") } == .wrongPasscode)
        #expect(try agent.status().isUnlocked)
        #expect(try agent.scratch.vault().status().remainingAttempts == 4)
    }

    @Test func `a passcode that was changed beside it leaves it open`() throws {
        let agent = try TestAgent(Scratch())
        try agent.unlock()
        try agent.put([1], "name")
        let other = try agent.scratch.vault()
        try other.changePasscode(from: secret("right"), spending: other.burnAttempt(), to: secret("new"))
        #expect(try agent.get("name") == [1])
        try agent.lock()
        #expect(errorCode { try agent.unlock("right") } == .wrongPasscode)
        try agent.unlock("new")
        #expect(try agent.get("name") == [1])
    }

    @Test func `new keys lock it, and so does a header that was put back`() throws {
        let scratch = try Scratch(vault: false)
        let phrase = try Vault.create(at: scratch.home, passcode: secret("right"), settings: scratch.settings)
        let agent = try TestAgent(scratch)
        try agent.unlock()
        try agent.put([1], "name")
        let header = URL(fileURLWithPath: scratch.home + "/header")
        let old = try Data(contentsOf: header)
        let other = try scratch.vault()
        try other.changePasscode(from: secret("right"), spending: other.burnAttempt(), to: secret("new"))
        #expect(try agent.get("name") == [1])
        let new = try Data(contentsOf: header)
        try old.write(to: header)
        #expect(errorCode { _ = try agent.get("name") } == .locked)
        #expect(try !agent.status().isUnlocked)
        try new.write(to: header)
        try agent.unlock("new")
        try other.rekey(
            passcode: secret("new"), spending: other.burnAttempt(), newPasscode: secret("new"), phrase: phrase,
            isNewPhrase: false)
        #expect(try agent.status().isUnlocked, "it is noticed by the next request")
        #expect(errorCode { _ = try agent.get("name") } == .locked)
        #expect(try !agent.status().isUnlocked)
        try agent.unlock("new")
        #expect(try agent.get("name") == [1])
    }

    @Test func `rules that were changed beside it shorten its idle time from the next request on`() throws {
        let agent = try TestAgent(Scratch())
        func change(_ timing: LockTiming) throws {
            let other = try agent.scratch.vault()
            try other.changePolicy(passcode: secret("right"), spending: other.burnAttempt()) { $0.lockTiming = timing }
        }
        try agent.unlock()
        try agent.put([1], "name")
        try agent.advance(seconds: 14)
        try change(.after(seconds: 15))
        #expect(try agent.get("name") == [1])
        #expect(try agent.status().locksIn == 15_000)
        try change(.never)
        #expect(try agent.get("name") == [1])
        #expect(try agent.status().locksIn == 15_000, "only a new unlock makes it longer")
        // What was left unused for longer than the new rules allow is locked by them.
        try agent.unlock()
        try agent.advance(seconds: 60)
        try change(.after(seconds: 60))
        #expect(errorCode { _ = try agent.get("name") } == .locked)
        #expect(try !agent.status().isUnlocked)
    }

    @Test func anAgentOfARemovedHomeEnds() throws {
        let agent = try TestAgent(Scratch())
        try agent.unlock()
        let client = try agent.client()
        try FileManager.default.removeItem(atPath: agent.home)
        // The folder cannot be asked for its socket any more. Who is connected already meets no keys, vault or agent.
        let code = errorCode { try client.remove(path("name")) }
        #expect(code == .locked || code == .noVault || code == .agentUnavailable, "\(String(describing: code))")
        #expect(agent.waitForEnd() == 0)
    }

    /// Nobody asks it for anything, and nobody can.
    @Test(arguments: ["home", "runtime"])
    func `an agent whose folder was removed ends by itself`(_ name: String) throws {
        let agent = try TestAgent(Scratch(), parts: ["SUBJECT_FOLDER_PATIENCE": "50"])
        try agent.unlock()
        try FileManager.default.removeItem(atPath: name == "home" ? agent.home : agent.scratch.runtime)
        #expect(Patience.wait { !agent.isRunning })
        #expect(agent.isRunning || agent.waitForEnd() == 0)
    }

    /// Two at once, one after another, one killed: always exactly one, and the next is not hindered by what is left.
    @Test func oneForEachHome() throws {
        let scratch = try Scratch()
        try scratch.makeVault(at: scratch.path + "/second", passcode: "other")
        let first = try TestAgent(scratch)
        #expect(throws: TestAgent.Refused(code: "agentRunning")) { _ = try TestAgent(scratch) }
        #expect(throws: TestAgent.Refused(code: "agentRunning")) { _ = try TestAgent(scratch, inHome: true) }
        let second = try TestAgent(scratch, home: scratch.path + "/second")
        try first.unlock()
        #expect(try !second.status().isUnlocked)
        try second.unlock("other")
        try first.put([1], "name")
        try second.put([2], "name")
        #expect(try first.get("name") == [1])
        #expect(try second.get("name") == [2])
        first.kill()
        #expect(try second.get("name") == [2])
        #expect(FileManager.default.fileExists(atPath: first.socketPath))
        #expect(try isAbsent(first))
        let third = try TestAgent(scratch)
        #expect(try !third.status().isUnlocked)
        #expect(errorCode { _ = try third.get("name") } == .locked)
        try third.unlock()
        #expect(try third.get("name") == [1])
        #expect(third.end(with: SIGTERM) == 0)
        #expect(!FileManager.default.fileExists(atPath: third.socketPath))
        #expect(second.end(with: SIGINT) == 0)
        // The same home by another path.
        try FileManager.default.createSymbolicLink(
            atPath: scratch.path + "/link", withDestinationPath: scratch.home)
        let fourth = try TestAgent(scratch)
        #expect(throws: TestAgent.Refused(code: "agentRunning")) {
            _ = try TestAgent(scratch, home: scratch.path + "/link")
        }
        let client = try #require(try AgentClientBox(home: scratch.path + "/link", runtime: scratch.runtime))
        #expect(try client.client.status().process == UInt32(fourth.pid))
    }

    private func isAbsent(_ agent: TestAgent) throws -> Bool {
        try AgentClientBox(home: agent.home, runtime: agent.runtime) == nil
    }
}
