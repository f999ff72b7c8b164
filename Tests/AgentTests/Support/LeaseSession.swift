import Foundation
import Items
import TestSupport
import Testing
import VaultCore
import VaultFormat
import VaultStorage

/// A session of its own, whose leader connects to the agent as it is told, itself or through others. Ended with this
/// object.
final class LeaseSession {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private let lines: LineReader

    /// What it can be told is in the script.
    private static let script = #"""
        import os, shutil, socket, struct, subprocess, sys
        path = sys.argv[1]
        def connect():
            folder = os.open(os.path.dirname(path), os.O_RDONLY)
            s = socket.socket(socket.AF_UNIX)
            s.connect(f"/proc/self/fd/{folder}/{os.path.basename(path)}")
            os.close(folder)
            return s
        def text(t): return struct.pack("<H", len(t.encode())) + t.encode()
        def send(s, kind, body): s.sendall(struct.pack("<IBB", len(body), 1, kind) + body)
        def exactly(s, n):
            data = b""
            while len(data) < n:
                more = s.recv(n - len(data))
                if not more: raise EOFError
                data += more
            return data
        def receive(s):
            size, version, kind = struct.unpack("<IBB", exactly(s, 6))
            return kind, exactly(s, size)
        def ask(s, name): send(s, 32, b"\0" + text("default") + text(name) + b"\0")
        def answer(s):
            value = b""
            try:
                while True:
                    kind, body = receive(s)
                    if kind == 134: value += body
                    elif kind == 136: return "value " + value.decode()
                    elif kind == 128: return "done"
                    else: return "failure " + body[2:2 + body[0]].decode()
            except (EOFError, ConnectionError): return "closed"
        def value(s, name):
            ask(s, name)
            return answer(s)
        def say(line):
            print(line, flush=True)
        if len(sys.argv) > 2:
            # On the connection of what ran here before, or on one of its own.
            inherited = int(sys.argv[2])
            say(value(socket.socket(fileno=inherited) if inherited >= 0 else connect(), sys.argv[3]))
            sys.exit()
        copy = os.path.join(os.path.dirname(sys.argv[0]), f"python-{os.getpid()}")
        def other():
            if not os.path.exists(copy): shutil.copy(os.path.realpath(sys.executable), copy)
            return copy
        environment = dict(os.environ, PYTHONHOME=sys.base_prefix)
        kept = []
        say("ready")
        for line in sys.stdin:
            word, _, name = line.rstrip("\n").partition(" ")
            if word == "value": say(value(connect(), name))
            elif word == "begin":
                kept.append(connect())
                ask(kept[-1], name)
                say("begun")
            elif word == "answer": say(answer(kept.pop(0)))
            elif word == "leave":
                kept.pop(0).close()
                say("left")
            elif word == "child": subprocess.run([sys.executable, sys.argv[0], path, "-1", name])
            elif word == "other": subprocess.run([other(), sys.argv[0], path, "-1", name], env=environment)
            elif word == "exec":
                # The other program asks on a connection that this one's program made.
                if os.fork() == 0:
                    s = connect()
                    # The agent sees who made a connection when it takes it, which it has when it answers.
                    send(s, 9, b"")
                    receive(s)
                    os.set_inheritable(s.fileno(), True)
                    os.execve(other(), [other(), sys.argv[0], path, str(s.fileno()), name], environment)
                os.wait()
            elif word == "fork":
                # The child asks when the process that connected has ended.
                reading, writing = os.pipe()
                middle = os.fork()
                if middle == 0:
                    s = connect()
                    if os.fork() == 0:
                        os.close(writing)
                        os.read(reading, 1)
                        say(value(s, name))
                    os._exit(0)
                os.close(reading)
                os.waitpid(middle, 0)
                os.close(writing)
            elif word == "orphan":
                # In a session whose leader has ended.
                reading, writing = os.pipe()
                leader = os.fork()
                if leader == 0:
                    os.setsid()
                    if os.fork() == 0:
                        os.close(writing)
                        os.read(reading, 1)
                        say(value(connect(), name))
                    os._exit(0)
                os.close(reading)
                os.waitpid(leader, 0)
                os.close(writing)
            elif word == "introduce":
                kept.append(connect())
                program, _, name = name.partition(" ")
                device, inode = program.split(":")
                send(kept[-1], 42, b"\1" + struct.pack("<QQ", int(device), int(inode)) + text(":7") + text("") + text("xterm"))
                ask(kept[-1], name)
                say(answer(kept.pop()))
            elif word == "lease":
                target, _, seconds = name.partition(" ")
                body = b"\2" + text(target[1:]) if target.startswith("#") else b"\1" + text("default") + text(target)
                s = connect()
                send(s, 43, body + (b"\1" + struct.pack("<I", int(seconds)) if seconds else bytes(5)))
                say(answer(s))
        """#

    init(_ agent: TestAgent) throws {
        let file = agent.scratch.path + "/session-\(UUID().uuidString).py"
        try Data(LeaseSession.script.utf8).write(to: URL(fileURLWithPath: file))
        process.executableURL = URL(fileURLWithPath: "/usr/bin/setsid")
        process.arguments = ["--wait", "/usr/bin/python3", file, agent.socketPath]
        process.standardInput = input
        process.standardOutput = output
        lines = LineReader(output.fileHandleForReading)
        try process.run()
        try #require(lines.next() == "ready")
    }

    deinit {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    func tell(_ words: String) throws { try input.fileHandleForWriting.write(contentsOf: Data((words + "\n").utf8)) }

    func hear() -> String? { lines.next() }

    func ask(_ words: String) throws -> String? {
        try tell(words)
        return hear()
    }
}

/// Lines of a pipe, one at a time.
final class LineReader {
    private let handle: FileHandle

    init(_ handle: FileHandle) { self.handle = handle }

    func next() -> String? {
        var bytes = Data()
        while let next = try? handle.read(upToCount: 1), !next.isEmpty {
            if next[0] == UInt8(ascii: "\n") { return String(decoding: bytes, as: UTF8.self) }
            bytes += next
        }
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }
}

/// A pinentry that is a script in a scratch folder, and what it was told.
struct ScriptedPinentry {
    let folder: String
    var path: String { folder + "/pinentry" }

    /// Answers each question with a line of the file `answer`, and one for a secret with one of `secret`. Both may be
    /// pipes.
    private static let obedient = #"""
        #!/usr/bin/python3
        import os, sys
        folder = os.path.dirname(sys.argv[0])
        log = open(folder + "/log", "a")
        alive = os.open(folder + "/alive", os.O_WRONLY) if os.path.exists(folder + "/alive") else -1
        log.write("ENV " + " ".join(sorted(os.environ)) + "\n")
        log.write("FDS " + " ".join(sorted(os.listdir("/proc/self/fd"))) + "\n")
        print("OK", flush=True)
        for line in sys.stdin:
            log.write(line)
            log.flush()
            if line == "CONFIRM\n":
                with open(folder + "/answer") as answer: said = answer.readline().rstrip("\n")
                log.write("TOOK\n")
                log.flush()
                print(said, flush=True)
            elif line == "GETPIN\n":
                with open(folder + "/secret") as secret: said = secret.readline().rstrip("\n")
                log.write("TOOK\n")
                log.flush()
                print(said if said.startswith("ERR ") else "D " + said + "\nOK", flush=True)
            elif line.startswith(("OPTION ", "SET")): print("OK", flush=True)
            else: print("ERR 536871187 Unknown IPC command <Pinentry>", flush=True)
        """#

    /// The same, but it ends only when it is killed.
    static let stubborn = obedient.replacing(
        "import os, sys", with: "import os, signal, sys; signal.signal(signal.SIGTERM, signal.SIG_IGN)")

    init(_ scratch: Scratch, script: String = obedient) throws {
        folder = scratch.path + "/pinentry-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        try Data(script.utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
        try answer("OK")
    }

    var part: [String: String] { ["SUBJECT_PINENTRY": path] }

    /// What it says from now on.
    func answer(_ line: String) throws {
        try Data((line + "\n").utf8).write(to: URL(fileURLWithPath: folder + "/answer"))
    }

    /// What it says where a secret is asked for.
    func enter(_ secret: String) throws {
        try Data((secret + "\n").utf8).write(to: URL(fileURLWithPath: folder + "/secret"))
    }

    static let no = "ERR 83886194 Not confirmed"

    static let cancelled = "ERR 83886179 Operation cancelled"

    /// Questions wait until ``release(_:)``.
    /// - Parameter file: `secret` for those for a secret.
    func hold(_ file: String = "answer") throws {
        try? FileManager.default.removeItem(atPath: "\(folder)/\(file)")
        let isMade = unsafe mkfifo("\(folder)/\(file)", 0o600) == 0
        try #require(isMade)
    }

    /// Waits until a question is held. It stays so as long as the result is open.
    func waitForQuestion(_ file: String = "answer") throws -> Int32 {
        var pipe: Int32 = -1
        // Until somebody reads it.
        let isHeld = Patience.wait {
            pipe = unsafe open("\(folder)/\(file)", O_WRONLY | O_NONBLOCK)
            return pipe >= 0
        }
        guard !isHeld else { return pipe }
        throw TestAgent.Refused(code: "no question comes")
    }

    /// Answers one question that is held; waits until it is there, and until it has taken the answer.
    func release(_ line: String, _ file: String = "answer") throws { try release(waitForQuestion(file), line) }

    /// Answers the question of ``waitForQuestion()``; waits until the answer is taken.
    func release(_ pipe: Int32, _ line: String) throws {
        let before = log.count { $0 == "TOOK" }
        defer {
            close(pipe)
            while log.count(where: { $0 == "TOOK" }) == before { sched_yield() }
        }
        let bytes = Array((line + "\n").utf8)
        try #require(unsafe write(pipe, bytes, bytes.count) == bytes.count)
    }

    /// From now on each program keeps this open as long as it lives.
    func watchEnd() throws -> Int32 {
        let isMade = unsafe mkfifo(folder + "/alive", 0o600) == 0
        try #require(isMade)
        let pipe = unsafe open(folder + "/alive", O_RDONLY | O_NONBLOCK)
        try #require(pipe >= 0)
        return pipe
    }

    var log: [String] {
        let text = (try? String(contentsOfFile: folder + "/log", encoding: .utf8)) ?? ""
        return text.split(separator: "\n").map(String.init)
    }

    /// Questions so far, without the process in each.
    var questions: [String] {
        log.filter { $0.hasPrefix("SETDESC ") }.map { $0.replacing(/\ \(process \d+\)/, with: "") }
    }
}

extension Scratch {
    /// Stores a login with these tags, whose password is its name backwards, beside the agent.
    func addItem(_ name: String, tags: String...) throws {
        let vault = try vault()
        let passcode = try secret("right")
        try vault.unlock(passcode: passcode, spending: vault.burnAttempt())
        var item = try Item(.login)
        try item.add(.secret, "password", secret(String(name.reversed())))
        for tag in tags { try item.addTag(tag) }
        try ItemStore(vault).add(item, as: name)
        vault.lock(because: .ended)
    }
}
