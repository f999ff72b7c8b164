import Foundation
import Testing

/// What a start of the command costs every day: which libraries it waits for.
@Suite struct StartTests {
    @Test func `a start loads no library that only some commands need`() throws {
        let sandbox = try Sandbox()
        // The loader lists what it would load, and starts nothing (ld.so(8)).
        let loaded = try sandbox.run("--version", environment: ["LD_TRACE_LOADED_OBJECTS": "1"]).text
        #expect(loaded.contains("libc.so"))
        for name in ["libcrypto", "libsodium", "libargon2", "liblmdb", "libtss2"] {
            #expect(!loaded.contains(name), "\(name) is loaded at each start: \(loaded)")
        }
    }

    @Test func `a library that cannot be loaded ends the command, and there is no vault`() throws {
        let sandbox = try Sandbox()
        _ = try sandbox.file("no library".utf8, "libcrypto.so.3")
        let broken = try sandbox.run(
            "init", "--phrase-out-fd=1", passcode: "correct horse battery staple",
            environment: ["LD_LIBRARY_PATH": sandbox.path])
        #expect(broken.code == 127)
        #expect(broken.errors.contains("error while loading libcrypto.so.3: "))
        #expect(try sandbox.run("status").code != 0)
        // What it left keeps nobody from making one.
        let made = try sandbox.run("init", "--phrase-out-fd=1", passcode: "correct horse battery staple")
        #expect(made.code == 0, "\(made.errors)")
    }

    @Test(arguments: [["libsodium.so.23", "libsodium.so.26"], ["libtss2-esys.so.0"]])
    func `a library that cannot be loaded spends no attempt`(_ names: [String]) throws {
        let sandbox = try Sandbox(prepared: true)
        for name in names { _ = try sandbox.file("no library".utf8, name) }
        let before = try sandbox.bytes("home/ledger")
        let broken = try sandbox.run(
            "list", passcode: Prepared.passcode, environment: ["LD_LIBRARY_PATH": sandbox.path])
        #expect(broken.code == 127, "\(broken.errors)")
        #expect(try sandbox.bytes("home/ledger") == before)
    }

    @Test(arguments: [["agent"], ["credentials", "serve"], ["unlock"]])
    func `what serves does not start without a library that it may need`(_ words: [String]) throws {
        let sandbox = try AgentSandbox()
        _ = try sandbox.sandbox.file("no library".utf8, "libtss2-rc.so.0")
        let before = try sandbox.bytes("home/ledger")
        let broken = try sandbox.run(
            raw: words.map { Array($0.utf8) }, passcode: words == ["unlock"] ? Prepared.passcode : nil,
            environment: ["LD_LIBRARY_PATH": sandbox.path])
        #expect(
            broken.code == 127 && broken.errors.contains("error while loading libtss2-rc.so.0: "), "\(broken.errors)")
        #expect(try sandbox.agent() == nil)
        #expect(try sandbox.bytes("home/ledger") == before)
    }

    @Test func `a library that lacks a function is an error that names it`() throws {
        let sandbox = try AgentSandbox()
        try sandbox.placeStranger("libtss2-rc.so.0")
        let broken = try sandbox.run("agent", environment: ["LD_LIBRARY_PATH": sandbox.path])
        #expect(broken.code == 127, "\(broken.errors)")
        #expect(broken.errors.contains("error while loading libtss2-rc.so.0: "))
        #expect(broken.errors.contains("Tss2_RC_Decode"))
    }

    @Test func `a library that was loaded is not looked for again`() throws {
        let sandbox = try AgentSandbox()
        // LMDB is found by another of its names, until a file with the first one can be loaded. It calls itself
        // otherwise, or the loader itself would see that it is there.
        _ = try sandbox.sandbox.file("no library".utf8, "liblmdb.so.0")
        let folders = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"]
        let path = try #require(
            folders.map { $0 + "/liblmdb.so.0" }.first { FileManager.default.fileExists(atPath: $0) })
        var library = try Data(contentsOf: URL(fileURLWithPath: path))
        let name = try #require(library.range(of: Data("liblmdb.so".utf8)))
        library.replaceSubrange(name, with: Data("liblmdb.no".utf8))
        _ = try sandbox.sandbox.file(library, "liblmdb.so.0.0.0")
        let opened = try sandbox.run(
            "unlock", passcode: Prepared.passcode, environment: ["LD_LIBRARY_PATH": sandbox.path])
        #expect(opened.code == 0, "\(opened.errors)")
        let agent = try #require(try sandbox.agent()?["process"] as? Int)
        try sandbox.placeStranger("liblmdb.so.0")
        #expect(try sandbox.run("lock").code == 0)
        let again = try sandbox.run("unlock", passcode: Prepared.passcode)
        #expect(again.code == 0, "\(again.errors)")
        #expect(try sandbox.run("get", "greeting").text == Prepared.greeting)
        #expect(try sandbox.agent()?["process"] as? Int == agent)
    }

    @Test func `without a library nothing of a vault is changed, and no file is left`() throws {
        let sandbox = try Sandbox(prepared: true)
        _ = try sandbox.file("no library".utf8, "libtss2-rc.so.0")
        let without = ["LD_LIBRARY_PATH": sandbox.path]
        let before = try (sandbox.bytes("home/header"), sandbox.bytes("home/ledger"))
        let recovered = try sandbox.run(
            "recover", "--phrase-fd=3", "--passcode-fd=4",
            descriptors: [3: sandbox.lines(Prepared.shared().phrase), 4: sandbox.lines("another one")],
            environment: without)
        #expect(recovered.code == 127, "\(recovered.errors)")
        let copy = sandbox.path + "/copy"
        let wiped = try sandbox.run(
            "wipe", "--yes", "--receipt", copy, passcode: Prepared.passcode, environment: without)
        #expect(wiped.code == 127, "\(wiped.errors)")
        #expect(!FileManager.default.fileExists(atPath: copy))
        #expect(try before == (sandbox.bytes("home/header"), sandbox.bytes("home/ledger")))
    }

    @Test(arguments: [["list"], ["unlock"]])
    func `without a library the terminal shows what is typed`(_ words: [String]) throws {
        let stage = try AgentSandbox()
        _ = try stage.sandbox.file("no library".utf8, "libtss2-rc.so.0")
        let terminal = try PseudoTerminal()
        let child = try stage.sandbox.start(
            words, on: terminal,
            environment: ["XDG_RUNTIME_DIR": stage.runtime, "LD_LIBRARY_PATH": stage.sandbox.path])
        try terminal.wait(for: "error while loading libtss2-rc.so.0")
        #expect(child.wait() == 127)
        #expect(terminal.echoes)
    }

    @Test func `without a library no text is left by an editor`() throws {
        let stage = try AgentSandbox()
        #expect(try stage.run("unlock", passcode: Prepared.passcode).code == 0)
        _ = try stage.sandbox.file("no library".utf8, "libtss2-rc.so.0")
        let edited = stage.sandbox.path + "/edited"
        let result = try stage.run(
            "edit", "greeting",
            environment: ["LD_LIBRARY_PATH": stage.sandbox.path, "VISUAL": "", "EDITOR": "touch \(edited);"])
        #expect(result.code == 127, "\(result.errors)")
        #expect(!FileManager.default.fileExists(atPath: edited))
    }

    @Test func `a value comes from the agent without a library`() throws {
        let sandbox = try AgentSandbox()
        #expect(try sandbox.run("unlock", passcode: Prepared.passcode).code == 0)
        for name in ["libcrypto.so.3", "libsodium.so.23", "libargon2.so.1", "liblmdb.so.0", "libtss2-esys.so.0"] {
            _ = try sandbox.sandbox.file("no library".utf8, name)
        }
        let value = try sandbox.run("get", "greeting", environment: ["LD_LIBRARY_PATH": sandbox.sandbox.path])
        #expect(value.text == Prepared.greeting, "\(value.errors)")
    }

    @Test func `what needs no library works where none can be loaded`() throws {
        let sandbox = try Sandbox()
        for name in ["libcrypto.so.3", "libsodium.so.23", "libargon2.so.1", "liblmdb.so.0", "libtss2-esys.so.0"] {
            _ = try sandbox.file("no library".utf8, name)
        }
        for words in [["--version"], ["--help"], ["get", "--help"], ["completions", "bash"]] {
            let result = try sandbox.run(
                raw: words.map { Array($0.utf8) }, environment: ["LD_LIBRARY_PATH": sandbox.path])
            #expect(result.code == 0 && !result.errors.contains("error while loading"), "\(words): \(result.errors)")
        }
    }
}

extension AgentSandbox {
    /// Puts a library that has other functions where one of this name is looked for.
    fileprivate func placeStranger(_ name: String) throws {
        let loaded = try run("--version", environment: ["LD_TRACE_LOADED_OBJECTS": "1"]).text
        let line = try #require(loaded.split(separator: "\n").first { $0.contains("libz.so.1 => ") }, "\(loaded)")
        let library = String(line.split(separator: " ")[2])
        _ = try sandbox.file(Data(contentsOf: URL(fileURLWithPath: library)), name)
    }
}
