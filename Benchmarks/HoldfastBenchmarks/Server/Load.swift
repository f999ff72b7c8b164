import BetterAuthMessages
import Foundation
import Synchronization

/// Many connections at one time, to one server or dealt out to several.
final class Load: Sendable {
    private static let connectionsPerThread = 32

    /// Nanoseconds after which a server may end a connection that rests.
    private static let rest = 10e9

    private struct State {
        var connections: [[LoadConnection]] = []
        var used = -Double.infinity
    }

    private let ports: [UInt16]
    private let state = Mutex(State())

    /// - Parameter ports: Of servers on this machine.
    init(_ ports: [UInt16]) throws {
        self.ports = ports
        try renew()
    }

    /// Makes other connections when these have rested for long.
    func renew() throws {
        let ports = ports
        try state.withLock { state in
            defer { state.used = nanoseconds() }
            guard nanoseconds() - state.used > Load.rest else { return }
            state.connections = try (0..<LoadServer.threads).map { _ in
                try (0..<Load.connectionsPerThread).map { try LoadConnection(ports[$0 % ports.count]) }
            }
        }
    }

    /// Posts bodies over all connections and returns the replies in their order.
    func post(_ path: String, _ bodies: [[UInt8]]) throws -> [[UInt8]] {
        let results = Mutex<[Int: [[UInt8]]]>([:])
        let failure = Mutex<(any Error)?>(nil)
        try renew()
        defer { state.withLock { $0.used = nanoseconds() } }
        let connections = state.withLock { $0.connections }
        let half = (bodies.count + connections.count - 1) / connections.count
        DispatchQueue.concurrentPerform(iterations: connections.count) { thread in
            do {
                let own = Array(bodies.dropFirst(thread * half).prefix(half))
                var replies: [[UInt8]] = []
                var index = 0
                while index < own.count {
                    let group = Array(own[index..<min(own.count, index + Load.connectionsPerThread)])
                    for (connection, body) in zip(connections[thread], group) { try connection.send(path, body) }
                    for (connection, _) in zip(connections[thread], group) { replies.append(try connection.reply()) }
                    index += group.count
                }
                let all = replies
                results.withLock { $0[thread] = all }
            } catch { failure.withLock { $0 = error } }
        }
        if let error = failure.withLock({ $0 }) { throw error }
        return results.withLock { results in connections.indices.flatMap { results[$0] ?? [] } }
    }

    /// Makes accounts and opens a session for each.
    func sessions(_ count: Int) throws -> [(device: LoadDevice, token: TokenText)] {
        let devices = try (0..<count).map { _ in try LoadDevice() }
        _ = try post(CreateAccount.path, devices.map { try $0.creation() })
        let challenges = try post(RequestSession.path, devices.map { try $0.sessionRequest() })
        let replies = try post(CreateSession.path, zip(devices, challenges).map { try $0.opening($1) })
        return try zip(devices, replies).map { ($0, try LoadDevice.token($1)) }
    }
}
