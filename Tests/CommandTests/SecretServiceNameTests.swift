import Foundation
import RealParts
import TestSupport
import Testing

/// Taking the name of the Secret Service over and giving it back, each with one command.
@Suite struct SecretServiceNameTests {
    private let sandbox: AgentSandbox

    init() throws { sandbox = try AgentSandbox() }

    /// Runs a script on a session bus that starts services for programs, as a desktop's does.
    private func run(_ script: String) throws -> Sandbox.Result {
        let configuration = """
            <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-BUS Bus Configuration 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
            <busconfig>
              <type>session</type><listen>unix:path=\(sandbox.path)/bus.sock</listen><auth>EXTERNAL</auth>
              <servicedir>\(sandbox.path)/.local/share/dbus-1/services</servicedir>
              <policy context="default"><allow send_destination="*" eavesdrop="true"/>
              <allow eavesdrop="true"/><allow own="*"/></policy>
            </busconfig>
            """
        _ = try sandbox.sandbox.file(configuration.utf8, "bus.conf")
        _ = try sandbox.sandbox.file((Prepared.passcode + "\n").utf8, "passcode")
        let prepared =
            Sandbox.awaiting + #"""
                set -u; cd "$HOME"
                export DBUS_SESSION_BUS_ADDRESS=unix:path=$HOME/bus.sock
                dbus-daemon --config-file=bus.conf --nofork --nopidfile 2> bus.log & bus=$!
                trap '"$HOLDFAST" lock --shut-down > /dev/null 2>&1; kill $bus' EXIT
                bus() { gdbus call --session --dest org.freedesktop.DBus --object-path /org/freedesktop/DBus --method org.freedesktop.DBus."$@" 2> /dev/null; }
                await '[ -S bus.sock ] && bus GetId > /dev/null'
                owned() { bus NameHasOwner org.freedesktop.secrets; }
                unlock() { "$HOLDFAST" unlock --passcode-fd 5 5< passcode > /dev/null; }
                file=.local/share/dbus-1/services/org.freedesktop.secrets.service

                """#
        let file = try sandbox.file((prepared + script).utf8)
        return try sandbox.sandbox.run(
            "/bin/bash", raw: [Array(file.utf8)],
            environment: sandbox.variables.merging(["HOLDFAST": Program.path, "XDG_DATA_HOME": ""]) { $1 })
    }

    @Test func `with --always a program that looks for it starts the agent, and stop gives all of it back`() throws {
        let result = try run(
            #"""
            secret-tool lookup a b 2> /dev/null || echo nobody
            "$HOLDFAST" secrets serve --always; "$HOLDFAST" secrets serve --always; echo "code $?"
            unlock; printf s3cret | secret-tool store --label=x a b; secret-tool lookup a b; echo
            stat -c %a $file; grep -c "$HOLDFAST" $file
            # The agent ends; the next program has it started, locked.
            "$HOLDFAST" lock --shut-down > /dev/null; owned
            secret-tool lookup a b; owned
            unlock; secret-tool lookup a b; echo
            "$HOLDFAST" secrets stop; echo "code $?"; owned; ls $file 2> /dev/null
            secret-tool lookup a b 2> /dev/null || echo nobody
            "$HOLDFAST" list | grep -c '^x'
            "$HOLDFAST" secrets stop; echo "code $?"
            "$HOLDFAST" secrets serve; secret-tool lookup a b
            """#)
        #expect(
            result.text == """
                nobody
                code 0
                s3cret
                600
                1
                (false,)
                (true,)
                s3cret
                code 0
                (false,)
                nobody
                1
                code 0
                s3cret
                """, "\(result.text) \(result.errors)")
    }

    @Test func `what starts it for one vault stays when another's agent is told to stop`() throws {
        let result = try run(
            #"""
            "$HOLDFAST" secrets serve --always; cp -a "$HOLDFAST_HOME" other
            "$HOLDFAST" secrets stop --home other 2>&1 | grep -c 'is for another vault'; owned; ls $file | wc -l
            "$HOLDFAST" secrets stop; owned; ls $file 2> /dev/null
            """#)
        #expect(result.text == "1\n(true,)\n1\n(false,)\n", "\(result.text) \(result.errors)")
    }

    @Test(arguments: ["link", "./link/../link", "$HOLDFAST_HOME/", "$HOLDFAST_HOME/."])
    func `a vault is known by whatever path it is named by`(_ path: String) throws {
        let result = try run(
            #"""
            ln -s "$HOLDFAST_HOME" link
            "$HOLDFAST" secrets serve --always; "$HOLDFAST" secrets stop --home "\#(path)"; owned; ls $file 2> /dev/null
            "$HOLDFAST" secrets serve --always --home "\#(path)"; "$HOLDFAST" secrets stop; owned; ls $file 2> /dev/null
            """#)
        #expect(result.text == "(false,)\n(false,)\n", "\(result.text) \(result.errors)")
    }

    @Test func `another's file stays, and a path that D-Bus cannot start is refused`() throws {
        let result = try run(
            #"""
            mkdir -p "${file%/*}"; echo other > $file
            "$HOLDFAST" secrets serve --always 2>&1 | grep -c 'did not write it'; owned
            "$HOLDFAST" secrets stop 2>&1 | grep -c 'stays'; cat $file
            rm $file; ln -s bus.log $file; "$HOLDFAST" secrets serve --always 2>&1 | grep -c 'did not write it'; rm $file
            cp -a "$HOLDFAST_HOME" "it's"; "$HOLDFAST" secrets serve --always --home "it's" 2>&1 | grep -c 'cannot start it'; ls $file 2> /dev/null
            "$HOLDFAST" lock --shut-down --home "it's" > /dev/null
            """#)
        #expect(result.text == "1\n(false,)\n1\nother\n1\n1\n", "\(result.text) \(result.errors)")
    }

    @Test(.enabled(if: SessionKeyring.isInstalled, "gnome-keyring is not installed"))
    func `gnome-keyring is ended on request only, and nothing else ever`() throws {
        let keyring = try SessionKeyring()
        func serve(_ options: String...) throws -> Sandbox.Result {
            try sandbox.run(
                raw: (["secrets", "serve"] + options).map { Array($0.utf8) }, environment: keyring.bus.environment)
        }
        let name = "org.freedesktop.secrets"
        let before = try keyring.bus.owner(of: name)
        let refused = try serve()
        #expect(refused.code != 0 && refused.errors.contains("gnome-keyring-daemon"), "\(refused.errors)")
        #expect(try keyring.bus.owner(of: name) == before)
        let done = try serve("--replace")
        #expect(done.code == 0 && done.errors.contains("systemctl --user mask"), "\(done.errors)")
        #expect(try keyring.bus.owner(of: name) != before)
        #expect(try serve("--replace").code == 0)
        #expect(try sandbox.run("secrets", "stop", environment: keyring.bus.environment).code == 0)
        #expect(throws: (any Error).self) { try keyring.bus.owner(of: name) }
        guard SessionKeyring.canPlayAnother else { return }
        try keyring.startAnother()
        let other = try serve("--replace")
        #expect(other.code != 0 && other.errors.contains("python3"), "\(other.errors)")
        #expect(try keyring.bus.owner(of: name).isEmpty == false)
    }

    @Test(.enabled(if: SessionKeyring.isInstalled, "gnome-keyring is not installed"))
    func `a vault whose key is in the keyring does not take the keyring's place`() throws {
        let keyring = try SessionKeyring()
        let empty = try AgentSandbox(prepared: false)
        let made = try empty.run("init", "--device", environment: keyring.bus.environment)
        guard made.code == 0, made.errors.contains("keyring") else { return }
        let refused = try empty.run("secrets", "serve", "--replace", environment: keyring.bus.environment)
        #expect(refused.code != 0 && refused.errors.contains("session keyring"), "\(refused.errors)")
        #expect(try keyring.bus.owner(of: "org.freedesktop.secrets").isEmpty == false)
    }
}
