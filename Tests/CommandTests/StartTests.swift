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

    @Test(arguments: ["libcrypto.so.3", "libargon2.so.1", "liblmdb.so.0"])
    func `a library that cannot be loaded ends the command, and there is no vault`(_ name: String) throws {
        let sandbox = try Sandbox()
        _ = try sandbox.file("no library".utf8, name)
        let broken = try sandbox.run(
            "init", "--phrase-out-fd=1", passcode: "correct horse battery staple",
            environment: ["LD_LIBRARY_PATH": sandbox.path])
        #expect(broken.code == 127)
        #expect(broken.errors.contains("error while loading \(name): "))
        #expect(try sandbox.run("status").code != 0)
        // What it left keeps nobody from making one.
        let made = try sandbox.run("init", "--phrase-out-fd=1", passcode: "correct horse battery staple")
        #expect(made.code == 0, "\(made.errors)")
    }

    @Test func `what needs no library works where none can be loaded`() throws {
        let sandbox = try Sandbox()
        for name in ["libcrypto.so.3", "libsodium.so.23", "libargon2.so.1", "liblmdb.so.0", "libtss2-esys.so.0"] {
            _ = try sandbox.file("no library".utf8, name)
        }
        for words in [["--version"], ["--help"], ["get", "--help"], ["completions", "bash"], ["lock"]] {
            let result = try sandbox.run(
                raw: words.map { Array($0.utf8) }, environment: ["LD_LIBRARY_PATH": sandbox.path])
            #expect(result.code == 0 && !result.errors.contains("error while loading"), "\(words): \(result.errors)")
        }
    }
}
