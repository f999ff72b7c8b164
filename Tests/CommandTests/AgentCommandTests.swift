import Foundation
import TestSupport
import Testing

/// unlock, lock, and the commands that use the agent: the real binary, real processes, real costs.
@Suite struct AgentCommandTests {
    @Test func theCommandsGoThroughIt() throws {
        let sandbox = try AgentSandbox()
        let none = try sandbox.run("get", "greeting")
        #expect(none.code == 3 && none.errors.contains("there is no terminal"), "\(none.errors)")
        #expect(try sandbox.run("lock").code == 0, "nothing to lock is fine")
        #expect(try sandbox.agent() == nil, "no command but unlock starts one")

        let unlocked = try sandbox.run("unlock", "--json", passcode: Prepared.passcode)
        #expect(unlocked.code == 0, "\(unlocked.errors)")
        #expect(try unlocked.json()["isUnlocked"] as? Bool == true)
        let seconds = try #require(try unlocked.json()["locksInSeconds"] as? Int)
        #expect((890...900).contains(seconds))
        let agent = try #require(try sandbox.agent())
        #expect(agent["isUnlocked"] as? Bool == true)
        let status = try sandbox.run("status").text
        #expect(status.contains("unlocked. Locks at "))
        #expect(status.contains("asks for the passcode or the recovery phrase\n"), "no PIN is set: \(status)")

        #expect(try sandbox.run("get", "greeting").text == Prepared.greeting)
        #expect(try sandbox.run("get", "big", "--collection", "files").output == Prepared.big)
        let put = try sandbox.run("put", "new", input: .file(sandbox.file("value".utf8)))
        #expect(put.code == 0 && put.output.isEmpty && put.errors.isEmpty, "\(put.errors)")
        #expect(try sandbox.run("get", "new").text == "value")
        #expect(try sandbox.run("put", "large", input: .file(sandbox.file(Prepared.big))).code == 0)
        #expect(try sandbox.run("get", "large").output == Prepared.big)
        let list = try sandbox.run("list", "--json").json()["records"] as? [[String: Any]]
        #expect(list?.compactMap { $0["name"] as? String } == ["greeting", "large", "new", "big"])
        #expect(try sandbox.run("list", "--collection", "files", "--long").text.hasPrefix("files\tbig\t3000001\t"))
        #expect(try sandbox.run("rm", "new").code == 0)
        let gone = try sandbox.run("get", "new")
        #expect(gone.code == 6 && gone.errors.contains("there is no entry 'new'"), "\(gone.errors)")
        #expect(try sandbox.run("rm", "new").code == 6)

        let locked = try sandbox.run("lock")
        #expect(locked.code == 0 && locked.output.isEmpty && locked.errors.isEmpty)
        #expect(try sandbox.agent()?["isUnlocked"] as? Bool == false)
        #expect(try sandbox.run("status").text.contains("running, locked"))
        for words in [["get", "greeting"], ["list"], ["rm", "greeting"], ["put", "x"]] {
            let refused = try sandbox.run(raw: words.map { Array($0.utf8) })
            #expect(
                refused.code == 3 && refused.errors.contains("locked: there is no terminal"),
                "\(words) \(refused.errors)")
        }
        // Beside it, with the passcode, everything goes as without it.
        #expect(try sandbox.run("get", "greeting", passcode: Prepared.passcode).text == Prepared.greeting)
        #expect(try sandbox.agent()?["isUnlocked"] as? Bool == false)
        #expect(try sandbox.run("lock", "--shut-down").code == 0)
        #expect(try sandbox.agent() == nil)
    }

    @Test func `the log, the check and the inbox go through it`() throws {
        let sandbox = try AgentSandbox()
        for name in ["kept", "dropped"] {
            #expect(try sandbox.run("put", name, "--open", input: .file(sandbox.file("x".utf8))).code == 0)
        }
        // As each process that opens the vault itself says it.
        func whole(_ words: String..., passcode: String? = nil) throws -> String {
            let result = try sandbox.run(raw: words.map { Array($0.utf8) }, passcode: passcode)
            #expect(result.code == 0, "\(words) \(result.errors)")
            return result.text
        }
        let waiting = try whole("inbox", "list", "--json", passcode: Prepared.passcode)
        #expect(try sandbox.run("unlock", passcode: Prepared.passcode).code == 0)
        #expect(try whole("verify", "--json") == whole("verify", "--json", passcode: Prepared.passcode))
        #expect(try whole("inbox", "list", "--json") == waiting)
        let log = try whole("log", "--json")
        #expect(log == (try whole("log", "--json")), "looking leaves no trace")
        #expect(log.contains("\"unlocked\"") && log.contains("\"isIntact\":true"))
        #expect(try whole("log", "verify").contains("unchanged"))
        let accepted = try sandbox.run("inbox", "accept", "kept", "--as", "mine", "--json")
        #expect(try accepted.json() as? [String: String] == ["collection": "default", "name": "mine"])
        #expect(try sandbox.run("get", "mine").text == "x")
        let again = try sandbox.run("inbox", "accept", "kept")
        #expect(again.code == 6 && again.errors.contains("no entry \"kept\" in the inbox"), "\(again.errors)")
        let taken = try sandbox.run("inbox", "accept", "dropped", "--as", "mine")
        #expect(taken.code == 1 && taken.errors.contains("--replace"), "\(taken.errors)")
        #expect(try sandbox.run("inbox", "reject", "dropped").code == 0)
        #expect(try sandbox.run("inbox", "reject", "dropped").code == 6)
        #expect(try sandbox.run("lock").code == 0)
        for words in [["log"], ["verify"], ["inbox", "list"], ["inbox", "reject", "x"]] {
            let refused = try sandbox.run(raw: words.map { Array($0.utf8) })
            #expect(
                refused.code == 3 && refused.errors.contains("locked: there is no terminal"),
                "\(words) \(refused.errors)")
        }
    }

    /// Whatever an agent finds, its client says what a process of its own would.
    @Test func `damage is told through it`() throws {
        let sandbox = try AgentSandbox()
        #expect(try sandbox.run("unlock", passcode: Prepared.passcode).code == 0)
        let files = URL(fileURLWithPath: sandbox.home + "/files")
        let file = try #require(
            FileManager.default.contentsOfDirectory(at: files, includingPropertiesForKeys: nil).first)
        let handle = try FileHandle(forUpdating: file)
        try handle.seek(toOffset: 100_000)
        try handle.write(contentsOf: Data([1, 2, 3, 4]))
        try handle.close()
        let checked = try sandbox.run("verify", "--json")
        #expect(checked.code == 5, "\(checked.errors)")
        let own = try sandbox.run("verify", "--json", passcode: Prepared.passcode)
        #expect(try checked.json() as NSDictionary == own.json() as NSDictionary)
        #expect((try checked.json()["damagedFiles"] as? [Any])?.count == 1)
    }

    @Test(.enabled(if: geteuid() == 0, "only root sees an agent's variables: they are not looked at"))
    func `the agent has nothing of its starter's environment but what it needs`() throws {
        let sandbox = try AgentSandbox()
        let secrets = ["API_TOKEN": "hunter2", "LISTEN_FDS": "0", "XDGX": "x", "HOMER": "x"]
        let unlocked = try sandbox.run(
            "unlock", passcode: Prepared.passcode, environment: secrets.merging(["XDG_CURRENT_DESKTOP": "test"]) { $1 })
        #expect(unlocked.code == 0, "\(unlocked.errors)")
        let process = try #require(try sandbox.agent()?["process"] as? Int)
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/\(process)/environ"))
        let variables = try #require(try file.readToEnd()).split(separator: 0).map {
            String(decoding: $0, as: UTF8.self)
        }
        let names = Set(variables.map { String($0.prefix { $0 != "=" }) })
        #expect(names.isDisjoint(with: secrets.keys), "\(names)")
        #expect(names.isSuperset(of: ["HOME", "XDG_RUNTIME_DIR", "XDG_CURRENT_DESKTOP"]), "\(names)")
        #expect(variables.filter { $0.hasPrefix("XDG_RUNTIME_DIR=") }.count == 1)
    }

    @Test func `an unlock that fails leaves no agent`() throws {
        let sandbox = try AgentSandbox()
        #expect(try sandbox.run("unlock", passcode: "not it").code == 3)
        #expect(try sandbox.agent() == nil)
        // One that was there stays.
        #expect(try sandbox.run("unlock", passcode: Prepared.passcode).code == 0)
        #expect(try sandbox.run("lock").code == 0)
        #expect(try sandbox.run("unlock", passcode: "not it").code == 3)
        #expect(try sandbox.agent()?["isUnlocked"] as? Bool == false)
    }

    /// A vault that stays open must not look locked.
    @Test func `lock fails where it cannot reach the agent that serves the vault`() throws {
        let sandbox = try AgentSandbox()
        #expect(try sandbox.run("unlock", passcode: Prepared.passcode).code == 0)
        let other = sandbox.path + "/elsewhere"
        try FileManager.default.createDirectory(
            atPath: other, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        for words in [["lock"], ["lock", "--shut-down"]] {
            let result = try sandbox.run(
                raw: words.map { Array($0.utf8) }, environment: ["XDG_RUNTIME_DIR": other])
            #expect(result.code == 1 && result.errors.contains("an agent serves this vault"), "\(result.errors)")
            #expect(result.errors.contains("XDG_RUNTIME_DIR"))
        }
        #expect(try sandbox.agent()?["isUnlocked"] as? Bool == true)
        #expect(try sandbox.run("lock", "--shut-down").code == 0)
        #expect(try sandbox.run("lock", environment: ["XDG_RUNTIME_DIR": other]).code == 0, "nobody serves it any more")
        let nowhere = try sandbox.run("lock", "--home", sandbox.path + "/nowhere")
        #expect(nowhere.code == 6 && nowhere.errors.contains("no vault"), "\(nowhere.errors)")
    }

    @Test func `unlock asks for nothing while the agent is unlocked`() throws {
        let sandbox = try AgentSandbox()
        #expect(try sandbox.run("unlock", passcode: Prepared.passcode).code == 0)
        let again = try sandbox.run("unlock", "--json")
        #expect(again.code == 0, "\(again.errors)")
        #expect(try again.json()["isUnlocked"] as? Bool == true)
        #expect(try sandbox.run("unlock", "--idle=60").code == 2, "another time is asked for")
        #expect(try sandbox.run("lock", "--shut-down").code == 0)
        #expect(try sandbox.run("unlock").code == 3)
    }

    @Test func aRefusedValueIsNotRead() throws {
        let sandbox = try AgentSandbox()
        #expect(try sandbox.run("unlock", passcode: Prepared.passcode).code == 0)
        let input = unsafe open(try sandbox.file("another".utf8), O_RDONLY)
        defer { close(input) }
        let refused = try sandbox.run("put", "greeting", input: .ours(input))
        #expect(
            refused.code == 1 && refused.errors.contains("already an entry 'greeting'; use --replace to replace it"))
        #expect(lseek(input, 0, SEEK_CUR) == 0, "standard input was read though the value was refused")
        #expect(try sandbox.run("put", "greeting", "--replace", input: .ours(input)).code == 0)
        #expect(try sandbox.run("get", "greeting").text == "another")
        let closed = try sandbox.run("get", "greeting", descriptors: [1: .terminal("/dev/full")])
        #expect(closed.code == 1 && closed.errors.contains("writing to standard output"), "\(closed.errors)")
    }

    @Test func refusalsSayWhatIsLeft() throws {
        let sandbox = try AgentSandbox()
        let wrong = try sandbox.run("unlock", "--json", passcode: "wrong")
        #expect(wrong.code == 3)
        #expect(try wrong.jsonError()["code"] as? String == "wrongPasscode")
        #expect(try wrong.jsonError()["remainingAttempts"] as? Int == 4)
        let beside = try sandbox.run("get", "greeting", passcode: "another")
        #expect(beside.code == 3 && beside.errors.contains("3 attempts remain"), "\(beside.errors)")
        let third = try sandbox.run("unlock", passcode: "a third")
        #expect(third.code == 3 && third.errors.contains("2 attempts remain, the next one in 30 s"), "\(third.errors)")
        let delayed = try sandbox.run("unlock", "--json", passcode: Prepared.passcode)
        #expect(delayed.code == 4)
        #expect(try delayed.jsonError()["code"] as? String == "delayed")
        // The phrase opens, and gives the attempts back.
        let phrase = try sandbox.file((try Prepared.shared().phrase + "\n").utf8)
        let opened = try sandbox.run("unlock", "--phrase-fd", "4", descriptors: [4: .file(phrase)])
        #expect(opened.code == 0, "\(opened.errors)")
        #expect(try sandbox.run("get", "greeting").text == Prepared.greeting)
        #expect(try sandbox.run("status", "--json").json()["remainingAttempts"] as? Int == 5)
    }

    /// Begins to turn self-destruct on.
    /// - Returns: The command that waits for the countdown, and what the agent says of it.
    private func enableSelfDestruct(
        _ passcodes: String, in sandbox: AgentSandbox
    ) throws -> (enabling: Child, pending: [String: Any]?) {
        let enabling = try Child(
            raw: ["self-destruct", "enable", "--yes", "--passcode-fd=3"].map { Array($0.utf8) },
            descriptors: [3: .file(passcodes), 2: .output(sandbox.path + "/enabling")], environment: sandbox.variables)
        var pending: [String: Any]?
        while pending?["remainingSeconds"] as? Int == nil, enabling.isRunning {
            pending = try sandbox.run("self-destruct", "status", "--json").json()["pending"] as? [String: Any]
        }
        return (enabling, pending)
    }

    /// The countdown lives in the agent: another terminal sees it and cancels it.
    @Test func aChangeOfSelfDestructIsCancelledFromElsewhere() throws {
        let sandbox = try AgentSandbox()
        let nothing = try sandbox.run("self-destruct", "cancel")
        #expect(nothing.code == 0 && nothing.text.contains("nothing is pending in an agent"), "\(nothing.errors)")
        #expect(try sandbox.run("unlock", passcode: Prepared.passcode).code == 0)
        #expect(try sandbox.run("self-destruct", "cancel", "--json").json()["cancelled"] as? Bool == false)
        let twice = try sandbox.file("\(Prepared.passcode)\n\(Prepared.passcode)\n".utf8)
        let (enabling, pending) = try enableSelfDestruct(twice, in: sandbox)
        #expect(pending?["change"] as? String == "enable")
        #expect(pending?["countdownSeconds"] as? Int == 30)
        #expect(try sandbox.run("self-destruct", "status").text.contains("turns on in "))
        #expect(try sandbox.run("self-destruct", "cancel").text == "cancelled; nothing was changed\n")
        #expect(enabling.wait() == 1)
        let errors = String(decoding: try sandbox.bytes("enabling"), as: UTF8.self)
        #expect(errors.contains("the change was cancelled elsewhere"), "\(errors)")
        let status = try sandbox.run("self-destruct", "status", "--json").json()
        #expect(status["selfDestruct"] as? Bool == false && status["pending"] is NSNull)
        #expect(try sandbox.agent()?["isUnlocked"] as? Bool == true)
    }

    @Test func `after one's own changes the agent is open still, and holds a change of self-destruct`() throws {
        let sandbox = try AgentSandbox()
        #expect(try sandbox.run("unlock", passcode: Prepared.passcode).code == 0)
        #expect(try sandbox.run("lock-policy", "set", "attemptLimit=9", passcode: Prepared.passcode).code == 0)
        let phrase = try sandbox.run(
            "enroll", "phrase", "--phrase-out-fd=4", passcode: Prepared.passcode,
            descriptors: [4: .output(sandbox.path + "/words")])
        #expect(phrase.code == 0, "\(phrase.errors)")
        let changed = try sandbox.run(
            "passcode", "change", "--passcode-fd=3",
            descriptors: [3: .file(sandbox.file("\(Prepared.passcode)\nanother long one\n".utf8))])
        #expect(changed.code == 0, "\(changed.errors)")
        #expect(try sandbox.run("get", "greeting").text == Prepared.greeting)
        let twice = try sandbox.file("another long one\nanother long one\n".utf8)
        let (enabling, pending) = try enableSelfDestruct(twice, in: sandbox)
        #expect(pending?["change"] as? String == "enable", "the agent holds it")
        #expect(try sandbox.run("self-destruct", "cancel").text == "cancelled; nothing was changed\n")
        #expect(enabling.wait() == 1)
        #expect(try sandbox.agent()?["isUnlocked"] as? Bool == true)
        #expect(try sandbox.run("status", "--json").json()["remainingAttempts"] as? Int == 9)
    }

    @Test func `self-destruct is turned on by the command where the agent locks because of new keys`() throws {
        let sandbox = try AgentSandbox()
        #expect(try sandbox.run("unlock", passcode: Prepared.passcode).code == 0)
        let words = try sandbox.file("\(Prepared.passcode)\n\(Prepared.passcode)\n".utf8)
        let rekeyed = try sandbox.run(
            "passcode", "change", "--rekey", "--passcode-fd=3", "--phrase-out-fd=4",
            descriptors: [3: .file(words), 4: .output(sandbox.path + "/words")])
        #expect(rekeyed.code == 0, "\(rekeyed.errors)")
        let terminal = try PseudoTerminal()
        let child = try sandbox.sandbox.start(
            "self-destruct", "enable", "--yes", on: terminal, environment: sandbox.variables)
        try terminal.wait(for: "Passcode: ")
        terminal.type(Prepared.passcode + "\n")
        try terminal.wait(for: "press Ctrl-C to cancel [")
        kill(child.pid, SIGINT)
        #expect(child.wait() != 3)
        #expect(try sandbox.agent()?["isUnlocked"] as? Bool == false)
    }

    @Test func `an idle time that the rules or --timeout cut is said to be cut`() throws {
        let sandbox = try AgentSandbox()
        #expect(try sandbox.run("lock-policy", "set", "lockTiming=1min", passcode: Prepared.passcode).code == 0)
        let cut = try sandbox.run("unlock", "--idle=1h", passcode: Prepared.passcode)
        #expect(cut.code == 0 && cut.errors.contains("lock after 1min without use"), "\(cut.errors)")
        let less = try sandbox.run("unlock", "--idle=30s", passcode: Prepared.passcode)
        #expect(less.code == 0 && !less.errors.contains("without use"), "\(less.errors)")
        #expect(try sandbox.run("lock-policy", "set", "lockTiming=never", passcode: Prepared.passcode).code == 0)
        let timeout = try sandbox.run("unlock", "--idle=1h", "--timeout=10min", passcode: Prepared.passcode)
        #expect(timeout.code == 0 && timeout.errors.contains("after 10min in any case"), "\(timeout.errors)")
    }

    @Test func `an idle time of the configuration, and one of an agent in the foreground, are said to be cut`() throws {
        let sandbox = try AgentSandbox()
        let configuration = sandbox.path + "/configuration"
        try FileManager.default.createDirectory(atPath: configuration + "/holdfast", withIntermediateDirectories: true)
        try Data("idle = 13h\n".utf8).write(to: URL(fileURLWithPath: configuration + "/holdfast/config"))
        let environment = ["XDG_CONFIG_HOME": configuration]
        let unlocked = try sandbox.run("unlock", passcode: Prepared.passcode, environment: environment)
        #expect(unlocked.code == 0 && unlocked.errors.contains("after 12h in any case"), "\(unlocked.errors)")
        for words in [["agent"], ["agent", "--idle=14h"]] {
            // There is one already, so it ends at once.
            let agent = try sandbox.run(raw: words.map { Array($0.utf8) }, environment: environment)
            #expect(agent.code == 1 && agent.errors.contains("after 12h in any case"), "\(words) \(agent.errors)")
        }
    }

    @Test func aKilledAgentMeansLocked() throws {
        let sandbox = try AgentSandbox()
        #expect(try sandbox.run("unlock", passcode: Prepared.passcode).code == 0)
        let first = try #require(try sandbox.agent()?["process"] as? Int)
        kill(pid_t(first), SIGKILL)
        sandbox.awaitEnd(of: first)
        #expect(try sandbox.agent() == nil)
        #expect(try sandbox.run("get", "greeting").code == 3)
        #expect(try sandbox.run("lock").code == 0)
        #expect(try sandbox.run("unlock", passcode: Prepared.passcode).code == 0)
        #expect(try sandbox.agent()?["process"] as? Int != first)
        #expect(try sandbox.run("get", "greeting").text == Prepared.greeting)
    }

    @Test func twoStartersGetOneAgent() throws {
        let sandbox = try AgentSandbox()
        let children = try (0..<4).map { index in
            try Child(
                raw: ["unlock", "--passcode-fd=3"].map { Array($0.utf8) },
                descriptors: [
                    3: .file(sandbox.file((Prepared.passcode + "\n").utf8)), 2: .output(sandbox.path + "/\(index)"),
                ],
                environment: sandbox.variables)
        }
        for (index, child) in children.enumerated() {
            let code = child.wait()
            let errors = String(decoding: try sandbox.bytes("\(index)"), as: UTF8.self)
            #expect(code == 0, "\(errors)")
        }
        let sockets = try FileManager.default.contentsOfDirectory(atPath: sandbox.path + "/runtime/holdfast")
        #expect(sockets.count == 1)
        #expect(try sandbox.run("get", "greeting").text == Prepared.greeting)
    }

    @Test func anUnsafePlaceIsNotUsed() throws {
        let sandbox = try AgentSandbox()
        let folder = sandbox.path + "/runtime/holdfast"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
        let refused = try sandbox.run("unlock", passcode: Prepared.passcode)
        #expect(refused.code == 1 && refused.errors.contains("can be entered by other users"), "\(refused.errors)")
        #expect(try sandbox.run("status").text.contains("not responding"))
        // Others do without it, and say so.
        let beside = try sandbox.run("get", "greeting")
        #expect(beside.code == 3 && beside.errors.contains("opening the vault without the agent"), "\(beside.errors)")
        #expect(try sandbox.run("get", "greeting", passcode: Prepared.passcode).text == Prepared.greeting)
    }

    /// Nothing of its starter stays with it: no descriptor, no folder, no argument that says more than where the vault
    /// is.
    @Test func aStartedAgentKeepsNothingOfItsStarter() throws {
        let sandbox = try AgentSandbox()
        var ends: [Int32] = [-1, -1]
        try #require(unsafe pipe(&ends) == 0)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[0]) }
        let unlocked = try sandbox.run(
            "unlock", passcode: Prepared.passcode, descriptors: [9: .ours(ends[1]), 10: .ours(ends[1])])
        close(ends[1])
        #expect(unlocked.code == 0)
        var byte: UInt8 = 0
        var waiting = pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)
        #expect(
            unsafe poll(&waiting, 1, Patience.milliseconds) == 1, "the agent holds a descriptor of its starter open")
        #expect(unsafe read(ends[0], &byte, 1) == 0)
        let agent = try #require(try sandbox.agent()?["process"] as? Int)
        let line = try Data(contentsOf: URL(fileURLWithPath: "/proc/\(agent)/cmdline")).split(separator: 0)
        #expect(
            line.map { String(decoding: $0, as: UTF8.self) } == [
                "holdfast", "agent", "--report", "--home=\(sandbox.home)",
            ])
        if geteuid() == 0 {  // the process is closed to its own user
            let folder = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(agent)/cwd")
            #expect(folder == "/")
        }
    }

    @Test func inTheForegroundItSaysWhyItCannotStart() throws {
        let sandbox = try AgentSandbox()
        #expect(try sandbox.run("unlock", passcode: Prepared.passcode).code == 0)
        let second = try sandbox.run("agent")
        #expect(second.code == 1 && second.errors.contains("an agent is already running"), "\(second.errors)")
        let nowhere = try sandbox.run("agent", "--home", sandbox.path + "/nowhere")
        #expect(nowhere.code == 6)
        let other = try sandbox.run(
            "unlock", passcode: Prepared.passcode, environment: ["XDG_RUNTIME_DIR": sandbox.path])
        #expect(other.code == 1 && other.errors.contains("not in this runtime folder"), "\(other.errors)")
    }

    @Test("time", arguments: ["0", "-1", "604801", "1.5", "ten", "99999999999"])
    func timesAreChecked(_ time: String) throws {
        let sandbox = try Sandbox()
        let result = try sandbox.run("unlock", "--idle", time)
        #expect(result.code == 2 && result.errors.contains("--idle TIME"), "\(result.errors)")
    }
}

/// A sandbox with a copy of the prepared vault and a runtime folder, whose agent ends with it.
final class AgentSandbox {
    let sandbox: Sandbox

    /// - Parameter isPrepared: Whether a vault with a passcode is there.
    init(prepared isPrepared: Bool = true) throws {
        sandbox = try isPrepared ? Sandbox(prepared: true) : Sandbox()
        try FileManager.default.createDirectory(
            atPath: sandbox.path + "/runtime", withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700])
    }

    var path: String { sandbox.path }
    var home: String { sandbox.home }
    var runtime: String { path + "/runtime" }
    var variables: [String: String] {
        ["HOLDFAST_HOME": home, "HOME": path, "TMPDIR": path, "XDG_RUNTIME_DIR": path + "/runtime"]
    }

    func file(_ bytes: some Sequence<UInt8>) throws -> String { try sandbox.file(bytes) }
    func bytes(_ name: String) throws -> [UInt8] { try sandbox.bytes(name) }
    func lines(_ text: String) throws -> Source { try sandbox.lines(text) }

    func run(
        _ words: String..., passcode: String? = nil, input: Source = .null, descriptors: [Int32: Source] = [:],
        environment: [String: String] = [:]
    ) throws -> Sandbox.Result {
        try run(
            raw: words.map { Array($0.utf8) }, passcode: passcode, input: input, descriptors: descriptors,
            environment: environment)
    }

    func run(
        raw words: [[UInt8]], passcode: String? = nil, input: Source = .null, descriptors: [Int32: Source] = [:],
        environment: [String: String] = [:], started: ((pid_t) -> Void)? = nil
    ) throws -> Sandbox.Result {
        try sandbox.run(
            raw: words, passcode: passcode, input: input, descriptors: descriptors,
            environment: variables.merging(environment) { $1 }, started: started)
    }

    /// What status says of the agent; nil when none runs.
    func agent() throws -> [String: Any]? { try run("status", "--json").json()["agent"] as? [String: Any] }

    /// Returns when the process has ended, whoever its parent is.
    func awaitEnd(of process: Int) {
        // A process that was killed gives up its claim on the home as its last act.
        let folder = unsafe open(home, O_RDONLY)
        flock(folder, LOCK_EX)
        close(folder)
    }

    deinit {
        guard let process = try? agent()?["process"] as? Int else { return }
        kill(pid_t(process), SIGKILL)
        awaitEnd(of: process)
    }
}
