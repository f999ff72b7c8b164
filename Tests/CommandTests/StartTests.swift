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
