import BetterAuthMessages
import BetterAuthServer
import Dispatch
import Foundation
import Synchronization
import TestSupport

/// Clients that ask while a server is replaced, and what they miss.
final class UpgradeLoad: Sendable {
    private let isEnding = Atomic(false)
    private let answered = Atomic(0)
    private let failures = Mutex<[String]>([])
    private let clients = DispatchGroup()

    /// - Parameter request: What each client does again and again.
    init(
        _ address: String, clients count: Int, _ request: @escaping @Sendable (HTTPClient) throws -> HTTPClient.Reply
    ) {
        for _ in 0..<count {
            clients.enter()
            Thread { [self] in
                run(address, request)
                clients.leave()
            }.start()
        }
    }

    /// One client, on one connection as long as the other side keeps it. A request on a connection that was used before
    /// is repeated when that has ended meanwhile, as clients do with requests that may be repeated (RFC 9112, section
    /// 9.3.1): a busy machine lets it rest for any time.
    private func run(_ address: String, _ request: (HTTPClient) throws -> HTTPClient.Reply) {
        var client: HTTPClient?
        while !isEnding.load(ordering: .relaxed) {
            let wasUsed = client != nil
            do {
                let current = try client ?? HTTPClient(address)
                let reply = try request(current)
                if reply.status != 200 { failures.withLock { $0.append("\(reply.status) \(reply.text)") } }
                answered.add(1, ordering: .relaxed)
                client = reply.headers["connection"] == "close" ? nil : current
            } catch {
                if !wasUsed { failures.withLock { $0.append("\(error)") } }
                client = nil
            }
        }
    }

    /// A new account for each request.
    static func create(_ client: HTTPClient) throws -> HTTPClient.Reply {
        let hash = RecoveryHash(try freshDigest())
        return try client.post("/account/create", TestDevice(recovery: hash).creation(hash).bytes)
    }

    /// Returns when so many more requests were answered, or one failed.
    func waitForMore(_ count: Int) {
        let before = answered.load(ordering: .relaxed)
        let isDone = Patience.wait {
            answered.load(ordering: .relaxed) >= before + count || failures.withLock { !$0.isEmpty }
        }
        if !isDone { failures.withLock { $0.append("nobody answers") } }
    }

    /// Ends the clients.
    /// - Returns: What failed.
    func end() -> [String] {
        isEnding.store(true, ordering: .relaxed)
        clients.wait()
        return failures.withLock { $0 }
    }

    var count: Int { answered.load(ordering: .relaxed) }
}
