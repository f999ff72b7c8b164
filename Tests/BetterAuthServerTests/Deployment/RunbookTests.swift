import BetterAuthMessages
import CommandLineArguments
import Foundation
import RealParts
import TestSupport
import Testing

@testable import BetterAuthServer
@testable import HoldfastServer

/// The commands of the documents that operators work with, run as they are printed.
@Suite struct RunbookTests {
    private let fixture: StoreFixture
    private var folder: String { fixture.folder }

    init() throws { fixture = try StoreFixture(.memory) }

    private static let blocks = Result {
        try ["server.md", "operations.md"].flatMap { try DocumentBlock.all(in: $0) }
    }

    @Test func `the documents have blocks`() throws { #expect(try Self.blocks.get().count > 6) }

    /// Each of them has its scene below; a new one is named here until it has one too.
    @Test(arguments: (try? blocks.get()) ?? [])
    func `every block is run as it is printed`(_ block: DocumentBlock) throws {
        switch (block.document, block.heading, block.number) {
        case ("server.md", "The identity server", 1): try serves(block)
        case ("server.md", "A key chain", 1): try keepsAChain(block)
        // With the chain of the block before.
        case ("server.md", "A key chain", 2): try keepsAChain(.named("A key chain", in: "server.md"), then: block)
        case ("operations.md", "1. The first day", 1): try tellsMistakes(block)
        case ("operations.md", "1. The first day", 2): try beginsOnPostgres(block)
        case ("operations.md", "6. Drills", 1): try restores(block)
        case ("operations.md", "6. Drills", 2): try restoresPostgres(block)
        case ("operations.md", "6. Drills", 3): try heals(block)
        case ("operations.md", "7. Reload, stop, upgrade", 1): try goesBack(block)
        case ("operations.md", "9. Audit log", 1): try writesLine(block)
        case ("operations.md", "9. Audit log", 2): try provesLog(block)
        default: Issue.record("no test runs the block \(block): \(block.text)")
        }
    }

    /// What the documents call elsewhere in their text is there: commands, with options that are theirs.
    @Test(arguments: ["server.md", "operations.md"])
    func `every command and every option in the text exists`(_ document: String) throws {
        let program = ServerTable.program
        let text = try DocumentBlock.text(of: document).replacing(/```\n[^`]+```/, with: "")
        var count = 0
        for match in text.matches(of: /`([^`]+)`/) {
            let words = match.output.1.split(whereSeparator: \.isWhitespace).map(String.init)
            let isNamed = words[0] == "holdfast-server"
            let own = Array(isNamed ? words[1...] : words[...])
            let command = [2, 1].lazy.compactMap { program.command(Array(own.prefix($0))) }.first
            if isNamed {
                let isKnown = command != nil || !program.group(Array(own.prefix(1))).isEmpty
                #expect(isKnown, "\(match.output.1)")
            }
            let options = (command?.syntax.options ?? program.options).map(\.spelled)
            for word in own where word.hasPrefix("--") {
                let isKnown = options.contains(String(word.prefix { $0 != "=" }))
                #expect(isKnown, "\(match.output.1)")
                count += 1
            }
        }
        #expect(count > 10)
    }

    // MARK: - Scenes

    private var shell: DocumentShell {
        var shell = DocumentShell(folder)
        shell.table = [("127.0.0.1:8080", "127.0.0.1:0")]
        return shell
    }

    private func device(_ server: ServerProcess) throws -> TestDevice {
        try TestDevice.registered(over: HTTPClient(server.address))
    }

    private func serves(_ block: DocumentBlock) throws {
        let commands = block.commands
        try #require(commands.count == 2)
        let server = try shell.start(commands[0])
        _ = try device(server)
        // The line that it prints.
        let printed = try #require(commands[1].wholeMatch(of: /ready http:\/\/127.0.0.1:8080 (1AAI)[A-Z]…/)).output.1
        #expect(server.key.hasPrefix(printed) && server.scheme == "http")
    }

    /// What is printed there is what `check-config` says of such a file.
    private func tellsMistakes(_ block: DocumentBlock) throws {
        var lines = Array(repeating: "", count: 9)
        lines[0] = "listen = 127.0.0.1:8080"
        lines[1] = "database = accounts.db"
        lines[3] = "trusted-proxy = 10.0.0.0/33"
        lines[8] = "audit-log = /srv/audit/log"
        try (lines.joined(separator: "\n") + "\n").write(
            toFile: folder + "/server.conf", atomically: true, encoding: .utf8)
        let said = try runServerCommand(
            ["check-config", "server.conf"], folder, ["HOLDFAST_SERVER_LOG": "loud"],
            before: ["sh", "-c", "cd \(folder) && exec \"$0\" \"$@\""])
        #expect(said.status == 2 && said.output == block.text + "\n", "\(said.output)")
    }

    private func keepsAChain(_ block: DocumentBlock, then order: DocumentBlock? = nil) throws {
        let redis = try RedisServer()
        var shell = shell
        let commands = block.commands
        try #require(commands.count == 6)
        try shell.run(commands[0])
        let said = try shell.run(commands[1])
        let identity = try #require(said.firstMatch(of: /E[A-Za-z0-9_-]{43}/)?.output)
        shell.table = [
            ("IDENTITY", String(identity)), ("0.0.0.0:", "127.0.0.1:"), ("redis://127.0.0.1", redis.location),
            ("…", "--listen 127.0.0.1:0 --database \(fixture.path)"),
        ]
        var processes: [ServerProcess] = []
        for command in commands.dropFirst(2) {
            // Its own place is a free port, and what comes later is told which.
            let listen = command.firstMatch(of: /--listen (127|0)\.0\.0\.[01]:([0-9]+)/)?.output.2
            var own = shell
            if let listen { own.table.append(("--listen 127.0.0.1:\(listen)", "--listen 127.0.0.1:0")) }
            let process = try own.start(command)
            processes.append(process)
            if let listen { shell.table.append(("127.0.0.1:\(listen)", process.address)) }
        }
        for process in processes { try process.waitUntilReady(says: "ready\n") }
        let client = try HTTPClient(processes[2].address)
        let session = try TestSession.opened(TestDevice.registered(over: client), over: client)
        let access = try accessRequest(session, #"{"foo":1,"bar":2}"#, now: SystemClock().now)
        #expect(try HTTPClient(processes[3].address).post("/foo/bar", access.bytes).status == 200)
        guard let order else { return }
        try #require(order.commands.count == 1)
        #expect(try shell.run(order.commands[0]).contains("generation 1\n"))
        // Again it does nothing.
        #expect(try !shell.run(order.commands[0]).contains("generation "))
    }

    private func beginsOnPostgres(_ block: DocumentBlock) throws {
        let pair = (postgres: try PostgresServer(), redis: try RedisServer())
        let database = try pair.postgres.makeDatabase()
        try pair.postgres.run("CREATE ROLE operated LOGIN", in: database)
        try writeSecret(pair.postgres.url(of: database), to: folder + "/owner.url")
        try writeSecret(pair.postgres.url(of: database, user: "operated"), to: folder + "/server.url")
        try writeSecret(pair.redis.location, to: folder + "/redis.url")
        var shell = shell
        shell.table += [
            ("/etc/holdfast", folder), ("/var/lib/holdfast-server", folder), ("TO holdfast'", "TO operated'"),
        ]
        shell.environment = ["PGHOST": pair.postgres.folder, "PGUSER": "holdfast", "PGDATABASE": database]
        let commands = block.commands
        try #require(commands.count == 3)
        for command in commands.dropLast() { try shell.run(command) }
        let server = try shell.start(commands[2])
        try server.waitUntilReady(says: "ready\n")
        let client = try HTTPClient(server.address)
        let device = try TestDevice.registered(over: client)
        #expect(try client.post("/device/rotate", device.rotation().0.bytes).status == 200)
        server.process.end(SIGTERM)
    }

    /// With the files moved away in between, as the text says.
    private func restores(_ block: DocumentBlock) throws {
        let serving = "holdfast-server serve --listen 127.0.0.1:8080 --database accounts.db"
        let server = try shell.start(serving)
        let device = try device(server)
        let commands = block.commands
        try #require(commands.count == 2)
        try shell.run(commands[0])
        server.process.end(SIGTERM)
        #expect(throws: HTTPClient.Problem.self) { try shell.run(commands[1]) }
        try shell.run("mkdir away && mv accounts.db* away")
        try shell.run(commands[1])
        let again = try shell.start(serving)
        #expect(again.key == server.key)
        #expect(try HTTPClient(again.address).post("/device/rotate", device.rotation().0.bytes).status == 200)
    }

    /// From a version that is made up; the server was killed, so that its log lies beside the file.
    private func goesBack(_ block: DocumentBlock) throws {
        let serving = "holdfast-server serve --listen 127.0.0.1:8080 --database accounts.db"
        let server = try shell.start(serving)
        let device = try device(server)
        server.process.end(SIGKILL)
        try shell.run("\(KillLog.subject) raise accounts.db")
        let late = try SQLiteConnection(fixture.path, isWriter: true, cache: 64)
        try late.execute("DELETE FROM accounts")
        #expect(throws: HTTPClient.Problem.self) { try shell.start(serving) }
        try shell.run("cp accounts.db-wal log && test -s log")
        let rotated = try runServerCommand(
            ["rotate-keys", "--keys-file", fixture.path + ".keys", "--publish-seconds", "0"], folder)
        #expect(rotated.status == 0, "\(rotated.output)")
        for command in block.commands {
            try shell.run(command.replacing("version-4", with: "version-\(SQLiteSchema.current.version)"))
        }
        let again = try shell.start(serving)
        #expect(again.key != server.key)
        #expect(try HTTPClient(again.address).post("/device/rotate", device.rotation().0.bytes).status == 200)
        again.process.end(SIGTERM)
        withExtendedLifetime(late) {}
    }

    private func restoresPostgres(_ block: DocumentBlock) throws {
        let pair = (postgres: try PostgresServer(), redis: try RedisServer())
        let (old, new) = (try pair.postgres.makeDatabase(), try pair.postgres.makeDatabase())
        var shell = shell
        shell.environment = ["URL": pair.postgres.url(of: old), "NEW_URL": pair.postgres.url(of: new)]
        try shell.run("holdfast-server migrate --database \(pair.postgres.url(of: old))")
        func start(_ database: String) throws -> ServerProcess {
            try shell.start(
                "holdfast-server serve --listen 127.0.0.1:8080 --database \"$\(database)\" --redis "
                    + "\(pair.redis.location) --keys-file keys")
        }
        let server = try start("URL")
        let device = try device(server)
        let commands = block.commands
        try #require(commands.count == 2)
        try shell.run(commands[0])
        server.process.end(SIGTERM)
        try shell.run(commands[1])
        let again = try start("NEW_URL")
        try again.waitUntilReady(says: "ready\n")
        #expect(try HTTPClient(again.address).post("/device/rotate", device.rotation().0.bytes).status == 200)
        again.process.end(SIGTERM)
    }

    /// An account whose sessions were ended by a clock that is ahead, which only libfaketime makes.
    private func heals(_ block: DocumentBlock) throws {
        let configuration = folder + "/server.conf"
        try "listen = 127.0.0.1:0\ndatabase = \(fixture.path)\nadmin-socket = \(folder)/admin.sock\n".write(
            toFile: configuration, atomically: true, encoding: .utf8)
        let serving = "holdfast-server serve --config \(configuration)"
        let (first, commands) = (try shell.start(serving), block.commands)
        try #require(commands.count == 2)
        let device = try device(first)
        first.process.end(SIGTERM)
        var shell = shell
        shell.table = [("/etc/holdfast-server/server.conf", configuration), ("IDENTITY", device.identity.description)]
        if OtherClock.isThere {
            let ahead = try ServerProcess(
                ["serve", "--config", configuration], folder: folder,
                environment: OtherClock.environment(365 * 86_400), before: OtherClock.words)
            try shell.run("holdfast-server accounts end-sessions IDENTITY --config \(configuration)")
            ahead.process.end(SIGTERM)
        }
        let server = try shell.start(serving)
        let client = try HTTPClient(server.address)
        func refreshes() throws -> Bool {
            let session = try TestSession.opened(device, over: client)
            return try client.post("/session/refresh", session.refreshing().0.bytes).status == 200
        }
        #expect(try refreshes() != OtherClock.isThere)
        #expect(try shell.run(commands[0]).contains(device.identity.description) == OtherClock.isThere)
        let plain = try shell.run("holdfast-server accounts end-sessions IDENTITY --config \(configuration)")
        #expect(plain.contains("The clock was wrong in operations.md") == OtherClock.isThere)
        #expect(try !shell.run(commands[1]).contains("warning"))
        #expect(try shell.run(commands[0]) == "accounts: []\n" && refreshes())
        server.process.end(SIGTERM)
    }

    /// A server with an account, and its audit log.
    private func log() throws -> (ServerProcess, String) {
        let server = try shell.start(
            "holdfast-server serve --listen 127.0.0.1:8080 --database accounts.db --audit-log audit.log")
        let client = try HTTPClient(server.address)
        let device = try TestDevice.registered(over: client)
        #expect(try client.post("/device/rotate", device.rotation().0.bytes).status == 200)
        return (server, folder + "/audit.log")
    }

    /// The line of the documents has the members of a real one, in their order.
    private func writesLine(_ block: DocumentBlock) throws {
        let (server, path) = try log()
        server.process.end(SIGTERM)
        func members(_ line: some StringProtocol) -> [String] {
            String(line).matches(of: /"([a-z]+)":/).map { String($0.output.1) }
        }
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        let real = try #require(lines.first { $0.contains(#""operation":"rotate""#) })
        #expect(members(block.text) == members(real) && block.commands.count == 1)
        #expect(try JSONSerialization.jsonObject(with: Data(block.text.utf8)) is [String: Any])
    }

    private func provesLog(_ block: DocumentBlock) throws {
        let (server, _) = try log()
        try #require(block.commands.count == 1)
        #expect(try shell.run(block.commands[0]).contains("has no end"))
        server.process.end(SIGTERM)
        #expect(try shell.run(block.commands[0]).hasSuffix(" 0 faults\n"))
    }
}
