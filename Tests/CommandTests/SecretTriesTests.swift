import Foundation
import Testing

/// Wrong passcodes on a terminal: asked for again, and never more than a slip costs.
@Suite struct SecretTriesTests {
    private func left(_ sandbox: Sandbox) throws -> Int? {
        try sandbox.run("status", "--json").json()["remainingAttempts"] as? Int
    }

    @Test func `a wrong passcode is asked for again, three times in all`() throws {
        let sandbox = try Sandbox(prepared: true)
        let terminal = try PseudoTerminal()
        let child = try sandbox.start("get", "greeting", on: terminal)
        for (number, left) in [(1, "4 attempts remain"), (2, "3 attempts remain")] {
            try terminal.wait(for: "Passcode: ")
            terminal.type("wrong \(number)\n")
            try terminal.wait(for: "wrong passcode; \(left)")
        }
        try terminal.wait(for: "Passcode: ")
        terminal.type("wrong 3\n")
        #expect(child.wait() == 3)
        let screen = terminal.rest()
        #expect(
            screen.contains("2 attempts remain, the next one in 30 s") && !screen.contains("Passcode: "), "\(screen)")
        #expect(try left(sandbox) == 2)
    }

    @Test func `what was just refused, and nothing, cost no attempt`() throws {
        let sandbox = try Sandbox(prepared: true)
        let terminal = try PseudoTerminal()
        let child = try sandbox.start("get", "greeting", on: terminal)
        for typed in ["wrong", "wrong", "", "wrong"] {
            try terminal.wait(for: "Passcode: ")
            terminal.type(typed + "\n")
        }
        try terminal.wait(for: "This passcode was just refused, and was not counted again.")
        try terminal.wait(for: "Passcode: ")
        #expect(try left(sandbox) == 4)
        terminal.type(Prepared.passcode + "\n")
        try terminal.wait(for: "Guten Tag")
        #expect(child.wait() == 0)
    }

    /// The second line of what was pasted.
    @Test func `what is typed ahead is neither shown nor an attempt nor left behind`() throws {
        let sandbox = try Sandbox(prepared: true)
        let terminal = try PseudoTerminal()
        let script = "'\(Program.path)' get greeting; read -r -t 0 && read -r line; echo \"left<$line>\""
        let shell = try sandbox.start("-c", script, on: terminal, program: "/bin/bash")
        try terminal.wait(for: "Passcode: ")
        terminal.type("wrong\nsecond line\n")
        let screen = try terminal.wait(for: "Passcode: ")
        #expect(!screen.contains("second"), "\(screen)")
        #expect(!terminal.echoes)
        #expect(try left(sandbox) == 4)
        terminal.type(Prepared.passcode + "\nthird line\n")
        let end = try terminal.wait(for: "left<>")
        #expect(end.contains("Guten Tag") && !end.contains("third"), "\(end)")
        #expect(shell.wait() == 0)
        #expect(terminal.echoes)
    }

    /// Without delays, so that only the count is left to stop at.
    @Test func `the last two attempts are never spent by going on`() throws {
        let sandbox = try Sandbox(prepared: true)
        let set = try sandbox.run("lock-policy", "set", "delays=0", passcode: Prepared.passcode)
        #expect(set.code == 0, "\(set.errors)")
        #expect(try sandbox.run("list", passcode: "wrong 0").code == 3)
        let terminal = try PseudoTerminal()
        let first = try sandbox.start("list", on: terminal)
        for number in 1...2 {
            try terminal.wait(for: "Passcode: ")
            terminal.type("wrong \(number)\n")
        }
        #expect(first.wait() == 3)
        #expect(terminal.rest().contains("2 attempts remain"))

        let second = try sandbox.start("list", on: terminal)
        try terminal.wait(for: "2 attempts remain.\r\nPasscode: ")
        terminal.type("wrong 3\n")
        #expect(second.wait() == 3)
        #expect(!terminal.rest().contains("Passcode: "))

        let last = try sandbox.start("list", on: terminal)
        try terminal.wait(for: "This is the last attempt: a wrong passcode leaves one attempt an hour")
        try terminal.wait(for: "Type y or yes to go on: ")
        #expect(terminal.echoes)
        terminal.type("what\n")
        try terminal.wait(for: "Type y or yes to go on: ")
        terminal.type("\u{4}")
        #expect(last.wait() == 1)
        #expect(try left(sandbox) == 1)
        let right = try sandbox.start("list", on: terminal)
        try terminal.wait(for: "Type y or yes to go on: ")
        terminal.type("YES\n")
        try terminal.wait(for: "Passcode: ")
        terminal.type(Prepared.passcode + "\n")
        try terminal.wait(for: "greeting")
        #expect(right.wait() == 0)
        #expect(try left(sandbox) == 5)
    }

    @Test func `with self-destruct the last attempt says what it destroys`() throws {
        let sandbox = try Sandbox(prepared: true)
        #expect(
            try sandbox.run("lock-policy", "set", "delays=0", "attemptLimit=3", passcode: Prepared.passcode).code == 0)
        _ = try SelfDestructTests.enable(sandbox)
        for number in 1...2 { #expect(try sandbox.run("list", passcode: "wrong \(number)").code == 3) }
        let terminal = try PseudoTerminal()
        let child = try sandbox.start("list", on: terminal)
        try terminal.wait(for: "a wrong passcode destroys this vault and everything in it")
        try terminal.wait(for: "Type y or yes to go on: ")
        terminal.type("\u{3}")
        #expect(child.wait() == 130)
        #expect(try left(sandbox) == 1)
    }

    @Test(arguments: [["passcode", "verify"], ["enroll", "phrase"], ["passcode", "change"], ["wipe"]])
    func `every command that needs the passcode asks again`(_ words: [String]) throws {
        let sandbox = try Sandbox(prepared: true)
        let terminal = try PseudoTerminal()
        let child = try sandbox.start(words, on: terminal)
        if words == ["wipe"] {
            try terminal.wait(for: "Type destroy to continue: ")
            terminal.type("Destroy\n")
        }
        for _ in 1...2 {
            try terminal.wait(for: "asscode: ")
            terminal.type("wrong one\n")
        }
        try terminal.wait(for: "was just refused")
        try terminal.wait(for: "asscode: ")
        terminal.type("\u{3}")
        _ = child.wait()
        #expect(try left(sandbox) == 4)
    }
}
