import Foundation
import Synchronization

/// PostgreSQL in a folder of its own, reached through a socket in it, ended by its process id.
package final class PostgresServer: Sendable {
    package let folder: String
    private let programs: String
    private let running = Mutex<Spawned?>(nil)
    private let started: Started

    package init() throws {
        guard let found = PostgresServer.found else { throw Missing(description: "PostgreSQL is not installed") }
        programs = found
        folder = try OrdinaryUser.makeFolder("postgres")
        started = Started(in: folder, endingWith: SIGINT)
        let made = try Spawned(
            OrdinaryUser.words + [
                "\(programs)/initdb", "-D", folder + "/data", "-U", "holdfast", "-A", "trust", "--no-sync", "-E",
                "UTF8",
                "--locale=C",
            ]
        ).wait()
        guard made == 0 else { throw Missing(description: "initdb failed") }
        try start()
    }

    deinit { started.end() }

    package struct Missing: Error, CustomStringConvertible {
        package let description: String
    }

    private static let found: String? = ["18", "17", "16", "15", "14"].lazy.map { "/usr/lib/postgresql/\($0)/bin" }
        .first { FileManager.default.isExecutableFile(atPath: $0 + "/postgres") }

    /// As libpq takes it.
    package var url: String { url(of: "postgres") }

    /// The URL of one of its databases, for a user of its own.
    package func url(of database: String, user: String = "holdfast") -> String {
        "postgresql://\(user)@/\(database)?host=\(folder)"
    }

    /// Makes a database that no other test uses.
    package func makeDatabase() throws -> String {
        let name = "test_" + UUID().uuidString.prefix(8).lowercased()
        try run("CREATE DATABASE \(name)", in: "postgres")
        return name
    }

    /// Runs statements as the administrator.
    package func run(_ statements: String, in database: String) throws {
        let status = try Spawned([
            "\(programs)/psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", url(of: database), "-c", statements,
        ]).wait()
        guard status == 0 else { throw Missing(description: "psql refuses: \(statements)") }
    }

    /// Runs one of PostgreSQL's programs, such as `pg_dump`.
    package func program(_ name: String, _ arguments: String...) throws {
        let status = try Spawned(["\(programs)/\(name)"] + arguments).wait()
        guard status == 0 else { throw Missing(description: "\(name) fails with \(status)") }
    }

    package func start() throws {
        let child = try Spawned(
            OrdinaryUser.words + [
                "\(programs)/postgres", "-D", folder + "/data", "-c", "listen_addresses=", "-k", folder,
                // Below its folder, and so gone with it, also where it is killed.
                "-c", "dynamic_shared_memory_type=mmap", "-c",
                "max_connections=300",
            ])
        started.add(child)
        running.withLock { $0 = child }
        // The socket is there before connections are served; a ping tells.
        while child.isRunning {
            if try Spawned(["\(programs)/pg_isready", "-q", "-h", folder]).wait() == 0 { return }
            usleep(10_000)
        }
        throw Missing(description: "PostgreSQL ended at its start")
    }

    /// - Parameter signal: SIGINT ends connections and stops; SIGKILL is a crash.
    package func stop(_ signal: Int32 = SIGINT) {
        running.withLock { child in
            child?.end(signal)
            child = nil
        }
    }

    package func restart(_ signal: Int32 = SIGINT) throws {
        stop(signal)
        // After a crash its children go a moment later, and a new server waits for that.
        for attempt in 0..<3000 {
            do {
                return try start()
            } catch {
                guard attempt < 2999 else { throw error }
                usleep(20_000)
            }
        }
    }
}
