import CommandLineArguments
import Foundation
import Testing

@testable import HoldfastCommand

/// What a message tells a person to run is run here, in the state that the message is about.
@Suite struct HintTests {
    private static let sources = Program.root.appending(path: "Sources/HoldfastCommand")

    /// The text of every string in the sources that has `holdfast WORD`, with adjacent pieces joined.
    private static func hints() throws -> [(file: String, text: Substring)] {
        var found: [(String, Substring)] = []
        for path in try FileManager.default.subpathsOfDirectory(atPath: sources.path) where path.hasSuffix(".swift") {
            let text = try String(contentsOf: sources.appending(path: path), encoding: .utf8)
                .replacing(/"\s*\n\s*\+ "/, with: "")
            for line in text.split(separator: "\n") where !line.drop(while: { $0 == " " }).hasPrefix("//") {
                for part in line.matches(of: /[ "(`]holdfast ([a-z][^"]*)/) { found.append((path, part.1)) }
            }
        }
        return found
    }

    @Test func `every command line in a text of the command names a command, and options that it has`() throws {
        let hints = try Self.hints()
        #expect(hints.count > 150)
        for (file, text) in hints {
            let words = text.prefix { $0.isLowercase || $0 == " " || $0 == "-" }.split(separator: " ").map(String.init)
            let program = CommandTable.program
            guard
                let count = (1...3).reversed().first(where: {
                    $0 <= words.count && program.command(Array(words.prefix($0))) != nil
                })
            else {
                #expect(
                    words.isEmpty || !program.group([words[0]]).isEmpty || ["where"].contains(words[0]),
                    "\(file): \(text)")
                continue
            }
            let command = try #require(program.command(Array(words.prefix(count)))).syntax
            let isOld = command.successor != nil
            #expect(
                !isOld
                    || ["Commands/Slots.swift", "Commands/Explain.swift", "Commands/SelfDestructCommands.swift"]
                        .contains(file),
                "\(file): \(text)")
            // `holdfast unlock; --shut-down ends it` says nothing about an option of unlock.
            let tokens = text.split(separator: " ")
            guard tokens[count - 1].last?.isLetter == true else { continue }
            let behind = tokens.dropFirst(count)
            for word in behind.prefix(while: { $0.hasPrefix("-") }) where word.hasPrefix("--") && word.count > 2 {
                let name = String(word.dropFirst(2).prefix { $0.isLetter || $0 == "-" })
                #expect(command.option(named: name) != nil, "\(file): \(text)")
            }
        }
    }

    /// What stands in a command line that is shown can be typed as it is: a name may have spaces, and worse.
    @Test func `a text of the user in a command line or in what was meant is quoted for the shell`() throws {
        // Numbers, options and words of the command's own.
        let own = ["SecretInput.", "Options.", "policy.", "Version.", "retired"]
        for (file, text) in try Self.hints() {
            for part in text.split(separator: ";")[0].split(separator: "\\(").dropFirst() {
                #expect(part.hasPrefix("ShellWord.") || own.contains { part.hasPrefix($0) }, "\(file): \(text)")
            }
        }
        for path in try FileManager.default.subpathsOfDirectory(atPath: Self.sources.path)
        where path.hasSuffix(".swift") {
            let text = try String(contentsOf: Self.sources.appending(path: path), encoding: .utf8)
            for line in text.split(separator: "\n") where line.contains("did you mean") || line.contains("advice") {
                #expect(!line.contains("'\\("), "\(path): \(line)")
            }
        }
    }

    @Test func `a vault that was destroyed shows what was erased`() throws {
        let sandbox = try Sandbox(prepared: true)
        try #require(sandbox.run("wipe", "--yes", passcode: Prepared.passcode).code == 0)
        let refused = try sandbox.run("get", "greeting", passcode: Prepared.passcode)
        #expect(refused.errors.contains("holdfast receipt verify shows what was erased"), "\(refused.errors)")
        let shown = try sandbox.run("receipt", "verify")
        #expect(shown.code == 0 && shown.text.contains("because the user asked for it"), "\(shown.errors)")
        #expect(try sandbox.run("init", "--device", "--file").code == 0, "the folder is free again")
    }

    @Test func `where there is no backup, none is created by init`() throws {
        let sandbox = try Sandbox()
        let missing = try sandbox.run("restore", "nowhere")
        #expect(missing.code == 6 && missing.errors.contains("there is no backup at nowhere"), "\(missing.errors)")
        #expect(!missing.errors.contains("holdfast init"))
    }

    @Test func `a folder that no backup can be written to is told what can`() throws {
        let sandbox = try Sandbox(prepared: true)
        let onto = try sandbox.run("backup", sandbox.home)
        #expect(onto.code == 1 && onto.errors.contains("there is a vault at"), "\(onto.errors)")
        #expect(onto.errors.contains("name a folder that is new or empty, or an earlier backup of this vault"))
        #expect(!onto.errors.contains("holdfast status"))
    }

    @Test func `a command is not told to use an option that it does not have`() throws {
        let sandbox = try Sandbox(prepared: true)
        let copied = try sandbox.run("cp", "greeting", "other", passcode: Prepared.passcode)
        try #require(copied.code == 0, "\(copied.errors)")
        let moved = try sandbox.run("mv", "greeting", "other", passcode: Prepared.passcode)
        #expect(moved.code == 1 && moved.errors.contains("choose another name"), "\(moved.errors)")
        #expect(!moved.errors.contains("--replace"))
        let value = Source.file(try sandbox.file([1]))
        let stored = try sandbox.run("put", "other", passcode: Prepared.passcode, input: value)
        #expect(stored.code == 1 && stored.errors.contains("use --replace to replace it"), "\(stored.errors)")
    }

    @Test func `a folder with other files is no place for a vault, and another one is named`() throws {
        let sandbox = try Sandbox(prepared: true)
        let copy = sandbox.path + "/copy"
        try #require(sandbox.run("backup", copy).code == 0)
        try FileManager.default.createDirectory(atPath: sandbox.path + "/full", withIntermediateDirectories: false)
        _ = try sandbox.file([1], "full/photo")
        let refused = try sandbox.run("restore", copy, "--home", sandbox.path + "/full")
        #expect(refused.code == 1 && refused.errors.contains("there are other files in"), "\(refused.errors)")
        #expect(refused.errors.contains("name another folder with --home"))
        #expect(try sandbox.run("restore", copy, "--home", sandbox.path + "/empty").code == 0)
    }

    @Test func `what is said of a login that get refuses reads it`() throws {
        let sandbox = try Sandbox(prepared: true)
        let secret = Source.file(try sandbox.file("hunter2\n".utf8))
        let added = try sandbox.run("add", "db", "--secret-fd=4", passcode: Prepared.passcode, descriptors: [4: secret])
        try #require(added.code == 0, "\(added.errors)")
        let refused = try sandbox.run("get", "db", passcode: Prepared.passcode)
        #expect(refused.errors.contains("holdfast show") && !refused.errors.contains("remove"), "\(refused.errors)")
        #expect(try sandbox.run("show", "db", "-f", "password", passcode: Prepared.passcode).text == "hunter2")
    }

    @Test func `a vault that is damaged is restored beside it, as its message says`() throws {
        let sandbox = try Sandbox(prepared: true)
        let (copy, anew) = (sandbox.path + "/copy", sandbox.path + "/new")
        try #require(sandbox.run("backup", copy).code == 0)
        _ = try sandbox.file([1, 2, 3], "home/header")
        let refused = try sandbox.run("get", "greeting", passcode: Prepared.passcode)
        #expect(refused.code == 5 && refused.errors.contains("holdfast restore FOLDER --home NEW"), "\(refused.errors)")
        #expect(try sandbox.run("restore", copy, "--home", anew).code == 0)
        let read = try sandbox.run("get", "greeting", "--home", anew, passcode: Prepared.passcode)
        #expect(read.text == Prepared.greeting)
    }

    @Test func `a machine without a key store is told how a vault can begin there`() throws {
        let sandbox = try Sandbox()
        let nothing = [
            "HOLDFAST_TPM": "swtpm:path=/nonexistent/socket", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent",
        ]
        let refused = try sandbox.run("init", "--device", environment: nothing)
        #expect(refused.code != 0 && refused.errors.contains("holdfast init --device --file"), "\(refused.errors)")
        #expect(try sandbox.run("init", "--device", "--file", environment: nothing).code == 0)
    }

    @Test func `an argument too many that other programs take as a field is understood as one`() throws {
        let sandbox = try Sandbox()
        let result = try sandbox.run("show", "github", "password")
        #expect(result.code == 2 && result.errors.contains("did you mean --field password?"), "\(result.errors)")
    }
}
