import Foundation
import Testing

/// Names that a shell completes: folder by folder, quoted as the line is, and only what an open agent says. Real shells
/// run the scripts.
@Suite struct CompletionNamesTests {
    private func opened() throws -> AgentSandbox {
        let sandbox = try AgentSandbox()
        #expect(try sandbox.run("unlock", passcode: Prepared.passcode).code == 0)
        for name in [
            "logins/mail", "logins/my bank", "logins/ada@mail.example", "logins/work/vpn", "git/https://ada@host/team",
        ] {
            let put = try sandbox.run("put", name, input: .file(try sandbox.file([1])))
            #expect(put.code == 0, "\(put.errors)")
        }
        return sandbox
    }

    /// Runs a shell with the completion script, where `holdfast` is the program that is tested.
    private func shell(_ name: String, _ sandbox: AgentSandbox, _ function: String, _ test: String) throws -> [String] {
        let paths = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
        guard
            let program = paths.map({ "\($0)/\(name)" }).first(where: FileManager.default.isExecutableFile(atPath:))
        else {
            #expect(name != "bash", "bash is needed")
            return []
        }
        let script = try sandbox.file(try sandbox.run("completions", name).output)
        let child = try Child(
            program, raw: [Array("-c".utf8), Array("\(function)\nsource \(script)\n\(test)".utf8)],
            descriptors: [1: .output(sandbox.path + "/found")], environment: sandbox.variables)
        #expect(child.wait() == 0)
        return String(decoding: try sandbox.bytes("found"), as: UTF8.self).split(separator: "\n").map(String.init)
    }

    private func bash(_ sandbox: AgentSandbox, _ words: String...) throws -> [String] { try bash(sandbox, words) }

    private func bash(_ sandbox: AgentSandbox, _ words: [String]) throws -> [String] {
        let quoted = (["holdfast"] + words).map { "'" + $0.replacingOccurrences(of: "'", with: #"'\''"#) + "'" }
        return try shell(
            "bash", sandbox, "holdfast() { '\(Program.path)' \"$@\"; }",
            """
            COMP_WORDS=(\(quoted.joined(separator: " "))) COMP_CWORD=\(words.count)
            _holdfast
            printf '%s\\n' "${COMPREPLY[@]}"
            """)
    }

    @Test func `bash goes from folder to folder, and quotes as the line does`() throws {
        let sandbox = try opened()
        #expect(try bash(sandbox, "show", "log") == ["logins/"])
        #expect(try bash(sandbox, "show", "").sorted() == ["files/", "git/", "greeting", "logins/"])
        #expect(try bash(sandbox, "show", "logins/m").sorted() == ["logins/mail", #"logins/my\ bank"#])
        #expect(try bash(sandbox, "show", #"logins/my\ b"#) == [#"logins/my\ bank"#])
        #expect(try bash(sandbox, "show", "'logins/my b") == ["logins/my bank"])
        #expect(try bash(sandbox, "show", "'logins/'my") == [#"logins/my\ bank"#], "the quotation has ended")
        #expect(try bash(sandbox, "show", "\"logins/my") == ["logins/my bank"])
        #expect(try bash(sandbox, "show", "logins/a") == [#"logins/ada\@mail.example"#])
        #expect(try bash(sandbox, "show", "logins/w") == ["logins/work/"])
        #expect(try bash(sandbox, "show", "git/") == [#"git/https\://ada\@host/team"#], "an address is one")
        #expect(try bash(sandbox, "show", "'logins/my bank'", "-f", "va") == ["value"])
        // Folders alone where one is listed, and where a new name goes.
        for words in [["list"], ["add"], ["mv", "greeting"], ["rm", "-r"]] {
            func found(_ begun: String) throws -> [String] { try bash(sandbox, words + [begun]) }
            #expect(try found("log") == ["logins/"], "\(words)")
            guard words[0] != "rm" else { continue }
            #expect(try found("logins/") == ["logins/work/"], "\(words)")
            #expect(try found("gre") == [], "\(words)")
        }
        try #require(sandbox.run("lock").code == 0)
        #expect(try bash(sandbox, "show", "log") == [])
    }

    @Test func `zsh goes from folder to folder, and puts no space behind one`() throws {
        let sandbox = try opened()
        func found(_ prefix: String, _ what: String = "items") throws -> [String] {
            try shell(
                "zsh", sandbox, "compdef() { :; }; holdfast() { '\(Program.path)' \"$@\"; }",
                """
                compadd() { print -r -- "${(j:|:)@}" }
                PREFIX='\(prefix)'
                _holdfast_asked \(what)
                """)
        }
        guard try !shell("zsh", sandbox, "compdef() { :; }", "print there").isEmpty else { return }
        #expect(try found("log") == ["-S||--|logins/", "--"])
        #expect(try found(#"logins/my\ "#) == ["-S||--", "--|logins/my bank"])
        #expect(try found("logins/w") == ["-S||--|logins/work/", "--"])
        #expect(try found("logins/", "folders") == ["-S||--|logins/work/", "--"])
        try #require(sandbox.run("lock").code == 0)
        #expect(try found("log") == ["-S||--", "--"])
    }

    @Test func `fish goes from folder to folder`() throws {
        let sandbox = try opened()
        func found(_ word: String, _ command: String = "show") throws -> [String] {
            try shell(
                "fish", sandbox, "function holdfast; '\(Program.path)' $argv; end",
                "complete -C \"holdfast \(command) \(word)\""
            ).map { String($0.split(separator: "\t")[0]) }
        }
        guard try !shell("fish", sandbox, "", "echo there").isEmpty else { return }
        #expect(try found("log") == ["logins/"])
        #expect(try found(#"logins/my\\ "#) == ["logins/my bank"])
        #expect(try found("'logins/my") == ["logins/my bank"])
        #expect(try found("logins/w") == ["logins/work/"])
        for command in ["list", "add"] { #expect(try found("logins/", command) == ["logins/work/"], "\(command)") }
        try #require(sandbox.run("lock").code == 0)
        #expect(try found("log") == [])
    }
}
