internal import Synchronization

/// Connections to another machine: as many as threads have used at one time. One that failed is not used again.
final class ConnectionPool<Connection: Sendable, Failure: Error>: Sendable {
    private struct State {
        var idle: [Connection] = []
        var used = 0
        /// How often they were closed.
        var clearings = 0
    }

    private let state = Mutex(State())
    private let make: @Sendable () throws(Failure) -> Connection

    init(_ make: @escaping @Sendable () throws(Failure) -> Connection) { self.make = make }

    /// - Parameter body: Returns whether the connection can continue beside its result.
    func use<R>(_ body: (Connection) throws(Failure) -> R, isGood: (Connection) -> Bool) throws(Failure) -> R {
        let (known, clearings) = state.withLock { ($0.idle.popLast(), $0.clearings) }
        let connection: Connection
        if let known { connection = known } else { connection = try make() }
        state.withLock { $0.used += 1 }
        defer {
            state.withLock {
                $0.used -= 1
                if isGood(connection) && $0.clearings == clearings { $0.idle.append(connection) }
            }
        }
        return try body(connection)
    }

    /// Closes idle connections, and those in use when they are done: after a failure they are most likely all broken.
    func clear() {
        state.withLock {
            $0.idle = []
            $0.clearings += 1
        }
    }

    /// Connections at this moment: those that wait, and those in use.
    var counts: (idle: Int, used: Int) { state.withLock { ($0.idle.count, $0.used) } }
}
