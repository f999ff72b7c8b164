import CommandLineArguments
import Foundation
import Testing

@testable import HoldfastCommand

/// Command lines that cannot be meant, and what is said about them. No key is derived in any of them.
@Suite struct UsageTests {
    static let wrong: [([String], String)] = [
        (["--home", "x"], "no command"),
        (["putt"], "unknown command putt; did you mean put?"),
        (["passcode"], "passcode needs one of: change, check"),
        (["passcode", "chnage"], "unknown command passcode chnage; did you mean change?"),
        (["delete", "a"], "unknown command delete; did you mean rm?"),
        (["slots"], "slots needs one of: list, add, remove"),
        (["config", "--json", "set", "a=b"], "config set has no option --json"),
        (["check"], "unknown command check; did you mean verify?"),
        (["passcode", "test"], "unknown command passcode test; did you mean passcode check?"),
        (
            ["history", "mail"],
            "unknown command history mail; history needs one of: list, restore; did you mean holdfast history list mail? (see"
        ),
        (["history", "lst"], "unknown command history lst; did you mean list? (see"),
        (["tag", "my mail"], "did you mean holdfast tag add 'my mail' TAG? (see"),
        (["tag", "mail", "work"], "did you mean holdfast tag add mail work? (see"),
        (["trash", "mail"], "needs one of: list, restore, empty; did you mean holdfast trash restore mail? (see"),
        (["inbox", "note"], "needs one of: list, accept, reject; did you mean holdfast inbox accept note? (see"),
        (["enroll", "mail"], "enroll mail; enroll needs one of: pin, fingerprint, account, tpm, phrase, remove (see"),
        (["lock-policy", "attempts=5"], "did you mean holdfast lock-policy set attempts=5? (see"),
        (["config", "idle=1h"], "unexpected argument idle=1h; did you mean holdfast config set idle=1h? (see"),
        (["show", "mail", "pass word"], "did you mean --field 'pass word'? (see"),
        (["frobnicate"], "unknown command frobnicate (see"),
        (["get"], "get: NAME is missing"),
        (["get", "a", "b"], "unexpected argument b"),
        (["get", ""], "NAME must not be empty"),
        (["get", "a", "--colection", "b"], "unknown option --colection; did you mean --collection?"),
        (["get", "a", "--collection"], "--collection C: the value is missing"),
        (["get", "a", "--collection", "--json"], "if --json is the value, write --collection=--json"),
        (["get", "a", "--collection=x", "--collection=y"], "--collection is repeated"),
        (["get", "a", "--replace"], "unknown option --replace"),
        (["put", "a", "--replace=yes"], "--replace has no value"),
        (["get", "-x"], "put -- before a name that begins with a hyphen"),
        (["get", "a", "--home="], "--home DIR: the value must not be empty"),
        (["get", "a", "--passcode-fd", "three"], "must be the number of a file descriptor"),
        (["get", "a", "--passcode-fd=+3"], "must be the number of a file descriptor"),
        (["get", "a", "--passcode-fd=99999999999"], "must be the number of a file descriptor"),
        (["get", "a", "--passcode-fd=250"], "--passcode-fd 250: this descriptor is not open for reading"),
        (["init", "--phrase-out-fd=250"], "--phrase-out-fd 250: this descriptor is not open for writing"),
        (["--collection", "x", "get", "a"], "put --collection after the command"),
        (["--json", "put", "a"], "put has no option --json"),
        (["completions", "tcsh"], "SHELL must be one of: bash, zsh, fish"),
        (["help", "passcod"], "unknown command passcod"),
        (["passcode", "change", "--phrase-out-fd=1"], "--phrase-out-fd requires --rekey"),
        (
            ["passcode", "change", "--rekey", "--phrase-out-fd=1", "--phrase"],
            "cannot be combined with --phrase or --phrase-fd"
        ),
        (["get", "a", "--phrase", "--phrase-fd=0"], "use only one of them"),
        (["get", "a", "--phrase", "--passcode-fd=0"], "use only one of"),
    ]

    @Test("usage error", arguments: wrong)
    func isToldAndNothingIsDone(_ words: [String], _ message: String) throws {
        let sandbox = try Sandbox()
        let result = try sandbox.run(raw: words.map { Array($0.utf8) })
        #expect(result.code == 2)
        #expect(result.output.isEmpty || words.contains("--json"))
        #expect(result.errors.contains(message), "\(result.errors)")
        #expect(result.errors.hasPrefix("holdfast: "))
        #expect(result.errors.split(separator: "\n").count == 1)
        #expect(!sandbox.exists("home"))
    }

    static let asking = [
        ["init", "--phrase-out-fd=1"], ["get", "a"], ["put", "a"], ["list"], ["rm", "a"], ["verify"],
        ["passcode", "verify"], ["passcode", "change"], ["recover"], ["get", "a", "--phrase"],
    ]

    @Test("without a terminal", arguments: asking)
    func nobodyToAsk(_ words: [String]) throws {
        let isNew = words[0] == "init"
        let sandbox = try Sandbox(prepared: !isNew)
        let result = try sandbox.run(raw: words.map { Array($0.utf8) })
        // What an unlocked vault would have answered is locked; the rest lacks an option.
        let isLocked = ["get", "put", "list", "rm", "verify"].contains(words[0]) && !words.contains("--phrase")
        #expect(result.code == (isLocked ? 3 : 2))
        #expect(result.errors.contains("locked: there is no terminal") == isLocked, "\(result.errors)")
        #expect(result.errors.contains("there is no terminal to ask for"), "\(result.errors)")
        #expect(sandbox.exists("home") != isNew)
    }

    @Test func `a locked vault without a terminal says what to do, as programs read it too`() throws {
        let sandbox = try Sandbox(prepared: true)
        let list = try sandbox.run("list", "--json")
        #expect(try list.code == 3 && list.jsonError()["code"] as? String == "locked", "\(list.errors)")
        let get = try sandbox.run("get", "greeting")
        #expect(
            get.errors
                == "holdfast: locked: there is no terminal to ask for the passcode; run holdfast unlock first, or use "
                + "--passcode-fd N\n")
        // An agent that has it open would not do.
        for words in [["unlock"], ["verify", "--clean"]] {
            let refused = try sandbox.run(raw: words.map { Array($0.utf8) })
            #expect(
                refused.code == 3 && refused.errors.contains("for the passcode; use --passcode-fd N\n"),
                "\(refused.errors)")
        }
    }

    /// Everything that asks for a secret of a vault that is there.
    static let ofAVault = [
        ["get", "a"], ["verify"], ["unlock"], ["unlock", "--phrase"], ["passcode", "verify"], ["passcode", "change"],
        ["passcode", "change", "--rekey"], ["recover"], ["enroll", "tpm"], ["enroll", "pin"], ["enroll", "phrase"],
        ["enroll", "fingerprint"], ["enroll", "device"], ["slots", "remove", "pin"], ["slots", "remove", "phrase"],
        ["slots", "remove", "tpm"], ["slots", "add", "device"], ["slots", "remove", "device"],
        ["hardware", "claim"], ["hardware", "leave"], ["self-destruct", "enable", "--yes"],
        ["lock-policy", "set", "attemptLimit=5"], ["export", "x.kdbx", "--file-password-fd=0"],
    ]

    @Test func `what is wrong with a vault is said before a missing terminal, by every command`() throws {
        let sandbox = try Sandbox(prepared: true)
        let wiped = try sandbox.run("wipe", "--yes", passcode: Prepared.passcode)
        try #require(wiped.code == 0, "\(wiped.errors)")
        let none = try Sandbox()
        for words in UsageTests.ofAVault {
            let raw = words.map { Array($0.utf8) }
            let destroyed = try sandbox.run(raw: raw)
            #expect(destroyed.code == 4 && destroyed.errors.contains("destroyed"), "\(words): \(destroyed.errors)")
            let missing = try none.run(raw: raw)
            #expect(missing.code == 6, "\(words): \(missing.errors)")
        }
    }

    @Test func `a passcode from a descriptor may end as lines of other systems do`() throws {
        let sandbox = try Sandbox(prepared: true)
        let file = try sandbox.file("\(Prepared.passcode)\r\n".utf8)
        let result = try sandbox.run("get", "greeting", "--passcode-fd=3", descriptors: [3: .file(file)])
        #expect(result.text == Prepared.greeting, "\(result.errors)")
    }

    @Test func aPhraseThatCouldNotBeShownIsNotMade() throws {
        let sandbox = try Sandbox()
        let result = try sandbox.run("init", passcode: "abc")
        #expect(result.code == 2)
        #expect(result.errors.contains("--phrase-out-fd"))
        #expect(!sandbox.exists("home"))
        let unwritable = try sandbox.run(
            "init", "--phrase-out-fd=4", passcode: "correct horse", descriptors: [4: .file("/dev/null")])
        #expect(unwritable.code == 2)
        #expect(!sandbox.exists("home"))
    }

    /// A repaired name would be another name.
    @Test func `a file where the vault would be is named before anything is asked`() throws {
        let sandbox = try Sandbox()
        let file = try sandbox.file([1], "file")
        let created = try sandbox.run("init", "--home", file)
        #expect(created.code == 1 && created.errors.contains("is not a folder"), "\(created.errors)")
        let read = try sandbox.run("status", "--home", file)
        #expect(read.code == 6 && read.errors.contains("which is no folder"), "\(read.errors)")
    }

    @Test func bytesThatAreNotTextAreRefused() throws {
        let sandbox = try Sandbox()
        let result = try sandbox.run(raw: [Array("get".utf8), [0x61, 0xFF, 0x62]], passcode: "abc")
        #expect(result.code == 2)
        #expect(result.errors.contains("argument 2 is not valid UTF-8"))
    }

    /// There is no way to write a secret on the command line or into the environment, and who tries does not get it
    /// echoed.
    @Test func secretsAreNotTakenFromTheCommandLine() throws {
        for option in CommandTable.program.options where option.kind != nil && option.kind != .descriptor {
            let names = [
                "home", "collection", "as", "last", "receipt", "key", "countdown", "idle", "timeout", "server",
                "authority", "keys", "key-service", "at", "app-key", "system-bus", "pam-folder", "to-collection",
                "length", "kinds", "words", "separator", "env", "env-file", "in", "out",
                // Of items: what is shown and searched, and the names of secrets that are then asked for.
                "kind", "username", "url", "text", "date", "secret", "attach", "tag", "field", "clear-after", "days",
                // Of an import: which file, and what is in its columns.
                "format", "prefix", "column", "key-file", "qr-image",
                // Of the sync: what the device is called.
                "name",
                // How many backups stay.
                "keep",
                // Of health: days, and a list of digests that are no secret.
                "old", "breached",
                // Of questions: the program that asks, and how long an answer holds.
                "pinentry", "for",
            ]
            #expect(names.contains(option.name), "what kind of text is --\(option.name)?")
        }
        let sandbox = try Sandbox()
        for words in [["get", "a", "--passcode=hunter2"], ["get", "a", "--phrase=hunter2"]] {
            let result = try sandbox.run(
                raw: words.map { Array($0.utf8) }, environment: ["HOLDFAST_PASSCODE": "hunter2", "PASSCODE": "hunter2"])
            #expect(result.code == 2)
            #expect(!result.errors.contains("hunter2"))
        }
    }

    @Test func usageErrorsAreObjectsToo() throws {
        let sandbox = try Sandbox()
        let result = try sandbox.run("status", "--json", "--nonsense")
        #expect(result.code == 2)
        #expect(try result.jsonError()["code"] as? String == "usage")
    }

    static let homes: [([String: String], String)] = [
        (["HOLDFAST_HOME": "/nowhere/a"], "/nowhere/a"),
        (["HOLDFAST_HOME": "", "XDG_DATA_HOME": "/nowhere/b"], "/nowhere/b/holdfast"),
        (["HOLDFAST_HOME": "", "XDG_DATA_HOME": "relative", "HOME": "/nowhere/c"], "/nowhere/c/.local/share/holdfast"),
        (["HOLDFAST_HOME": "", "HOME": "/nowhere/d"], "/nowhere/d/.local/share/holdfast"),
    ]

    @Test("home", arguments: homes)
    func isFound(_ environment: [String: String], _ path: String) throws {
        let sandbox = try Sandbox()
        let result = try sandbox.run("status", environment: environment)
        #expect(result.code == 6)
        #expect(result.errors.contains("there is no vault at \(path);"), "\(result.errors)")
        let named = try sandbox.run("--home", "/nowhere/e", "status", environment: environment)
        #expect(named.errors.contains("there is no vault at /nowhere/e;"))
    }
}
