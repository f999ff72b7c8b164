internal import Synchronization

/// Connections to another machine: as many as threads have used at one time. One that failed is not used again.
final class ConnectionPool<Connection: Sendable, Failure: Error>: Sendable {
    private let idle = Mutex<[Connection]>([])
    private let make: @Sendable () throws(Failure) -> Connection

    init(_ make: @escaping @Sendable () throws(Failure) -> Connection) { self.make = make }

    /// - Parameter body: Returns whether the connection can go on beside its result.
    func use<R>(_ body: (Connection) throws(Failure) -> R, isGood: (Connection) -> Bool) throws(Failure) -> R {
        let connection = try take()
        defer { if isGood(connection) { idle.withLock { $0.append(connection) } } }
        return try body(connection)
    }

    private func take() throws(Failure) -> Connection {
        if let connection = idle.withLock({ $0.popLast() }) { return connection }
        return try make()
    }

    /// Closes idle connections; after a failure they are most likely all broken.
    func clear() { idle.withLock { $0 = [] } }
}
