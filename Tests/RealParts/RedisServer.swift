import Foundation
import Synchronization

/// Redis in a folder of its own, which writes everything down before it answers, reached through a socket.
package final class RedisServer: Sendable {
    package let folder: String
    private let running = Mutex<Spawned?>(nil)
    private let started: Started
    private let writesDown: Bool

    /// - Parameter writesDown: Whether it has an append-only file.
    package init(writesDown: Bool = true) throws {
        self.writesDown = writesDown
        folder = try OrdinaryUser.makeFolder("redis")
        started = Started(in: folder)
        try start()
    }

    deinit { started.end() }

    package var location: String { "unix:\(folder)/redis.sock" }

    package func start() throws {
        let child = try Spawned(
            OrdinaryUser.words + [
                "redis-server", "--port", "0", "--unixsocket", folder + "/redis.sock", "--unixsocketperm", "777",
                "--dir",
                folder, "--appendonly", writesDown ? "yes" : "no", "--appendfsync", "always", "--save", "",
            ])
        started.add(child)
        running.withLock { $0 = child }
        while child.isRunning {
            if try Spawned(["redis-cli", "-s", folder + "/redis.sock", "-e", "PING"]).wait() == 0 { return }
            usleep(10_000)
        }
        throw PostgresServer.Missing(description: "Redis ended at its start")
    }

    /// Gives a command to it.
    package func command(_ words: String...) throws {
        let status = try Spawned(["redis-cli", "-s", folder + "/redis.sock", "-e"] + words).wait()
        guard status == 0 else { throw PostgresServer.Missing(description: "redis-cli refuses: \(words)") }
    }

    /// Has it listen at a port of this machine too.
    package func listen() throws -> UInt16 {
        // Another program may take the port in between.
        for _ in 0..<20 {
            let port = try ReverseProxy.freePort()
            if (try? command("CONFIG", "SET", "port", "\(port)")) != nil { return port }
        }
        throw PostgresServer.Missing(description: "Redis finds no port")
    }

    package func stop(_ signal: Int32 = SIGTERM) {
        running.withLock { child in
            child?.end(signal)
            child = nil
        }
    }

    package func restart(_ signal: Int32 = SIGTERM) throws {
        stop(signal)
        try start()
    }
}
