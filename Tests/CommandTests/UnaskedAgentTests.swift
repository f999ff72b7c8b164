import Foundation
import RealParts
import TestSupport
import Testing

/// The agent of a vault that opens without asking.
@Suite(.patient) struct UnaskedAgentTests {
    /// Neither chip nor keyring: the key is in a file.
    private static let nothing = [
        "HOLDFAST_TPM": "swtpm:path=/nonexistent/tpm.sock", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent/bus",
    ]

    private func made() throws -> AgentSandbox {
        let sandbox = try AgentSandbox(prepared: false)
        let made = try sandbox.run("init", "--device", "--file", environment: Self.nothing)
        #expect(made.code == 0, "\(made.errors)")
        return sandbox
    }

    private func run(_ script: String, in sandbox: AgentSandbox) throws -> Sandbox.Result {
        let file = try sandbox.sandbox.file(("set -u\ncd \"$HOME\"\numask 077\n" + script).utf8, "script")
        return try sandbox.sandbox.run(
            "/bin/bash", raw: [Array(file.utf8)],
            environment: sandbox.variables.merging(["HOLDFAST": Program.path]) { $1 }.merging(Self.nothing) { $1 })
    }

    @Test func `unlock opens it for the agent and asks nothing`() throws {
        let sandbox = try made()
        let result = try run(
            """
            printf value | "$HOLDFAST" put a 2> /dev/null
            "$HOLDFAST" unlock --idle 5m --json
            "$HOLDFAST" status --json | grep -o '"isUnlocked": *true'
            "$HOLDFAST" get a; echo
            "$HOLDFAST" unlock | cut -d' ' -f1
            "$HOLDFAST" lock
            "$HOLDFAST" status --json | grep -o '"isUnlocked": *false'
            "$HOLDFAST" get a; echo
            """, in: sandbox)
        let lines = result.text.split(separator: "\n").map(String.init)
        #expect(lines.count == 6, "\(result.text) \(result.errors)")
        #expect(lines.first?.contains("\"isUnlocked\":true") ?? false, "\(lines)")
        #expect(lines.first?.contains("\"locksInSeconds\":300") ?? false || lines.first?.contains(":299") ?? false)
        #expect(lines[2...].first == "value" && lines.last == "value", "\(lines)")
    }

    /// SSH programs do not know what unlocking is.
    @Test func `an SSH program gets its keys without an unlock, and after a lock`() throws {
        let sandbox = try made()
        let result = try run(
            """
            ssh-keygen -q -t ed25519 -N '' -C laptop -f one
            "$HOLDFAST" unlock > /dev/null 2>&1
            "$HOLDFAST" ssh import one < one > /dev/null
            rm one
            "$HOLDFAST" lock --shut-down 2> /dev/null
            eval "$("$HOLDFAST" ssh agent)"
            for turn in 1 2; do
                ssh-add -L | cut -d' ' -f3
                echo text | ssh-keygen -Y sign -q -f one.pub -n file > signed && head -1 signed
                "$HOLDFAST" lock 2> /dev/null
            done
            for turn in 1 2 3 4 5 6 7 8; do ssh-add -L > listed.$turn & done; wait
            cat listed.* | grep -c one
            """, in: sandbox)
        let once = "one\n-----BEGIN SSH SIGNATURE-----\n"
        #expect(result.text == once + once + "8\n", "\(result.text) \(result.errors)")
    }

    /// Its lock ends by itself, so what is elsewhere kept until the lock is kept here until the user ends it.
    @Test func `a lock that ends by itself takes nothing from what guards the keys`() throws {
        let sandbox = try made()
        let result = try run(
            """
            ssh-keygen -q -t ed25519 -N '' -C laptop -f one; ssh-keygen -q -t ed25519 -N '' -f host
            printf 'server %s\\n' "$(cut -d' ' -f1,2 host.pub)" > known
            printf '#!/bin/sh\\ncat "$HOME/phrase"\\n' > ask; chmod 700 ask
            export SSH_ASKPASS=$HOME/ask SSH_ASKPASS_REQUIRE=force DISPLAY=none
            sign() { ssh-keygen -Y sign -q -f one.pub -n file < known > sig 2> /dev/null && echo signed || echo refused; }
            open() { "$HOLDFAST" status --json | grep -o '"isUnlocked": *[a-z]*' | grep -c true; }
            "$HOLDFAST" unlock > /dev/null 2>&1
            "$HOLDFAST" ssh import item < one > /dev/null
            eval "$("$HOLDFAST" ssh agent)"
            ssh-add -q -H known -h server one
            sign; "$HOLDFAST" lock 2> /dev/null; sign
            ssh-add -L | cut -d' ' -f3; open
            echo right > phrase; ssh-add -q -x 2> /dev/null
            "$HOLDFAST" lock 2> /dev/null
            ssh-add -L; open
            echo wrong > phrase; ssh-add -q -X 2> /dev/null || echo wrong
            echo right > phrase; ssh-add -q -X 2> /dev/null; ssh-add -L | cut -d' ' -f3
            sign; ssh-add -q -D; "$HOLDFAST" lock 2> /dev/null; sign
            """, in: sandbox)
        #expect(
            result.text
                == "refused\nrefused\nitem\n1\nThe agent has no identities.\n0\nwrong\nitem\nrefused\nsigned\n",
            "\(result.text) \(result.errors)")
    }

    @Test func `a host that the agent is forwarded to opens nothing`() throws {
        let sandbox = try made()
        _ = try sandbox.sandbox.file(SSHAgentTests.client.utf8, "client.py")
        let result = try run(
            """
            ssh-keygen -q -t ed25519 -N '' -C laptop -f one
            "$HOLDFAST" unlock > /dev/null 2>&1
            "$HOLDFAST" ssh import one < one > /dev/null
            eval "$("$HOLDFAST" ssh agent)"
            "$HOLDFAST" lock 2> /dev/null
            cat > host.py <<'END'
            from client import *
            key = base64.b64decode(open("one.pub").read().split()[1])
            sign = b"\\x0d" + string(key) + string(b"data") + bytes(4)
            host = Agent()
            host.bind(b"x", b"s", b"", b"\\1")
            print(host.ask(b"\\x0b")[4], host.ask(sign)[0], host.ask(b"\\x13")[0])
            status = subprocess.run([os.environ["HOLDFAST"], "status", "--json"], capture_output=True).stdout
            print(b'"isUnlocked":true' in status.replace(b" ", b""))
            print(Agent().ask(b"\\x0b")[4], host.ask(sign)[0])
            END
            python3 host.py
            """, in: sandbox)
        #expect(result.text == "0 5 5\nFalse\n1 14\n", "\(result.text) \(result.errors)")
    }

    @Test(.enabled(if: PrivateBus.isInstalled, "dbus-daemon is not installed"))
    func `a program behind the proxy of a sandbox opens nothing`() throws {
        let sandbox = try made()
        let bus = try PrivateBus()
        let address = try #require(bus.environment["DBUS_SESSION_BUS_ADDRESS"])
        let result = try run(
            """
            export DBUS_SESSION_BUS_ADDRESS='\(address)'
            cp "$(command -v secret-tool)" xdg-dbus-proxy
            "$HOLDFAST" secrets serve
            printf s3cret | secret-tool store --label=Mail user ada
            ./xdg-dbus-proxy lookup user ada; echo
            "$HOLDFAST" lock 2> /dev/null
            ./xdg-dbus-proxy lookup user ada || echo shut
            printf other | ./xdg-dbus-proxy store --label=Mail user eve 2> /dev/null || echo shut
            "$HOLDFAST" status --json | grep -o '"isUnlocked": *false'
            secret-tool lookup user ada; echo
            "$HOLDFAST" lock --shut-down 2> /dev/null
            """, in: sandbox)
        #expect(
            result.text.replacing(" ", with: "") == "s3cret\nshut\nshut\n\"isUnlocked\":false\ns3cret\n",
            "\(result.text) \(result.errors)")
    }

    @Test(.enabled(if: PrivateBus.isInstalled, "dbus-daemon is not installed"))
    func `programs on the session bus get theirs without an unlock, and after a lock`() throws {
        let sandbox = try made()
        let bus = try PrivateBus()
        let address = try #require(bus.environment["DBUS_SESSION_BUS_ADDRESS"])
        let result = try run(
            """
            export DBUS_SESSION_BUS_ADDRESS='\(address)'
            "$HOLDFAST" secrets serve
            printf s3cret | secret-tool store --label=Mail user ada
            "$HOLDFAST" lock 2> /dev/null
            secret-tool lookup user ada; echo
            "$HOLDFAST" lock --shut-down 2> /dev/null
            """, in: sandbox)
        #expect(result.text == "s3cret\n", "\(result.text) \(result.errors)")
    }

    @Test func `where it asks now, or its share is gone, nobody gets in`() throws {
        let sandbox = try made()
        let result = try run(
            """
            ssh-keygen -q -t ed25519 -N '' -C laptop -f one
            "$HOLDFAST" unlock > /dev/null 2>&1
            "$HOLDFAST" ssh import one < one > /dev/null
            eval "$("$HOLDFAST" ssh agent)"
            cp -r "$HOLDFAST_HOME/shares" kept
            "$HOLDFAST" lock 2> /dev/null; rm -r "$HOLDFAST_HOME/shares"
            ssh-add -L || true
            "$HOLDFAST" unlock --json 2>&1 | grep -o shareLost
            cp -r kept "$HOLDFAST_HOME/shares"
            ssh-add -L | cut -d' ' -f3
            echo correct horse battery 7 > code
            "$HOLDFAST" slots remove device --passcode-fd 5 --phrase-out-fd 4 5< code 4> words 2> told || cat told
            ssh-add -L > none 2>&1; ssh-add -L || true
            "$HOLDFAST" unlock --passcode-fd 5 5< code | cut -d' ' -f1
            ssh-add -L | cut -d' ' -f3
            """, in: sandbox)
        let none = "The agent has no identities.\n"
        #expect(
            result.text == none + "shareLost\none\n" + none + "unlocked.\none\n", "\(result.text) \(result.errors)")
    }

    /// Who writes the folder while the agent is shut has it store into a vault of theirs otherwise.
    @Test func `another vault in its place is opened only for who unlocks`() throws {
        let sandbox = try made()
        let result = try run(
            """
            export OURS=$HOLDFAST_HOME
            ssh-keygen -q -t ed25519 -N '' -C laptop -f theirs
            HOLDFAST_HOME=$HOME/other "$HOLDFAST" init --device --file 2> /dev/null
            HOLDFAST_HOME=$HOME/other "$HOLDFAST" unlock > /dev/null 2>&1
            HOLDFAST_HOME=$HOME/other "$HOLDFAST" ssh import theirs < theirs > /dev/null
            HOLDFAST_HOME=$HOME/other "$HOLDFAST" lock --shut-down 2> /dev/null
            eval "$("$HOLDFAST" ssh agent)"
            "$HOLDFAST" lock 2> /dev/null
            rm -r "$OURS"/*; cp -r other/* "$OURS"/
            ssh-add -L
            "$HOLDFAST" unlock | cut -d' ' -f1
            ssh-add -L | cut -d' ' -f3
            """, in: sandbox)
        #expect(
            result.text == "The agent has no identities.\nunlocked.\ntheirs\n", "\(result.text) \(result.errors)")
    }
}
