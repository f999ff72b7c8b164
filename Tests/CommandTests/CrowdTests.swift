import Foundation
import RealParts
import TestSupport
import Testing

/// Many clients that say nothing, half of something or read nothing, at each socket of the agent: whoever asks is
/// answered, and what was there before them is still served.
@Suite(.enabled(if: PrivateBus.isInstalled, "dbus-daemon is not installed: no program uses the Secret Service"))
struct CrowdTests {
    /// A program of its own, with so many clients; says when all are there, and ends when its input does.
    private static let crowd = #"""
        import dbus, os, resource, socket, sys
        agent, ssh, silent, slow, programs = sys.argv[1:3] + list(map(int, sys.argv[3:]))
        resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
        def connect(path):
            s = socket.socket(socket.AF_UNIX); s.connect(path)
            return s
        kept = []
        for path in [agent, ssh]:
            kept += [connect(path) for _ in range(silent)]
            # The beginning of a message, and a request whose answer nobody reads.
            for i in range(slow):
                s = connect(path)
                try: s.send([b"\0", b"\0\0\0\1\x0b" * 400][i % 2] if path == ssh else [b"\1", b"\0\0\0\0\1\x09" * 400][i % 2])
                except OSError: pass
                kept.append(s)
        for _ in range(programs):
            bus = dbus.bus.BusConnection(dbus.bus.BusConnection.TYPE_SESSION)
            service = bus.get_object("org.freedesktop.secrets", "/org/freedesktop/secrets", introspect=False)
            service.OpenSession("plain", "", dbus_interface="org.freedesktop.Secret.Service", signature="sv")
            # Asked, and the answer is left where it is.
            service.SearchItems(dbus.Dictionary({"user": "ada"}, signature="ss"), ignore_reply=True,
                dbus_interface="org.freedesktop.Secret.Service")
            kept.append(bus)
        print("there", flush=True)
        sys.stdin.read()
        """#

    /// Before the crowd comes: a client at each socket that says something now and later.
    private static let early = #"""
        import os, socket, sys
        def connect(path):
            s = socket.socket(socket.AF_UNIX); s.connect(path)
            return s
        ask = {sys.argv[1]: bytes.fromhex("000000000109"), sys.argv[2]: bytes.fromhex("000000010b")}
        def answers(): return [(s.send(message), len(s.recv(65536)) > 4)[1] for s, message in clients]
        clients = [(connect(path), message) for path, message in ask.items()]
        print(answers(), flush=True)
        sys.stdin.readline()
        print(answers(), flush=True)
        """#

    @Test func `nobody waits for those who are silent or slow`() throws {
        let bus = try PrivateBus()
        let sandbox = try AgentSandbox()
        let (crowd, early) = (try sandbox.file(Self.crowd.utf8), try sandbox.file(Self.early.utf8))
        let passcode = try sandbox.file((Prepared.passcode + "\n").utf8)
        let silent = TestRun.count(test: 300, check: 1000, soak: 1000)
        let programs = TestRun.count(test: 60, check: 1000, soak: 1000)
        let script = """
            \(Sandbox.awaiting)
            cd "$HOME"
            "$HOLDFAST" unlock --passcode-fd 5 > /dev/null 5< '\(passcode)'
            "$HOLDFAST" secrets serve; eval "$("$HOLDFAST" ssh agent)"
            "$HOLDFAST" ssh generate key > /dev/null
            printf s3cret | secret-tool store --label=Mail user ada
            agent=$(ls "$XDG_RUNTIME_DIR"/holdfast/*.sock | grep -v ssh)
            mkfifo go crowd
            /usr/bin/python3 '\(early)' "$agent" "$SSH_AUTH_SOCK" < go > early & E=$!
            exec 8> go; await '[ -s early ]'
            /usr/bin/python3 '\(crowd)' "$agent" "$SSH_AUTH_SOCK" \(silent) 100 \(programs) < crowd > there & C=$!
            exec 9> crowd; await '[ -s there ] || ! kill -0 $C'
            for i in 1 2 3; do
                "$HOLDFAST" get greeting; ssh-add -L | grep -c ' key$'; secret-tool lookup user ada; echo
            done
            echo >&8; wait $E; cat early
            exec 9>&-; wait $C; echo $?
            "$HOLDFAST" get greeting
            "$HOLDFAST" lock --shut-down; ls "$XDG_RUNTIME_DIR/holdfast"
            """
        let file = try sandbox.file(script.utf8)
        let result = try sandbox.sandbox.run(
            "/bin/bash", raw: [Array(file.utf8)],
            environment: sandbox.variables.merging(["HOLDFAST": Program.path]) { $1 }.merging(bus.environment) { $1 })
        let round = "\(Prepared.greeting)1\ns3cret\n"
        #expect(
            result.text == round + round + round + "[True, True]\n[True, True]\n0\n\(Prepared.greeting)",
            "\(result.text) \(result.errors)")
    }
}
