import Foundation
import TestSupport
import Testing

/// An agent that a service manager starts when somebody connects to one of its sockets. The manager is a script that
/// does as systemd.socket(5) says: it keeps the sockets, and passes them to the agent that it starts for a client.
@Suite struct ActivationTests {
    /// Writes a line into `starts` for each agent, and its exit code into `ends`.
    private static let manager = #"""
        import os, select, socket, sys
        folder = os.environ["XDG_RUNTIME_DIR"] + "/holdfast"
        os.makedirs(folder, 0o700, exist_ok=True)
        def listen(name):
            s = socket.socket(socket.AF_UNIX)
            s.bind(f"{folder}/{name}.sock"); os.chmod(f"{folder}/{name}.sock", 0o600); s.listen(16)
            return s
        sockets = [listen("agent"), listen("ssh")]
        print("ready", file=open("ready.new", "w")); os.rename("ready.new", "ready")
        def note(name, what):
            with open(name, "a") as file: print(what, file=file)
        while True:
            select.select(sockets, [], [])
            process = os.fork()
            if process == 0:
                # Out of the way of the numbers that they get.
                kept = [os.dup2(s.fileno(), 20 + i) for i, s in enumerate(sockets)]
                for i, s in enumerate(kept): os.dup2(s, 3 + i)
                os.closerange(5, 64)
                os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="2", LISTEN_FDNAMES="agent:ssh")
                os.execv(os.environ["HOLDFAST"], ["holdfast", "agent"])
            note("starts", process)
            note("ends", os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
        """#

    /// Runs a script of the shell beside the manager; `$M` is its process, which is ended with the script, and with it
    /// nothing else.
    private func run(_ script: String, in sandbox: AgentSandbox) throws -> Sandbox.Result {
        _ = try sandbox.sandbox.file((Prepared.passcode + "\n").utf8, "passcode")
        _ = try sandbox.sandbox.file(Self.manager.utf8, "manager.py")
        let file = try sandbox.sandbox.file(
            (Sandbox.awaiting
                + """
                set -u; cd "$HOME"
                /usr/bin/python3 manager.py & M=$!
                trap 'kill $M' EXIT
                await '[ -e ready ] || ! kill -0 $M'
                export SSH_AUTH_SOCK=$XDG_RUNTIME_DIR/holdfast/ssh.sock
                pass() { "$HOLDFAST" unlock --passcode-fd 5 > /dev/null 5< passcode; }
                agent() { "$HOLDFAST" status --json | grep -o '"process":[0-9]*' | cut -d: -f2; }
                \(script)
                """).utf8)
        return try sandbox.sandbox.run(
            "/bin/bash", raw: [Array(file.utf8)],
            environment: sandbox.variables.merging(["HOLDFAST": Program.path]) { $1 })
    }

    @Test func `an unlock and an SSH program each have an agent started, and find the same one`() throws {
        let result = try run(
            """
            pass; test "$(agent)" = "$(cat starts)" && echo started by the manager
            "$HOLDFAST" get greeting
            "$HOLDFAST" ssh generate key > /dev/null; ssh-add -L | grep -c ' key$'
            test "$("$HOLDFAST" ssh agent | cut -d"'" -f2)" = "$SSH_AUTH_SOCK" && echo the socket of the manager
            "$HOLDFAST" lock --shut-down; ls "$XDG_RUNTIME_DIR/holdfast"
            ssh-add -L; test "$(agent)" = "$(tail -n 1 starts)" && echo started again
            pass; ssh-add -L | grep -c ' key$'; wc -l < starts
            cat ends; "$HOLDFAST" lock --shut-down
            """, in: AgentSandbox())
        #expect(
            result.text == """
                started by the manager
                \(Prepared.greeting)1
                the socket of the manager
                agent.sock
                ssh.sock
                The agent has no identities.
                started again
                1
                2
                0

                """, "\(result.text) \(result.errors)")
    }

    @Test func `where another agent has the vault, whoever waits is turned away, and the manager starts none again`()
        throws
    {
        let sandbox = try AgentSandbox()
        #expect(try sandbox.run("unlock", passcode: Prepared.passcode).code == 0)
        let result = try run(
            """
            before=$(agent); ssh-add -L 2> /dev/null || echo turned away
            await '[ -s ends ]'
            pass; "$HOLDFAST" get greeting; test "$(agent)" = "$before" && echo the first one; wc -l < starts
            """, in: sandbox)
        #expect(result.text == "turned away\n\(Prepared.greeting)the first one\n1\n", "\(result.text) \(result.errors)")
    }

    @Test func `the manager's agent of another vault is not this one's`() throws {
        let sandbox = try AgentSandbox()
        let other = sandbox.path + "/other"
        try FileManager.default.copyItem(atPath: sandbox.home, toPath: other)
        let result = try run(
            """
            other() { HOLDFAST_HOME=\(other) "$HOLDFAST" "$@"; }
            other unlock --passcode-fd 5 > /dev/null 5< passcode; other get greeting
            other lock --shut-down; agent | wc -l; test "$(agent)" = "$(cat starts)" && echo beside it
            "$HOLDFAST" lock --shut-down
            """, in: sandbox)
        #expect(result.text == "\(Prepared.greeting)1\nbeside it\n", "\(result.text) \(result.errors)")
    }

    @Test(arguments: [
        ("agent", "os.pipe()[0]", "not a listening Unix stream socket"),
        ("ssh", "connected()", "not a listening Unix stream socket"), ("bus", "listening()", "other sockets than"),
        ("ssh:ssh", "listening()", "other sockets than"), ("", "listening()", "other sockets than"),
    ])
    func `what is no socket of the agent's is refused`(_ names: String, _ made: String, _ words: String) throws {
        let sandbox = try AgentSandbox()
        let script = """
            import fcntl, os, socket, sys
            def listening():
                s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(); return os.dup(s.fileno())
            pair = socket.socketpair()
            def connected(): return pair[0].fileno()
            passed = fcntl.fcntl(\(made), fcntl.F_DUPFD, 30)
            for i in range(2): os.dup2(passed, 3 + i)
            names = "\(names)"
            os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS=str(len(names.split(":"))), LISTEN_FDNAMES=names)
            os.execv(sys.argv[2], ["holdfast", "agent"])
            """
        let result = try sandbox.sandbox.run(
            "/usr/bin/python3", raw: ["-c", script, sandbox.path + "/s", Program.path].map { Array($0.utf8) },
            environment: sandbox.variables)
        #expect(result.code != 0 && result.errors.contains(words), "\(result.errors)")
        #expect(try sandbox.agent() == nil)
    }

    @Test func `what was passed to another process is left alone`() throws {
        let sandbox = try AgentSandbox()
        let agent = try Child(
            raw: ["agent".utf8.map { $0 }],
            environment: sandbox.variables.merging(["LISTEN_PID": "1", "LISTEN_FDS": "9", "LISTEN_FDNAMES": "x"]) { $1 }
        )
        let isServing = Patience.wait { !agent.isRunning || (try? sandbox.agent()) ?? nil != nil }
        try #require(isServing && agent.isRunning)
        #expect(try sandbox.run("lock", "--shut-down").code == 0 && agent.wait() == 0)
    }
}
