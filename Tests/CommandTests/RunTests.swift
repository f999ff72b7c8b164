import Foundation
import Testing

/// `holdfast run`: what its one child gets, and how it ends.
@Suite struct RunTests {
    private func sandbox() throws -> Sandbox {
        let sandbox = try Sandbox(prepared: true)
        try sandbox.addSamples()
        return sandbox
    }

    private static let password = "holdfast://default/logins%2Fmail/password"

    @Test func `references in the environment, in a file and on the command line become values`() throws {
        let sandbox = try sandbox()
        let file = try sandbox.file(
            """
            # for the service
            FROM_FILE=holdfast://work/api
            PLAIN='a # b'
            BOTH=holdfast://work/api
            """.utf8)
        let result = try sandbox.run(
            "run", "--env-file", file, "--env", "BOTH=holdfast://default/logins%2Fmail/username", "--", "sh", "-c",
            #"printf '%s|%s|%s|%s|%s' "$INHERITED" "$FROM_FILE" "$PLAIN" "$BOTH" "$OTHER""#,
            passcode: Prepared.passcode, environment: ["INHERITED": Self.password, "OTHER": "x holdfast://a/b"])
        #expect(result.code == 0, "\(result.errors)")
        #expect(result.text == "\(Sandbox.password)|\(Sandbox.apiKey)|a # b|ada|x holdfast://a/b")
    }

    @Test func `a reference without a field is the password, and one to a file is its content`() throws {
        let sandbox = try sandbox()
        let result = try sandbox.run(
            "run", "--env", "A=holdfast://default/logins%2Fmail", "--env", "B=holdfast://default/logins%2Fmail/Paper",
            "--env", "C=holdfast://default/greeting/value", "--", "sh", "-c", #"printf '%s|%s|%s|' "$A" "$B" "$C""#,
            passcode: Prepared.passcode)
        #expect(result.text == "\(Sandbox.password)|content|\(Prepared.greeting)|")
    }

    @Test(
        arguments: [
            ("A=holdfast://default/nothing", 6, "holdfast://default/nothing: "),
            ("A=holdfast://default/logins%2Fmail/nothing", 6, "no field with this label"),
            ("A=holdfast://default/note", 6, "name the field"),
            ("A=holdfast://default/logins%2Fmail/binary", 1, "zero byte"),
            ("A=holdfast://files/big", 1, "holdfast get reads it"),
            ("A=secret", 2, "a reference begins with"), ("A", 2, "NAME="), ("1=holdfast://a/b", 2, "NAME="),
            ("A=holdfast://a/b c", 2, "%20"),
        ] as [(String, Int32, String)])
    func `what cannot be read starts nothing`(setting: String, code: Int32, words: String) throws {
        let sandbox = try sandbox()
        let result = try sandbox.run(
            "run", "--env", setting, "--", "touch", sandbox.path + "/started", passcode: Prepared.passcode)
        #expect(result.code == code && result.errors.contains(words), "\(result.errors)")
        #expect(!sandbox.exists("started"))
    }

    @Test func `an invalid reference that was inherited is refused, not passed on`() throws {
        let sandbox = try Sandbox(prepared: true)
        let result = try sandbox.run("run", "--", "true", environment: ["KEY": "holdfast://only"])
        #expect(result.code == 2 && result.errors.contains("$KEY"))
    }

    @Test func `without references nothing is asked for`() throws {
        let result = try Sandbox().run("run", "--", "sh", "-c", "echo out; echo err >&2; exit 7")
        #expect(result.code == 7 && result.text == "out\n" && result.errors == "err\n")
    }

    @Test(arguments: [false, true])
    func `exit codes and signals of the program are passed on`(isMasked: Bool) throws {
        let sandbox = try Sandbox()
        let mask = isMasked ? ["--mask"] : []
        func code(_ words: String...) throws -> Int32 {
            try sandbox.run(raw: (["run"] + mask + ["--"] + words).map { Array($0.utf8) }).code
        }
        #expect(try code("sh", "-c", "exit 0") == 0)
        #expect(try code("sh", "-c", "exit 255") == 255)
        #expect(try code("sh", "-c", "kill -TERM $$") == (isMasked ? 143 : 1015))
        #expect(try code("sh", "-c", "kill -KILL $$") == (isMasked ? 137 : 1009))
        #expect(try code("holdfast-no-such-program") == 127)
        #expect(try code("/etc/passwd") == 126)
        #expect(try code("/nowhere/at/all") == 127)
        // SIGPIPE is as any program expects it, and so are empty arguments.
        #expect(try code("sh", "-c", "kill -PIPE $$; exit 3") == (isMasked ? 141 : 1013))
        #expect(try code("sh", "-c", "test $# = 2 -a -z \"$1\" -a -z \"$2\"", "x", "", "") == 0)
    }

    @Test func `values in the output are masked, on both streams`() throws {
        let sandbox = try sandbox()
        let result = try sandbox.run(
            "run", "--mask", "--env", "P=\(Self.password)", "--env", "K=holdfast://work/api", "--env",
            "S=holdfast://default/logins%2Fmail/short", "--env", "R=holdfast://default/logins%2Fmail/recovery%20codes",
            "--", "sh", "-c",
            #"printf 'p=%s.' "$P"; printf 'k=%s s=%s' "$K" "$S" >&2; printf 'key-0123'; sleep 0; echo 456789abcdef; echo "$R""#,
            passcode: Prepared.passcode)
        #expect(result.code == 0)
        #expect(result.text == "p=<masked>.<masked>\n<masked>\n\n")
        #expect(result.errors.contains("k=<masked> s=abc") && result.errors.contains("is not masked"))
        #expect(!result.errors.contains(Sandbox.apiKey))
    }

    @Test func `signals from other processes reach a masked child`() throws {
        let sandbox = try Sandbox()
        for signal in ["TERM", "INT", "HUP", "USR1"] {
            let result = try sandbox.run(
                "run", "--mask", "--", "sh", "-c",
                "trap 'echo got; exit 9' \(signal); kill -\(signal) $PPID; while :; do sleep 0.01; done")
            #expect(result.code == 9 && result.text == "got\n", "\(signal)")
        }
    }

    @Test func `a program that is stopped and continued from a shell works on`() throws {
        let sandbox = try Sandbox()
        let terminal = try PseudoTerminal()
        let shell = try Child(
            "/bin/bash", raw: ["--norc", "--noprofile", "-i"].map { Array($0.utf8) },
            descriptors: [0: .terminal(terminal.path), 1: .terminal(terminal.path), 2: .terminal(terminal.path)],
            environment: ["HOME": sandbox.path, "PS1": "ready>", "TERM": "dumb"])
        for mask in ["", " --mask"] {
            try terminal.wait(for: "ready>")
            terminal.type(
                "\(Program.path) run\(mask) -- sh -c 'echo be\"\"gun; read line; echo \"line: $line\"; exit 5'\n")
            try terminal.wait(for: "begun")
            terminal.type("\u{1A}")
            try terminal.wait(for: "Stopped")
            try terminal.wait(for: "ready>")
            terminal.type("fg\n")
            try terminal.wait(for: "run")
            terminal.type("words\n")
            try terminal.wait(for: "line: words")
            try terminal.wait(for: "ready>")
            terminal.type("echo code=$?\n")
            try terminal.wait(for: "code=5")
            try terminal.wait(for: "ready>")
            // No program is started in it: dash loses a signal that comes while it does that.
            terminal.type("\(Program.path) run\(mask) -- sh -c 'echo be\"\"gun; read line'\n")
            try terminal.wait(for: "begun")
            terminal.type("\u{3}")
            try terminal.wait(for: "ready>")
            terminal.type("echo code=$?\n")
            try terminal.wait(for: "code=130")
        }
        terminal.type("exit\n")
        _ = shell.wait()
    }

    @Test func `an unlocked agent gives the values, and nothing is asked for`() throws {
        let sandbox = try AgentSandbox()
        try sandbox.sandbox.addSamples()
        #expect(try sandbox.run("unlock", passcode: Prepared.passcode).code == 0)
        let result = try sandbox.run(
            "run", "--env", "P=\(Self.password)", "--env", "K=holdfast://work/api", "--", "sh", "-c",
            #"printf '%s|%s' "$P" "$K""#)
        #expect(result.code == 0 && result.text == "\(Sandbox.password)|\(Sandbox.apiKey)", "\(result.errors)")
        let gone = try sandbox.run("run", "--env", "P=holdfast://default/nothing", "--", "true")
        #expect(gone.code == 6)
        // Both ways to write a path mean the same, wherever the record of it is.
        for path in ["logins/mail", "default/logins%2Fmail"] {
            let same = try sandbox.run("run", "--env", "P=holdfast://\(path)/password", "--", "printenv", "P")
            #expect(same.text == Sandbox.password + "\n", "\(same.errors)")
        }
        #expect(try sandbox.run("lock").code == 0)
        let locked = try sandbox.run("run", "--env", "K=holdfast://work/api", "--", "true")
        #expect(locked.code != 0 && locked.code != 127)
    }

    @Test func `no argument and no other variable has a value`() throws {
        let sandbox = try sandbox()
        let result = try sandbox.run(
            "run", "--mask", "--env", "P=holdfast://work/api", "--", "sh", "-c",
            """
            for f in /proc/$PPID/environ /proc/$PPID/cmdline /proc/$$/environ; do
                if [ -r $f ]; then grep -c key[-]0123 $f; else echo none; fi
            done
            """,
            passcode: Prepared.passcode)
        // Only the administrator may look at all.
        let own = geteuid() == 0 ? "0" : "none"
        #expect(result.text == "\(own)\n0\n1\n", "\(result.text) \(result.errors)")
    }
}
