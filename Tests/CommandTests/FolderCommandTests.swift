import Foundation
import Items
import Testing
import VaultCore

@testable import HoldfastCommand

/// mv, cp and rm of folders, show of one, and vault adopt-names.
@Suite struct FolderCommandTests {
    /// A vault with two entries in `work`, one from an earlier version, and one elsewhere; open in an agent or not.
    private final class Stage {
        let sandbox: AgentSandbox
        let hasAgent: Bool

        init(hasAgent: Bool) throws {
            sandbox = try AgentSandbox()
            self.hasAgent = hasAgent
            for name in ["work/vpn", "work/a/b", "other/x"] { try put(name) }
            try sandbox.sandbox.store("old", "work/old")
            if hasAgent { try #require(try sandbox.run("unlock", passcode: Prepared.passcode).code == 0) }
        }

        deinit { if hasAgent { _ = try? sandbox.run("lock", "--shut-down") } }

        func put(_ name: String) throws {
            let result = try sandbox.run(
                "put", name, passcode: Prepared.passcode, input: .file(sandbox.file(name.utf8)))
            try #require(result.code == 0, "\(result.errors)")
        }

        func run(_ words: String..., input: Source = .null) throws -> Sandbox.Result {
            try sandbox.run(
                raw: words.map { Array($0.utf8) }, passcode: hasAgent ? nil : Prepared.passcode, input: input)
        }

        var names: [String] {
            get throws {
                try run("list").text.split(separator: "\n").map { String($0.split(separator: "\t")[0]) }.sorted()
            }
        }
    }

    @Test(arguments: [false, true])
    func `a folder is moved into one that is there, else to its name, and copied`(hasAgent: Bool) throws {
        let stage = try Stage(hasAgent: hasAgent)
        let moved = try stage.run("mv", "work/", "archive/")
        #expect(moved.code == 0 && moved.output.isEmpty && moved.errors.isEmpty, "\(moved.errors)")
        #expect(
            try stage.names == ["archive/a/b", "archive/old", "archive/vpn", "files/big", "greeting", "other/x"])
        #expect(try stage.run("mv", "archive/", "other/").code == 0)
        #expect(try stage.run("get", "other/archive/old").text == "old")
        #expect(try stage.run("mv", "other/archive/a/", "b/c/").code == 0)
        #expect(try stage.run("get", "b/c/b").text == "work/a/b")
        #expect(try stage.run("cp", "other/archive/", "copy/", "--yes").code == 0)
        #expect(
            try stage.names == [
                "b/c/b", "copy/old", "copy/vpn", "files/big", "greeting", "other/archive/old", "other/archive/vpn",
                "other/x",
            ])
    }

    @Test(arguments: [false, true])
    func `what keeps a folder from being moved is said, and nothing is done`(hasAgent: Bool) throws {
        let stage = try Stage(hasAgent: hasAgent)
        for name in ["to/work/vpn", "to/work/old"] { try stage.put(name) }
        let before = try stage.names
        func refused(_ words: String..., code: Int32, _ what: String) throws {
            let result = try stage.sandbox.run(
                raw: words.map { Array($0.utf8) }, passcode: hasAgent ? nil : Prepared.passcode)
            #expect(result.code == code && result.errors.contains(what), "\(words): \(result.errors)")
        }
        try refused("mv", "work/", "to/", code: 1, "already entries 'to/work/old', 'to/work/vpn'; nothing was done")
        try refused("mv", "work/", "work/b/", code: 2, "the same or in it")
        try refused("mv", "work/", "work/", code: 2, "the same or in it")
        try refused("cp", "to/work/", "to/", code: 2, "the same or in it")
        try refused("mv", "work/", "new", code: 2, "write new/")
        try refused("mv", "nothing/", "new/", code: 6, "there is no folder 'nothing/'")
        try refused("mv", "work/", "inbox/", code: 2, "Holdfast's own")
        try refused("mv", "work/", "a//b/", code: 2, "part 2 is empty")
        try refused("cp", "files/", "new/", code: 1, "are not copied: 'files/big'; nothing was done")
        try refused("rm", "-r", "files/", "--yes", code: 1, "do not go to the trash: 'files/big'")
        try refused("rm", "-r", "work/", code: 2, "use --yes")
        try refused("rm", "work/", code: 2, "--recursive removes all that is in it")
        try refused("rm", "-r", "work/", "--open", code: 2, "cannot be combined with --open")
        // Without its slash a folder is none, and part of its name neither.
        try refused("rm", "-r", "work", "--yes", code: 6, "no entry 'work'; a folder has a slash at its end: work/")
        try refused("rm", "-r", "wor/", "--yes", code: 6, "there is no folder 'wor/'")
        #expect(try stage.names == before)
    }

    @Test(arguments: [false, true])
    func `a folder goes to the trash, or for good`(hasAgent: Bool) throws {
        let stage = try Stage(hasAgent: hasAgent)
        #expect(try stage.run("rm", "-r", "work/", "--yes").code == 0)
        #expect(try stage.names == ["files/big", "greeting", "other/x"])
        #expect(try stage.run("trash", "restore", "work/a/b").code == 0)
        #expect(try stage.run("get", "work/a/b").text == "work/a/b")
        #expect(try stage.run("rm", "--recursive", "--for-good", "files/", "--yes").code == 0)
        #expect(try stage.names == ["greeting", "other/x", "work/a/b"])
    }

    @Test func `on a terminal a folder is asked for`() throws {
        let stage = try Stage(hasAgent: true)
        func run(_ words: String..., answer: (String, String)? = nil, then last: String) throws -> Int32 {
            let terminal = try PseudoTerminal()
            let child = try stage.sandbox.sandbox.start(
                words, on: terminal, environment: ["XDG_RUNTIME_DIR": stage.sandbox.runtime])
            if let (prompt, word) = answer {
                try terminal.wait(for: prompt)
                terminal.type(word + "\n")
            }
            try terminal.wait(for: last)
            return child.wait()
        }
        #expect(
            try run(
                "mv", "work/", "archive/", answer: ("Move 3 entries of work/ to archive/? [y/N] ", ""),
                then: "cancelled; nothing was changed") == 1)
        #expect(
            try run(
                "mv", "work/", "archive/", answer: ("Move 3 entries of work/ to archive/? [y/N] ", "y"),
                then: "Moved 3 entries to archive/.") == 0)
        #expect(
            try run(
                "rm", "-r", "archive/a/", answer: ("Remove 1 entry of archive/a/? [y/N] ", "y"),
                then: "Moved 1 entry of archive/a/ to the trash.") == 0)
        // A folder is listed where an entry is shown; a whole name goes before a part of one.
        #expect(try run("show", "archive", then: "archive/vpn") == 0)
        #expect(try run("show", "archive/", then: "archive/vpn") == 0)
        let gone = try stage.run("show", "archive")
        #expect(
            gone.code == 6 && gone.errors.contains("'archive/' is a folder; holdfast list archive/"), "\(gone.errors)")
        // The one from an earlier version is named where another one goes before it.
        try stage.sandbox.sandbox.store("twin", "archive/vpn")
        #expect(try run("get", "archive/vpn", then: "default/archive/vpn is another one.") == 0)
        #expect(try run("show", "default/archive/vpn", then: "entry    default/archive/vpn") == 0)
        #expect(try stage.run("rm", "archive/vpn").code == 0)
        #expect(try run("show", "default/archive/vpn", then: "entry    archive/vpn") == 0)
        #expect(try run("rm", "default/archive/vpn", then: "Moved archive/vpn to the trash.") == 0)
        #expect(try run("trash", "restore", "default/archive/vpn", then: "Restored archive/vpn.") == 0)
    }

    @Test func `on a terminal a slip renames nothing, and a folder without its slash is said`() throws {
        let stage = try Stage(hasAgent: true)
        let question = "work/ is a folder. Put it in there? n names the entry work. [Y/n] "
        for (answers, name) in [(["k", "no"], "work"), (["what", ""], "work/x"), (["N"], "work")] {
            if try !stage.names.contains("x") { try stage.put("x") }
            let terminal = try PseudoTerminal()
            let child = try stage.sandbox.sandbox.start(
                "mv", "x", "work", on: terminal, environment: ["XDG_RUNTIME_DIR": stage.sandbox.runtime])
            for answer in answers {
                try terminal.wait(for: "entry work. [Y/n] ")
                terminal.type(answer + "\n")
            }
            let shown = try terminal.wait(for: "Now \(name).")
            #expect(child.wait() == 0)
            #expect(try stage.names.contains(name), "\(question) \(shown)")
            try #require(try stage.run("rm", name).code == 0)
        }
        for words in [["rm", "-r", "work"], ["mv", "work", "elsewhere"]] {
            let terminal = try PseudoTerminal()
            let child = try stage.sandbox.sandbox.start(
                words, on: terminal, environment: ["XDG_RUNTIME_DIR": stage.sandbox.runtime])
            try terminal.wait(for: "With a slash at its end it is the folder: work/")
            try terminal.wait(for: "or Enter for none: ")
            terminal.type("\n")
            #expect(child.wait() == 1)
        }
    }

    @Test(arguments: [false, true])
    func `entries of earlier vaults get the place that they are written as`(hasAgent: Bool) throws {
        let stage = try Stage(hasAgent: hasAgent)
        try stage.put("taken/x")
        for name in ["taken/x", "logins/mail"] { try stage.sandbox.sandbox.store("old", name) }
        let listed = try stage.run("vault", "adopt-names")
        let lines = """
            holdfast://default/logins%2Fmail -> holdfast://logins/mail
            holdfast://default/work%2Fold -> holdfast://work/old

            """
        #expect(listed.code == 2 && listed.text == lines, "\(listed.text)")
        #expect(listed.errors.contains("'default/taken/x' stays: another entry has its place"), "\(listed.errors)")
        #expect(try stage.run("get", "old", "-c", "work").code == 6)
        let adopted = try stage.run("vault", "adopt-names", "--yes")
        #expect(adopted.code == 0 && adopted.text == lines)
        #expect(try stage.run("get", "old", "-c", "work").text == "old")
        #expect(try stage.run("get", "mail", "-c", "logins").text == "old")
        let nothing = try stage.run("vault", "adopt-names")
        #expect(nothing.code == 0 && nothing.output.isEmpty, "\(nothing.errors)")
    }

    @Test func `a minimum for a collection names what it is not in effect for`() throws {
        let stage = try Stage(hasAgent: true)
        let words = ["lock-policy", "set", "minimum.work=key-bound"].map { Array($0.utf8) }
        let set = try stage.sandbox.run(raw: words, passcode: Prepared.passcode)
        #expect(
            set.code == 0 && set.errors.contains("in effect for 'work/old'; holdfast vault adopt-names"),
            "\(set.errors)")
    }

    @Test(arguments: [false, true])
    func `a value with tags is replaced and keeps them`(hasAgent: Bool) throws {
        let stage = try Stage(hasAgent: hasAgent)
        #expect(try stage.run("tag", "add", "work/vpn", "red").code == 0)
        let new = Source.file(try stage.sandbox.file("new\n".utf8))
        #expect(try stage.run("put", "work/vpn", input: new).code == 1)
        let replaced = try stage.run("put", "work/vpn", "--replace", input: new)
        #expect(replaced.code == 0 && replaced.errors.isEmpty, "\(replaced.errors)")
        #expect(try stage.run("get", "work/vpn").text == "new\n")
        #expect(try stage.run("find", "#red").text.contains("work/vpn"))
        // What has other fields is not replaced.
        let added = try stage.run("add", "login", "-u", "ada", "--generate")
        #expect(added.code == 0, "\(added.errors)")
        let refused = try stage.run("put", "login", "--replace", input: new)
        #expect(refused.code == 1 && refused.errors.contains("is a login with fields"), "\(refused.errors)")
    }

    @Test(arguments: [false, true])
    func `a new name beside an old one that can be read as it is refused`(hasAgent: Bool) throws {
        let stage = try Stage(hasAgent: hasAgent)
        try stage.sandbox.sandbox.store("old", "default/x")
        let value = Source.file(try stage.sandbox.file("new".utf8))
        for words in [["put", "x"], ["put", "x", "--replace"], ["put", "x", "-c", "default"], ["add", "x", "-g"]] {
            let result = try stage.sandbox.run(
                raw: words.map { Array($0.utf8) }, passcode: hasAgent ? nil : Prepared.passcode, input: value)
            #expect(
                result.code == 1 && result.errors.contains("already an entry 'default/x'"), "\(words): \(result.errors)"
            )
        }
        #expect(try stage.run("mv", "work/vpn", "x", "--to-collection=default").code == 1)
        #expect(try stage.run("cp", "work/vpn", "old", "--to-collection=work").code == 1)
        #expect(try stage.run("get", "default/x").text == "old")
    }

    @Test func `nothing in the trash is written as another thing there`() {
        func path(_ name: String) -> EntryPath { EntryPath(name: name) }
        let all = [path("q"), path("q#2"), path("q"), path("q#2"), path("a#3"), path("q")]
        let names = TrashNames(all)
        #expect(names.written == ["q", "q\\u{23}2", "q#2", "q\\u{23}2#2", "a#3", "q#3"])
        for (index, written) in names.written.enumerated() {
            #expect(names.meant(by: written, takesNumber: true).first == index, "\(written)")
        }
        #expect(
            names.meant(by: "q", takesNumber: true) == [0, 2, 5] && names.meant(by: "q#2", takesNumber: true) == [2, 5])
        #expect(
            names.meant(by: "a#3", takesNumber: true) == [4] && names.meant(by: "q#1", takesNumber: true) == [0, 2, 5])
        #expect(names.meant(by: "q#4", takesNumber: true).isEmpty && names.meant(by: "z", takesNumber: true).isEmpty)
        // For good only by the name alone.
        #expect(names.meant(by: "q#2", takesNumber: false).isEmpty && names.meant(by: "a#3", takesNumber: false) == [4])
        #expect(names.meant(by: "q\\u{23}2", takesNumber: false) == [1, 3])
    }
}
