import BetterAuthServer
import Foundation
import MemoryServerStore
import RealParts
import SystemCalls
import TestSupport
import Testing

@testable import BetterAuthHTTP
@testable import HoldfastServer

/// Which server has the admin socket's name, when servers come and go.
@Suite struct AdminSocketTests {
    private let fixture: StoreFixture
    private var folder: String { fixture.folder }
    private var socket: String { folder + "/admin.sock" }

    init() throws { fixture = try StoreFixture(.memory) }

    private func office(_ store: any ServerStore) -> AdminServer {
        AdminServer(socket, AccountAdministration(store, Lifetimes()), ServerLog(.error))
    }

    /// What is answered to a line; a store with accounts is told from one without.
    private func count() throws -> String { try AdminSocket.ask(socket, "count") }

    private static func words(_ pair: DatabasePair, _ database: String, _ keys: String, _ socket: String) -> [String] {
        [
            "serve", "--listen", "127.0.0.1:0", "--share-port", "--database", pair.postgres.url(of: database),
            "--redis", pair.redis.location, "--keys-file", keys, "--admin-socket", socket, "--log", "notice",
        ]
    }

    @Test(arguments: [SIGTERM, SIGKILL])
    func `a name that was taken over comes back when the successor ends`(_ signal: Int32) throws {
        let pair = try DatabasePair.shared()
        let database = try pair.postgres.makeDatabase()
        let url = pair.postgres.url(of: database)
        #expect(try runServerCommand(["migrate", "--database", url], folder).status == 0)
        let words = Self.words(pair, database, folder + "/keys", socket)
        let first = try ServerProcess(words, folder: folder)
        func expectAnswer() throws {
            let answer = try runServerCommand(["accounts", "count", "--admin-socket", socket, "--json"], folder)
            #expect(answer.status == 0 && answer.output.contains(#""open":0"#), "\(answer.output)")
        }
        for _ in 0..<2 {
            let second = try ServerProcess(words, folder: folder)
            try expectAnswer()
            second.process.end(signal)
            #expect(Patience.wait { LocalSocket.isServed(socket) })
            try expectAnswer()
        }
        first.process.end(SIGTERM)
        #expect(!FileManager.default.fileExists(atPath: socket))
    }

    /// Also one that a dump of the other one was put into.
    @Test func `a server of another database takes no name over, and makes nothing`() throws {
        let pair = try DatabasePair.shared()
        let databases = try (0..<2).map { _ in try pair.postgres.makeDatabase() }
        let (dump, url) = (folder + "/dump", pair.postgres.url(of: databases[0]))
        #expect(try runServerCommand(["migrate", "--database", url], folder).status == 0)
        let first = try ServerProcess(Self.words(pair, databases[0], folder + "/keys", socket), folder: folder)
        // With what a takeover before has left there.
        let second = try ServerProcess(Self.words(pair, databases[0], folder + "/keys", socket), folder: folder)
        try pair.postgres.program("pg_dump", "-Fc", "-f", dump, url)
        try pair.postgres.program("pg_restore", "-d", pair.postgres.url(of: databases[1]), dump)
        let made = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        let words = Self.words(pair, databases[1], folder + "/other-keys", socket)
        let other = try runServerCommand(words, folder)
        #expect(other.status == 1 && other.output.contains("another server listens there"), "\(other.output)")
        // Nor does one with a file, which no other process can have.
        let file = freshServer(in: folder) + ["--share-port", "--admin-socket", socket]
        #expect(try runServerCommand(file, folder).output.contains("another server listens there"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == made)
        #expect(try AdminSocket.ask(socket, "count").contains(#""open":0"#))
        [second, first].forEach { $0.process.end(SIGTERM) }
    }

    @Test func `a server that runs keeps its name, and takes none that another one serves`() throws {
        let (first, second) = (office(fixture.store), office(fixture.store))
        defer { [first, second].forEach { $0.close() } }
        // Of one that is not open there is no name to keep.
        try first.keepName()
        #expect(!LocalSocket.isServed(socket))
        try first.open(replaces: false)
        for _ in 0..<2 {
            #expect(unsafe unlink(socket) == 0)
            try first.keepName()
            #expect(try count().contains(#""open":0"#))
        }
        #expect(throws: AdminSocket.Failure.self) { try second.open(replaces: false) }
        try second.open(replaces: true)
        func place() throws -> Int {
            try #require(
                try FileManager.default.attributesOfItem(atPath: socket)[.systemFileNumber] as? NSNumber
            ).intValue
        }
        let taken = try place()
        try first.keepName()
        #expect(try place() == taken)
        second.close()
        #expect(!FileManager.default.fileExists(atPath: socket))
        try first.keepName()
        #expect(try count().contains(#""open":0"#))
        // What is no socket is not replaced, and one that has ended wants no name.
        #expect(unsafe unlink(socket) == 0)
        try "mine".write(toFile: socket, atomically: true, encoding: .utf8)
        #expect(throws: AdminSocket.Failure.self) { try first.keepName() }
        #expect(try String(contentsOfFile: socket, encoding: .utf8) == "mine")
        try FileManager.default.removeItem(atPath: socket)
        first.close()
        try first.keepName()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.contains(".sock") } == [])
    }

    @Test func `a name is not taken over from what does not say that it has the same database`() throws {
        let (first, second) = (office(MemoryStore()), office(fixture.store))
        defer { [first, second].forEach { $0.close() } }
        try first.open(replaces: false)
        #expect(throws: AdminSocket.Failure.self) { try second.open(replaces: true) }
        #expect(try count().contains(#""open":0"#))
        // Nor one to which nothing was left at all, as there is before the first takeover.
        #expect(try AdminSocket.ask(socket, "serves ") == DatabaseWord.notFound)
        #expect(try AdminSocket.ask(socket, "serves 1") == DatabaseWord.notFound)
    }

    @Test func `of servers that replace one at one time each gets the name, and the last keeps it`() throws {
        let servers = (0..<9).map { _ in office(fixture.store) }
        defer { servers.forEach { $0.close() } }
        try servers[0].open(replaces: false)
        let done = Monitor<[Bool]>([])
        for server in servers.dropFirst() {
            Thread {
                let isOpen = (try? server.open(replaces: true)) != nil
                done.withLock { $0.append(isOpen) }
                done.wakeAll()
            }.start()
        }
        #expect(done.withLock(when: { $0.count == 8 }, { $0 }) == Array(repeating: true, count: 8))
        #expect(try count().contains(#""open":0"#))
    }

    /// A server that accepts nobody has its name still, and holds up none that starts or stops in the same folder.
    @Test func `a full queue is somebody's, and nobody waits for it`() throws {
        let number = try LocalSocket.listen(socket, backlog: 0)
        defer { close(number) }
        var waiting: [Int32] = []
        defer { waiting.forEach { close($0) } }
        while true {
            let client = SystemCalls.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            LocalSocket.setNonBlocking(client)
            waiting.append(client)
            guard try connects(client) else { break }
        }
        let began = MonotonicClock.seconds
        #expect(LocalSocket.isServed(socket))
        #expect(throws: AdminSocket.Failure.self) { _ = try AdminSocket.listen(socket) }
        // Far from the half minute for which an operator's command waits.
        #expect(MonotonicClock.seconds - began < 20)
    }

    private func connects(_ client: Int32) throws -> Bool {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: socket.utf8) }
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(client, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
    }
}
