import BetterAuthHTTP
import Foundation
import RealParts
import TestSupport
import Testing

/// A server that is replaced while clients ask. This test is the service manager: it holds the socket.
@Suite struct UpgradeTests {
    /// Socket activation as sd_listen_fds(3) has it: the number of the process is known only to itself.
    static let activation = [
        "sh", "-c", "LISTEN_PID=$$ LISTEN_FDS=1 exec \"$0\" \"$@\"",
    ]

    @Test func `no request is lost while a server is restarted on the socket that it was passed`() throws {
        let fixture = try StoreFixture(.memory)
        let listener = try HTTPListener("127.0.0.1:0")
        let address = listener.address
        let arguments =
            [
                "serve", "--listen", "systemd", "--database", fixture.path, "--log", "warning",
            ] + ServerProcess.unlimited
        func start() throws -> ServerProcess {
            try ServerProcess(
                arguments, folder: fixture.folder, before: UpgradeTests.activation, passing: listener.passable)
        }
        var server = try start()
        #expect(server.address == address)
        let load = UpgradeLoad(address)
        for _ in 0..<TestRun.count(test: 3, check: 10, soak: 100) {
            try load.across {
                server.process.signal(SIGTERM)
                #expect(server.process.wait() == 0, "\(server.log)")
                server = try start()
            }
            load.waitForMore(20)
        }
        #expect(load.end() == [])
        server.process.end(SIGTERM)
        try load.expectAccounts(in: fixture.path, fixture.folder)
    }

    @Test func `two processes share a port only when both say so`() throws {
        let fixture = try StoreFixture(.memory)
        func serve(_ address: String, _ more: String...) -> [String] {
            ["serve", "--listen", address, "--database", freshDatabase(in: fixture.folder)] + more
        }
        let first = try ServerProcess(serve("127.0.0.1:0", "--share-port"), folder: fixture.folder)
        let refused = try runServerCommand(serve(first.address), fixture.folder)
        #expect(refused.status == 1 && refused.output.contains("in use"), "\(refused.output)")
        let second = try ServerProcess(serve(first.address, "--share-port"), folder: fixture.folder)
        first.process.end(SIGTERM)
        for _ in 0..<10 { #expect(try HTTPClient(second.address).get("/health").status == 200) }
    }

    @Test func `a port that is bound and not served yet is nobody else's`() throws {
        let waiting = try HTTPListener("127.0.0.1:0", sharesPort: true)
        #expect(throws: HTTPError.self) { _ = try HTTPListener(waiting.address) }
        let other = try HTTPListener(waiting.address, sharesPort: true)
        try waiting.begin()
        try other.begin()
        #expect(throws: HTTPError.self) { _ = try HTTPListener(waiting.address) }
    }

    @Test func `who takes over a port has no connection before it can serve`() throws {
        let fixture = try StoreFixture(.memory)
        let server = try ServerProcess(freshServer(in: fixture.folder) + ["--share-port"], folder: fixture.folder)
        // It is held while it waits for its database, which is this test.
        let database = try HTTPListener("127.0.0.1:0")
        let next = try Spawned([
            ServerProcess.program, "serve", "--listen", server.address, "--share-port", "--database",
            "postgres://nobody@\(database.address)/none", "--redis", "redis://\(database.address)", "--keys-file",
            fixture.folder + "/keys",
        ])
        var asked = pollfd(fd: database.passable, events: Int16(POLLIN), revents: 0)
        try #require(unsafe poll(&asked, 1, Patience.milliseconds) == 1)
        next.signal(SIGSTOP)
        for _ in 0..<20 { #expect(try HTTPClient(server.address).get("/health").status == 200) }
        next.end(SIGKILL)
        for _ in 0..<20 { #expect(try HTTPClient(server.address).get("/health").status == 200) }
    }

    @Test func `without a passed socket nothing is served`() throws {
        let fixture = try StoreFixture(.memory)
        let words = ["serve", "--listen", "systemd", "--database", fixture.path]
        for (environment, part) in [
            ([:], "no socket was passed"), (["LISTEN_PID": "1", "LISTEN_FDS": "1"], "no socket was passed"),
        ] as [([String: String], String)] {
            let result = try runServerCommand(words, fixture.folder, environment)
            #expect(result.status == 2 && result.output.contains(part), "\(result.output)")
        }
        let many = try runServerCommand(
            words, fixture.folder, before: ["sh", "-c", "LISTEN_PID=$$ LISTEN_FDS=2 exec \"$0\" \"$@\""])
        #expect(many.status == 2 && many.output.contains("2 were passed"), "\(many.output)")
        let none = try runServerCommand(words, fixture.folder, before: UpgradeTests.activation)
        #expect(none.status != 0 && none.output.contains("the socket that was passed"), "\(none.output)")
        #expect(!FileManager.default.fileExists(atPath: fixture.path))
    }
}
