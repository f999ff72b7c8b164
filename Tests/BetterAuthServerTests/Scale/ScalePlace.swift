import BetterAuthMessages
import Foundation
import RealParts
import Synchronization
import TestSupport

/// The databases, and the processes as their addresses are now.
final class ScalePlace: @unchecked Sendable {  // the test's own thread alone has the processes
    let pair: DatabasePair
    private let folder: ScratchFolder
    private var processes: [ServerProcess] = []
    private var apps: [ServerProcess] = []
    private let addresses = Mutex<[String]>([])

    init(processes count: Int) throws {
        pair = try DatabasePair()
        folder = try ScratchFolder("scale")
        for _ in 0..<count {
            let process = try start()
            processes.append(process)
            addresses.withLock { $0.append(process.address) }
        }
        for _ in 0..<count {
            apps.append(
                try .app(
                    trusting: folder["keys"], folder: folder.path,
                    ["--redis", pair.redis.location, "--trusted-proxy", "127.0.0.1"]))
        }
    }

    /// As a proxy would have it in front: the limits of addresses are as they are by default.
    private func start() throws -> ServerProcess {
        try ServerProcess(
            [
                "serve", "--listen", "127.0.0.1:0", "--database", pair.postgres.url, "--redis", pair.redis.location,
                "--keys-file", folder["keys"], "--trusted-proxy", "127.0.0.1",
            ], folder: folder.path)
    }

    /// Kills one process, and starts another in its place.
    func replace(_ index: Int) throws {
        processes[index].process.end(SIGKILL)
        processes[index] = try start()
        let address = processes[index].address
        addresses.withLock { $0[index] = address }
    }

    /// Asks one process, for a client of an address.
    func post(_ path: String, _ bytes: [UInt8], at index: Int, for client: String) throws -> HTTPClient.Reply {
        let addresses = path == "/foo/bar" ? apps.map(\.address) : addresses.withLock { $0 }
        let address = addresses[index % addresses.count]
        return try HTTPClient(address).post(path, bytes, headers: "X-Forwarded-For: \(client)\r\n")
    }

    /// The same bytes at one process after the other, until one says the outcome.
    func post(
        _ path: String, _ bytes: [UInt8], from index: Int, for client: String, _ retried: () -> Void = {}
    ) -> HTTPClient.Reply? {
        var reply: HTTPClient.Reply?
        var next = index
        _ = Patience.wait {
            reply = try? post(path, bytes, at: next, for: client)
            next += 1
            let isAnswer = reply.map { !$0.isForLater } ?? false
            if !isAnswer { retried() }
            return isAnswer
        }
        return reply
    }

    /// What was acknowledged to a device holds.
    func check(_ kept: ScaleLife.Kept) throws {
        let reply = post("/device/rotate", try kept.device.rotation().0.bytes, from: 0, for: kept.address)
        guard let reply, kept.isDeleted ? reply.text.contains("BA103") : reply.status == 200 else {
            throw HTTPClient.Problem(
                description: "\(kept.isDeleted ? "a deleted" : "an") account is lost: \(reply?.text ?? "no answer")")
        }
    }
}

extension HTTPClient.Reply {
    /// Whether it says to come again: the store is away, or who comes again at once has come too often.
    var isForLater: Bool { status == 503 || status == 429 }
}
