internal import SystemCalls

/// The daemons that serve connections with one set of settings. A reload makes another one for new connections; this
/// one ends when its last connection has gone.
final class HTTPGeneration: Sendable {
    private let handler: HTTPHandler
    private let daemons: [HTTPDaemon]
    private let settings: HTTPSettings

    /// - Throws: ``HTTPError/daemon``.
    init(_ service: any HTTPService, _ settings: HTTPSettings) throws(HTTPError) {
        self.settings = settings
        handler = HTTPHandler(service, settings)
        var daemons: [HTTPDaemon] = []
        for _ in 0..<max(settings.threads, 1) {
            guard let daemon = HTTPDaemon(handler, settings) else {
                daemons.forEach { $0.stop() }
                throw .daemon
            }
            daemons.append(daemon)
        }
        self.daemons = daemons
    }

    var connections: Int { handler.peers.count }

    /// Takes over a connection, which goes to the thread of this number in turn.
    @unsafe func add(_ client: Int32, _ address: UnsafeRawPointer, _ length: UInt32, turn: Int) {
        handler.expect(now: MonotonicClock.seconds)
        if unsafe !daemons[turn % daemons.count].add(client, address, length) { handler.expectNot() }
    }

    /// Ends connections whose request does not come.
    /// - Parameter seconds: Those that a request has; nil for those of the settings.
    func endSlow(now: Double, after seconds: Int? = nil) {
        handler.peers.endSlow(before: now - Double(seconds ?? settings.requestSeconds))
    }

    /// From now on each reply ends its connection.
    func beginStopping() { handler.beginStopping() }

    /// Ends the threads, unless a request is under way or may be on its way.
    /// - Returns: Whether it has ended.
    func end(now: Double) -> Bool {
        guard handler.isQuiet(for: Double(settings.quietMilliseconds) / 1000, now: now), handler.close() else {
            return false
        }
        daemons.forEach { $0.stop() }
        return true
    }

    /// Ends the threads of one that has served nothing.
    func drop() {
        _ = handler.close()
        daemons.forEach { $0.stop() }
    }
}
