import Foundation
import Testing

/// The binary on a terminal: what is shown, what is not, and how it is left behind.
@Suite struct TerminalTests {
    @Test func `a message breaks at words`() throws {
        let sandbox = try Sandbox(prepared: true)
        let terminal = try PseudoTerminal(columns: 40)
        let child = try sandbox.start(
            "get", "greeting", "--passcode-fd=3", on: terminal, descriptors: [3: sandbox.lines("not it")])
        #expect(child.wait() == 3)
        let said = terminal.rest()
        let lines = said.split(whereSeparator: \.isNewline)
        #expect(lines.count > 2 && lines.allSatisfy { $0.count <= 40 }, "\(said)")
        #expect(lines.joined(separator: " ").contains("holdfast recover opens the vault with it"), "\(said)")
    }

    @Test func `a passcode is made of words for who types none`() throws {
        let sandbox = try Sandbox()
        let terminal = try PseudoTerminal()
        let child = try sandbox.start(
            "init", "--phrase-out-fd=4", on: terminal, descriptors: [4: .output(sandbox.path + "/phrase")])
        try terminal.wait(for: "New passcode: ")
        terminal.type("\n")
        try terminal.wait(for: "Your passcode, which is not shown again: ")
        let made = String(try terminal.wait(for: "\n").prefix { !$0.isNewline })
        #expect(made.split(separator: "-").count == 6, "\(made)")
        try terminal.wait(for: "Repeat passcode: ")
        terminal.type(made + "\n")
        #expect(child.wait() == 0)
        #expect(try sandbox.run("list", passcode: made).code == 0)
    }

    @Test func aVaultIsMadeAndUsedByTyping() throws {
        let sandbox = try Sandbox()
        let terminal = try PseudoTerminal()
        let child = try sandbox.start(
            "init", on: terminal,
            descriptors: [1: .output(sandbox.path + "/out"), 2: .output(sandbox.path + "/err")])
        try terminal.wait(for: "New passcode: ")
        #expect(!terminal.echoes)
        terminal.type("typed passcode\n")
        try terminal.wait(for: "Repeat passcode: ")
        #expect(!terminal.echoes)
        terminal.type("typed passcode\n")
        var screen = try terminal.wait(for: "recovery phrase of the vault")
        #expect(try sandbox.run("status").code == 6, "nothing is a vault before")
        let phrase = try sandbox.lines(try terminal.takePhrase().joined(separator: " "))
        #expect(child.wait() == 0)
        screen += terminal.rest()
        #expect(terminal.echoes)
        #expect(try sandbox.run("list", "--phrase-fd=3", descriptors: [3: phrase]).code == 0)
        #expect(!screen.contains("typed passcode"))
        #expect(try sandbox.bytes("out").isEmpty, "the phrase went to standard output")
        #expect(try sandbox.bytes("err").isEmpty, "the phrase went to standard error")

        let put = try sandbox.start("put", "typed", on: terminal)
        try terminal.wait(for: "Passcode: ")
        terminal.type("typed passcode\n")
        try terminal.wait(for: "Value for typed (one line, not shown): ")
        #expect(!terminal.echoes)
        terminal.type("the value\n")
        #expect(put.wait() == 0)
        let said = terminal.rest()
        #expect(said.contains("Stored typed, 9 B"))
        #expect(!said.contains("the value"))

        let get = try sandbox.start("get", "typed", on: terminal)
        try terminal.wait(for: "Passcode: ")
        terminal.type("typed passcode\n")
        #expect(get.wait() == 0)
        let shown = terminal.rest()
        #expect(shown.hasSuffix("the value\r\n"), "\(shown)")
        #expect(shown.contains("Checking the passcode ...\r\u{1B}[K"))

        let list = try sandbox.start("list", on: terminal)
        try terminal.wait(for: "Passcode: ")
        terminal.type("typed passcode\n")
        #expect(list.wait() == 0)
        #expect(terminal.rest().contains("NAME   USER  KIND   CHANGED\r\ntyped        value  "))
    }

    /// Nothing is thrown away for a slip, and a weak one is told before it is typed again.
    @Test func `passcodes that differ or are weak are asked for again`() throws {
        let sandbox = try Sandbox()
        let terminal = try PseudoTerminal()
        let child = try sandbox.start(
            "init", "--phrase-out-fd=4", on: terminal, descriptors: [4: .output(sandbox.path + "/phrase")])
        try terminal.wait(for: "New passcode: ")
        terminal.type("1234\n")
        let weak = try terminal.wait(for: "New passcode: ")
        #expect(weak.contains("guesses this passcode at once") && !weak.contains("Repeat"), "\(weak)")
        terminal.type("typed passcode\n")
        try terminal.wait(for: "Repeat passcode: ")
        terminal.type("typed passcod\n")
        try terminal.wait(for: "The two passcodes differ.")
        for prompt in ["New passcode: ", "Repeat passcode: "] {
            try terminal.wait(for: prompt)
            terminal.type("typed passcode\n")
        }
        #expect(child.wait() == 0, "\(terminal.rest())")
        #expect(terminal.echoes)
        #expect(try sandbox.run("list", passcode: "typed passcode").code == 0)
    }

    @Test func `three words are asked back, as often as it takes`() throws {
        let sandbox = try Sandbox()
        let terminal = try PseudoTerminal()
        let child = try sandbox.start("init", on: terminal)
        for prompt in ["New passcode: ", "Repeat passcode: "] {
            try terminal.wait(for: prompt)
            terminal.type("correct horse\n")
        }
        try terminal.wait(for: "\u{1B}[?1049h")
        try terminal.wait(for: "three words are then asked for: ")
        terminal.type("\n")
        let position = try terminal.askedWord()
        terminal.type("abandonned\n")
        try terminal.wait(for: "That is not word \(position).")
        #expect(try terminal.askedWord() == position)
        terminal.type("?\n")
        let words = try terminal.takePhrase()
        let screen = try terminal.wait(for: "\u{1B}[?1049l")
        #expect(!screen.contains(words[0]) && child.wait() == 0)
        #expect(
            try sandbox.run("list", "--phrase-fd=3", descriptors: [3: sandbox.lines(words.joined(separator: " "))]).code
                == 0)
    }

    /// The shell that it is stopped in is on its own screen, and the words are on neither.
    @Test func `the words are left with their screen while the command is stopped`() throws {
        let sandbox = try Sandbox()
        let terminal = try PseudoTerminal()
        let script = "set -m; '\(Program.path)' init; echo stopped=$?; read -r go; fg >/dev/null; echo ended=$?"
        let shell = try sandbox.start("-c", script, on: terminal, program: "/bin/bash")
        for prompt in ["New passcode: ", "Repeat passcode: "] {
            try terminal.wait(for: prompt)
            terminal.type("correct horse\n")
        }
        try terminal.wait(for: "three words are then asked for: ")
        terminal.type("\u{1A}")
        let left = try terminal.wait(for: "stopped=148")
        #expect(left.contains("\u{1B}[?1049l"), "\(left)")
        terminal.type("go\n")
        try terminal.wait(for: "\u{1B}[?1049h")
        try terminal.wait(for: "three words are then asked for: ")
        terminal.type("\n")
        _ = try terminal.askedWord()
        terminal.type("?\n")
        try terminal.takePhrase()
        try terminal.wait(for: "ended=0")
        #expect(shell.wait() == 0)
    }

    /// A terminal without a second screen says what it may keep.
    @Test func `a terminal that obeys nothing says that the words may still be in it`() throws {
        let sandbox = try Sandbox()
        let terminal = try PseudoTerminal()
        let child = try sandbox.start("init", on: terminal, environment: ["TERM": "dumb"])
        for prompt in ["New passcode: ", "Repeat passcode: "] {
            try terminal.wait(for: prompt)
            terminal.type("correct horse\n")
        }
        let words = try terminal.takePhrase()
        #expect(child.wait() == 0)
        let screen = terminal.rest()
        #expect(!screen.contains("\u{1B}") && words.count == 24, "\(screen)")
    }

    /// They may have no second screen, and keep what a whole screen had that is emptied.
    @Test(arguments: ["screen", "screen-256color", "tmux-256color"])
    func `under tmux and screen the lines of the words are erased, and what may be kept is said`(_ kind: String) throws
    {
        let sandbox = try Sandbox()
        let terminal = try PseudoTerminal()
        let child = try sandbox.start("init", on: terminal, environment: ["TERM": kind])
        for prompt in ["New passcode: ", "Repeat passcode: "] {
            try terminal.wait(for: prompt)
            terminal.type("correct horse\n")
        }
        try terminal.wait(for: "three words are then asked for: ")
        terminal.type("\n")
        let erased = try terminal.wait(for: "may keep the words in what it scrolls back to; clear that.")
        // Three lines of heading, six of words, one empty one and the prompt.
        #expect(erased.contains(String(repeating: "\u{1B}[A\u{1B}[2K", count: 11) + "\r"), "\(erased)")
        #expect(!erased.contains("\u{1B}[2J"))
        _ = try terminal.askedWord()
        terminal.type("?\n")
        try terminal.takePhrase()
        #expect(child.wait() == 0)
    }

    @Test("signal", arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT])
    func restoresTheEcho(_ signal: Int32) throws {
        let sandbox = try Sandbox(prepared: true)
        let terminal = try PseudoTerminal()
        let child = try sandbox.start("get", "greeting", on: terminal)
        try terminal.wait(for: "Passcode: ")
        #expect(!terminal.echoes)
        if signal == SIGINT {
            terminal.type("half a passc\u{3}")
        } else {
            kill(child.pid, signal)
        }
        #expect(child.wait() == 130)
        #expect(terminal.echoes)
        #expect(try sandbox.run("status", "--json").json()["remainingAttempts"] as? Int == 5)
    }

    /// Nobody is left with a vault whose phrase they do not have.
    @Test(arguments: ["\u{4}", "\u{3}", "early"])
    func `an init that is not confirmed leaves no vault`(_ answer: String) throws {
        let sandbox = try Sandbox()
        let terminal = try PseudoTerminal()
        let child = try sandbox.start("init", on: terminal)
        for prompt in ["New passcode: ", "Repeat passcode: "] {
            try terminal.wait(for: prompt)
            terminal.type("correct horse\n")
        }
        try terminal.wait(for: "Measuring this machine")
        if answer == "early" {
            terminal.type("\u{3}")
            #expect([130, 1000 + SIGINT].contains(child.wait()))
            #expect(!terminal.rest().contains("24. "), "nothing was shown in vain")
            #expect(terminal.echoes)
        } else {
            try terminal.wait(for: "three words are then asked for: ")
            terminal.type("\n")
            _ = try terminal.askedWord()
            terminal.type(answer)
            #expect(child.wait() == (answer == "\u{4}" ? 1 : 130))
            #expect(terminal.rest().contains("\u{1B}[?1049l"), "the terminal is back on its own screen")
            #expect(!sandbox.exists("home"))
        }
        #expect(try sandbox.run("status").code == 6)
        let again = try sandbox.run(
            "init", "--phrase-out-fd=4", passcode: "correct horse", descriptors: [4: .output(sandbox.path + "/phrase")])
        #expect(again.code == 0, "\(again.errors)")
    }

    /// What a value could make a terminal do is shown instead; elsewhere, and with `--raw`, it is written as it is.
    @Test func `a value does nothing to the terminal`() throws {
        let sandbox = try Sandbox(prepared: true)
        let value: [UInt8] = Array("a\u{1B}]0;title\u{7}\tä\u{202E}\nend".utf8) + [0x9B, 0xC3]
        let put = try sandbox.run(
            "put", "strange", passcode: Prepared.passcode, input: .file(try sandbox.file(value)))
        #expect(put.code == 0, "\(put.errors)")
        #expect(try sandbox.run("get", "strange", passcode: Prepared.passcode).output == value)
        let passcode = try sandbox.lines(Prepared.passcode)
        for isRaw in [false, true] {
            let terminal = try PseudoTerminal()
            let words = ["get", "strange", "--passcode-fd=3"] + (isRaw ? ["--raw"] : [])
            let child = try sandbox.start(words, on: terminal, descriptors: [3: passcode])
            #expect(child.wait() == 0)
            let shown = terminal.rest()
            if isRaw {
                #expect(shown.contains("a\u{1B}]0;title\u{7}\tä\u{202E}\r\nend"))
            } else {
                #expect(shown.hasSuffix("a\\u{1b}]0;title\\u{7}\tä\\u{202e}\r\nend\\x9b\\xc3\r\n"), "\(shown)")
            }
        }
    }

    @Test func `recover checks the phrase before it asks for a passcode`() throws {
        let sandbox = try Sandbox(prepared: true)
        let wrong = (0..<23).map { _ in "abandon" } + ["art"]
        let phrase = try sandbox.lines(wrong.joined(separator: " "))
        let terminal = try PseudoTerminal()
        let child = try sandbox.start(["recover", "--phrase-fd=3"], on: terminal, descriptors: [3: phrase])
        #expect(child.wait() == 3)
        #expect(!terminal.rest().contains("New passcode"))
    }

    @Test func aBlockedSignalStillWorks() throws {
        let sandbox = try Sandbox(prepared: true)
        let terminal = try PseudoTerminal()
        let child = try sandbox.start("get", "greeting", on: terminal, blocked: [SIGINT, SIGTSTP])
        try terminal.wait(for: "Passcode: ")
        terminal.type("\u{3}")
        #expect(child.wait() == 130)
        #expect(terminal.echoes)
    }

    /// A shell with job control stops and continues it.
    @Test func aStoppedPromptShowsTheEchoAndComesBack() throws {
        let sandbox = try Sandbox(prepared: true)
        let terminal = try PseudoTerminal()
        let script = "set -m; '\(Program.path)' get greeting; echo stopped=$?; read -r go; fg >/dev/null; echo ended=$?"
        let shell = try sandbox.start("-c", script, on: terminal, program: "/bin/bash")
        try terminal.wait(for: "Passcode: ")
        #expect(!terminal.echoes)
        terminal.type("half\u{1A}")
        try terminal.wait(for: "stopped=148")
        #expect(terminal.echoes)
        terminal.type("go\n")
        try terminal.wait(for: "Passcode: ")
        #expect(!terminal.echoes)
        terminal.type(Prepared.passcode + "\n")
        try terminal.wait(for: "Guten Tag")
        try terminal.wait(for: "ended=0")
        #expect(shell.wait() == 0)
        #expect(terminal.echoes)
    }

    @Test func anEndOfInputIsACancel() throws {
        let sandbox = try Sandbox(prepared: true)
        let terminal = try PseudoTerminal()
        let child = try sandbox.start("get", "greeting", on: terminal)
        try terminal.wait(for: "Passcode: ")
        terminal.type("\u{4}")
        #expect(child.wait() == 1)
        #expect(terminal.rest().contains("nothing was entered"))
        #expect(terminal.echoes)
        #expect(try sandbox.run("status", "--json").json()["remainingAttempts"] as? Int == 5)
    }

    @Test func aLineThatIsTooLongIsRefused() throws {
        let sandbox = try Sandbox(prepared: true)
        let terminal = try PseudoTerminal()
        let child = try sandbox.start("get", "greeting", on: terminal)
        try terminal.wait(for: "Passcode: ")
        terminal.type(String(repeating: "x", count: 1025) + "\n")
        #expect(child.wait() == 1)
        #expect(terminal.rest().contains("longer than 1024 bytes"))
    }

    /// A terminal on a descriptor would show what is typed.
    @Test func aTerminalIsNoSecretDescriptor() throws {
        let sandbox = try Sandbox(prepared: true)
        let terminal = try PseudoTerminal()
        let child = try sandbox.start("get", "greeting", "--passcode-fd", "0", on: terminal)
        #expect(child.wait() == 2)
        #expect(terminal.rest().contains("would show what is typed"))
    }

    @Test func aRekeyShowsItsPhraseOnTheTerminal() throws {
        let sandbox = try Sandbox(prepared: true)
        let terminal = try PseudoTerminal()
        let child = try sandbox.start("passcode", "change", "--rekey", on: terminal)
        try terminal.wait(for: "Current passcode: ")
        terminal.type(Prepared.passcode + "\n")
        try terminal.wait(for: "New passcode: ")
        terminal.type("another\n")
        try terminal.wait(for: "Repeat passcode: ")
        terminal.type("another\n")
        try terminal.takePhrase()
        try terminal.wait(for: "everything has new keys")
        #expect(child.wait() == 0)
        #expect(try sandbox.run("get", "greeting", passcode: "another").text == Prepared.greeting)
    }

    @Test func `until a new phrase is confirmed the old one holds, and both are said`() throws {
        let sandbox = try Sandbox(prepared: true)
        let terminal = try PseudoTerminal()
        let child = try sandbox.start(
            "enroll", "phrase", "--passcode-fd=3", on: terminal,
            descriptors: [3: sandbox.lines(Prepared.passcode)])
        let page = try terminal.wait(for: "three words are then asked for: ")
        let told = try #require(page.range(of: "the old sheet no longer opens the vault."))
        let first = try #require(page.range(of: " 1. "))
        #expect(told.lowerBound < first.lowerBound && page.contains("Once it is confirmed,"))
        for line in page.split(whereSeparator: \.isNewline) { #expect(line.count <= 80 || line.contains("\u{1B}")) }
        terminal.type("\u{3}")
        try terminal.wait(for: "The old recovery phrase still opens the vault.")
        #expect(child.wait() == 130)
        let phrase = try sandbox.lines(Prepared.shared().phrase)
        #expect(try sandbox.run("get", "greeting", "--phrase-fd=3", descriptors: [3: phrase]).text == Prepared.greeting)
    }

    @Test(arguments: [["passcode", "change", "--rekey"], ["enroll", "phrase"]])
    func `a new phrase that nobody says is written down changes nothing`(_ words: [String]) throws {
        let sandbox = try Sandbox(prepared: true)
        let terminal = try PseudoTerminal()
        let child = try sandbox.start(
            words + ["--passcode-fd=3"], on: terminal,
            descriptors: [3: sandbox.lines(Prepared.passcode, "another one of mine")])
        try terminal.wait(for: "three words are then asked for: ")
        terminal.type("\n")
        _ = try terminal.askedWord()
        terminal.type("\u{4}")
        try terminal.wait(for: "nothing was changed, and this phrase is not valid")
        #expect(child.wait() == 1)
        let phrase = try sandbox.lines(Prepared.shared().phrase)
        #expect(try sandbox.run("get", "greeting", "--phrase-fd=3", descriptors: [3: phrase]).text == Prepared.greeting)
        #expect(try sandbox.run("get", "greeting", passcode: Prepared.passcode).text == Prepared.greeting)
    }
}
