import Foundation
import RealParts
import TestSupport
import Testing

/// Secrets of a vault as credentials of systemd's units: a client that connects as systemd does, and systemd itself.
@Suite struct CredentialTests {
    /// What a service manager does with a socket whose service is started for a client (systemd.socket(5), Accept=no),
    /// and with `LoadCredential=` (systemd.exec(5)): `ask` connects from the address that names unit and credential.
    private static let python = #"""
        import os, resource, signal, socket, sys, threading
        resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
        path = os.environ["XDG_RUNTIME_DIR"] + "/credentials.sock"
        listener = socket.socket(socket.AF_UNIX); listener.bind(path); listener.listen(4096); os.chmod(path, 0o666)
        log = open("log", "ab", buffering=0)
        def start():
            process = os.fork()
            if process: return process
            os.dup2(log.fileno(), 2); os.dup2(listener.fileno(), 90); os.dup2(90, 3); os.closerange(4, 4000)
            # As systemd starts services.
            resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024))
            os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1", LISTEN_FDNAMES="credentials")
            os.execv(os.environ["HOLDFAST"], ["holdfast", "credentials", "serve"])
        def connect(address):
            s = socket.socket(socket.AF_UNIX)
            if address: s.bind(address)
            s.connect(path); s.shutdown(socket.SHUT_WR)
            return s
        # These names are the machine's, and other tests have theirs at the same time.
        def name(unit, id): return f"\0{os.urandom(8).hex()}/unit/{unit}/{id}"
        LIMIT = 1 << 20
        def read(s):
            data = b""
            while len(data) <= LIMIT and (piece := s.recv(LIMIT + 1 - len(data))): data += piece
            return data
        # As systemd: what is longer than its limit is an error, and everything else the secret.
        def ask(unit, id, address=None):
            data = read(connect(address or name(unit, id)))
            return "refused" if len(data) > LIMIT else data.decode()
        def end(process):
            os.kill(process, signal.SIGTERM)
            return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])

        """#

    private func run(_ script: String, in sandbox: AgentSandbox) throws -> Sandbox.Result {
        let file = try sandbox.file((Self.python + script).utf8)
        return try sandbox.sandbox.run(
            "/bin/bash", raw: ["-c", "cd \"$HOME\" && exec /usr/bin/python3 '\(file)'"].map { Array($0.utf8) },
            environment: sandbox.variables.merging(["HOLDFAST": Program.path]) { $1 })
    }

    private func put(_ name: String, _ value: String, in sandbox: AgentSandbox, passcode: String? = nil) throws {
        let stored = try sandbox.run("put", name, passcode: passcode, input: .file(sandbox.file(value.utf8)))
        try #require(stored.code == 0, "\(stored.errors)")
    }

    @Test func `a unit gets its entry and no other, while the agent is unlocked`() throws {
        let sandbox = try AgentSandbox()
        #expect(try sandbox.run("unlock", passcode: Prepared.passcode).code == 0)
        try put("credentials/web.service/db", "s3cret of web\n", in: sandbox)
        try put("credentials/web.service/long", String(repeating: "x", count: 65_536), in: sandbox)
        try put("credentials/web.service/longer", String(repeating: "x", count: 65_537), in: sandbox)
        try put("web.service/db", "of another collection", in: sandbox)
        // Nobody can be asked for what a unit gets.
        try put("credentials/web.service/asks", "s3cret", in: sandbox)
        #expect(try sandbox.run("tag", "add", "credentials/web.service/asks", "ask-each-time").code == 0)
        try put("credentials/web.service/blank", "\n", in: sandbox)
        let result = try run(
            """
            process = start()
            print(ask("web.service", "db"), end="")
            print(ask("web.service", "long") == "x" * 65536)
            for unit, id in [("web.service", "longer"), ("web.service", "blank"), ("other.service", "db"), ("web.service", "DB"),
                ("web@.service", "db"), ("web.service", "asks")]: print(ask(unit, id))
            # No unit waits where the name is none of a unit: another program of systemd's, or anybody's.
            print([ask(unit, id) for unit, id in [("greeting", ""), ("", "greeting"), ("..", "greeting")]])
            print([ask("", "", name("x", "y")[:9]), ask("", "", name("x", "y")[:17] + "/cryptsetup/web.service/db"),
                len(read(connect(None)))])
            os.system('"$HOLDFAST" lock > /dev/null')
            print("locked:", ask("web.service", "db"))
            print(end(process))
            """, in: sandbox)
        let refused = String(repeating: "refused\n", count: 6)
        #expect(
            result.text == "s3cret of web\nTrue\n\(refused)['', '', '']\n['', '', 0]\nlocked: refused\n0\n",
            "\(result.text) \(result.errors)")
        let log = try String(decoding: sandbox.bytes("log"), as: UTF8.self)
        for line in [
            "gave web.service its credential db", "web.service does not get its credential longer",
            "other.service does not get its credential db: ", "holdfast put credentials/other.service/db stores it",
            "is no service manager", "web.service does not get its credential db: the vault is locked",
        ] {
            #expect(log.contains(line), "\(line) is not in \(log)")
        }
        #expect(!log.contains("s3cret"))
    }

    @Test func `a vault that opens without asking needs no agent, and what serves it ends by itself`() throws {
        let sandbox = try AgentSandbox(prepared: false)
        let made = try sandbox.run("init", "--device", "--file")
        try #require(made.code == 0, "\(made.errors)")
        try put("credentials/worker@3.service/key", "of an instance", in: sandbox)
        let result = try run(
            """
            process = start()
            print(ask("worker@3.service", "key"))
            print(ask("worker@4.service", "key"))
            print(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
            # Who came meanwhile waits in the socket.
            waiting = connect(name("worker@3.service", "key"))
            process = start()
            print(read(waiting).decode(), end(process))
            """, in: sandbox)
        #expect(result.text == "of an instance\nrefused\n0\nof an instance 0\n", "\(result.text) \(result.errors)")
        #expect(try sandbox.agent() == nil)
    }

    @Test func `a thousand clients that do not read keep nobody waiting`() throws {
        let sandbox = try AgentSandbox()
        #expect(try sandbox.run("unlock", passcode: Prepared.passcode).code == 0)
        try put("credentials/web.service/db", String(repeating: "s", count: 60_000), in: sandbox)
        let result = try run(
            """
            process = start()
            silent = [connect(name("web.service", ["db", "none"][i % 2])) for i in range(1000)]
            print(sum(ask("web.service", "db") == "s" * 60000 for _ in range(20)))
            # What was theirs has waited for them.
            print(sum(read(s) == b"s" * 60000 for s in silent[::2]))
            # A refusal that was closed early is no secret, and nothing that can be guessed.
            parts = [read(s) for s in silent[1::2]]
            print(min(map(len, parts)) > 60000, any(set(part) == {0} for part in parts))
            for s in silent: s.close()
            print(ask("web.service", "none"), end(process))
            """, in: sandbox)
        #expect(result.text == "20\n500\nTrue False\nrefused 0\n", "\(result.text) \(result.errors)")
    }

    @Test func `a refusal is whole for its reader, whoever else comes and however late he reads`() throws {
        let sandbox = try AgentSandbox()
        #expect(try sandbox.run("unlock", passcode: Prepared.passcode).code == 0)
        try put("credentials/web.service/db", "s", in: sandbox)
        let result = try run(
            """
            process = start()
            late = connect(name("web.service", "none"))
            first = late.recv(1)
            crowd = [connect(None) for i in range(300)]
            print(sum(len(read(s)) for s in crowd), flush=True)
            # Of one process, as many refusals as it likes: its own oldest end, those of others do not.
            ready, readied = os.pipe()
            other = os.fork()
            if other == 0:
                flood = [connect(name("web.service", "none")) for i in range(300)]
                for s in flood: s.recv(1)
                os.write(readied, b"x")
                os._exit(sum(len(read(s)) >= LIMIT for s in flood))
            os.read(ready, 1)
            print(ask("web.service", "db"), ask("web.service", "none"))
            print(os.waitstatus_to_exitcode(os.waitpid(other, 0)[1]))
            # A signal waits for it.
            os.kill(process, signal.SIGTERM)
            print(len(first + read(late)) > LIMIT, os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
            """, in: sandbox)
        #expect(result.text == "0\ns refused\n8\nTrue 0\n", "\(result.text) \(result.errors)")
    }

    @Test func `a kernel without memory cuts neither a refusal nor a secret`() throws {
        let sandbox = try AgentSandbox()
        #expect(try sandbox.run("unlock", passcode: Prepared.passcode).code == 0)
        try put("credentials/web.service/db", String(repeating: "x", count: 65_536), in: sandbox)
        let faults = URL(fileURLWithPath: Program.path).deletingLastPathComponent().path + "/libFaultInjection.so"
        let result = try run(
            """
            preloaded = [os.environ["LD_PRELOAD"]] if "LD_PRELOAD" in os.environ else []
            os.environ.update(LD_PRELOAD=":".join(preloaded + ["\(faults)"]), HOLDFAST_FAULT_SENDS="1")
            process = start()
            print(ask("web.service", "none"), ask("web.service", "db") == "x" * 65536, ask("web.service", "none"))
            print(end(process))
            """, in: sandbox)
        #expect(result.text == "refused True refused\n0\n", "\(result.text) \(result.errors)")
    }

    @Test(.enabled(if: geteuid() == 0, "only root can be another user: the check of the peer is not tested"))
    func `another user gets nothing, whatever the address says`() throws {
        let sandbox = try AgentSandbox(prepared: false)
        #expect(try sandbox.run("init", "--device", "--file").code == 0)
        try put("credentials/web.service/db", "secret", in: sandbox)
        let result = try run(
            """
            process = start()
            for folder in [os.environ["XDG_RUNTIME_DIR"], os.environ["HOME"]]: os.chmod(folder, 0o711)
            other = os.fork()
            if other == 0:
                os.setresuid(65534, 65534, 65534)
                print(read(connect(name("web.service", "db"))), flush=True)
                os._exit(0)
            os.waitpid(other, 0)
            print(ask("web.service", "db"), end(process))
            """, in: sandbox)
        #expect(result.text == "b''\nsecret 0\n", "\(result.text) \(result.errors)")
    }

    /// The list of its memory is what the kernel shows to root; keys and values lie where it shows nothing.
    @Test(.enabled(if: geteuid() == 0, "only root can look: the memory of what serves credentials is not searched"))
    func `nothing of a secret that was given is left in the process`() throws {
        let sandbox = try AgentSandbox()
        #expect(try sandbox.run("unlock", passcode: Prepared.passcode).code == 0)
        try put("credentials/web.service/db", "a secret of forty bytes, found if it stays", in: sandbox)
        let result = try run(
            """
            def holds(process, needle):
                found = 0
                with open(f"/proc/{process}/mem", "rb", 0) as memory:
                    for line in open(f"/proc/{process}/maps"):
                        first, last = (int(x, 16) for x in line.split()[0].split("-"))
                        try:
                            for start in range(first, last, 1 << 24):
                                memory.seek(start)
                                found += memory.read(min(last - start, 1 << 24)).count(needle)
                        except (OSError, ValueError, OverflowError): pass  # nothing is there, or nothing is shown
                return found
            process = start()
            for i in range(8): assert ask("web.service", "db").startswith("a secret")
            ask("web.service", "none")  # the last one has been finished before it
            print(holds(process, b"secret of forty"), holds(process, os.environ["HOLDFAST_HOME"].encode()) > 0)
            print(end(process))
            """, in: sandbox)
        #expect(result.text == "0 True\n0\n", "\(result.errors.replacing("\n", with: " "))")
    }

    @Test func `the list says which unit gets what, and without systemd nothing is served`() throws {
        let sandbox = try AgentSandbox()
        #expect(try sandbox.run("unlock", passcode: Prepared.passcode).code == 0)
        for name in ["credentials/web.service/db", "credentials/a.service/z", "credentials/readme", "web.service/db"] {
            try put(name, "value", in: sandbox)
        }
        #expect(
            try sandbox.run("credentials", "list").text == "UNIT         CREDENTIAL\na.service    z\nweb.service  db\n")
        let json = try sandbox.run("credentials", "list", "--json").json()["credentials"] as? [[String: String]]
        #expect(json == [["unit": "a.service", "id": "z"], ["unit": "web.service", "id": "db"]])
        let served = try sandbox.run("credentials", "serve")
        #expect(served.code == 2 && served.errors.contains("systemctl"), "\(served.errors)")
    }
}
