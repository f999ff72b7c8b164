internal import BetterAuthHTTP
internal import BetterAuthServer
internal import Synchronization

/// Publishing a server's keys, which goes on when the key chain's keeper or the key service is away for a while. Until it
/// worked once the server answers no operation: clients could not verify what it says.
struct Publication {
    /// Why the last attempt failed.
    final class State: Sendable {
        private let failure = Mutex<String?>(nil)

        var reason: String? { failure.withLock { $0 } }

        func set(_ reason: String?) { failure.withLock { $0 = reason } }
    }

    private var publisher: KeyPublisher
    private let conditions: Conditions
    let state = State()
    /// Whether it worked once.
    private(set) var isDone = false

    init(_ publisher: KeyPublisher, _ conditions: Conditions) {
        self.publisher = publisher
        self.conditions = conditions
    }

    mutating func publish(_ keys: ServerKeys) {
        // A name of its own, which the logs of both services have too.
        RequestTrace.$current.withValue(.fresh()) { publishNamed(keys) }
    }

    private mutating func publishNamed(_ keys: ServerKeys) {
        do {
            try publisher.publish(keys, now: SystemClock().now)
            isDone = true
            state.set(nil)
            conditions.recover("key service")
        } catch {
            state.set(OperatorAdvice.line(for: error))
            conditions.fail("key service", OperatorAdvice.line(for: error))
        }
    }
}
