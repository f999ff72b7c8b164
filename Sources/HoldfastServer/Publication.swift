internal import BetterAuthHTTP
internal import BetterAuthMessages
internal import BetterAuthServer
internal import Synchronization

/// Publishing a server's keys, which continues when the key chain's keeper or the key service is away for a while.
/// Until it worked once the server answers no operation: clients could not verify what it says.
///
/// A server whose keys are published is ready without them: clients know its keys, and every other server lacks them
/// too.
final class Publication: Sendable {
    /// How publishing stands.
    final class State: Sendable {
        private struct Standing {
            /// Why the last round failed.
            var failure: String?
            var published: [PublicKeyText: Timestamp] = [:]
        }

        /// Seconds for which the record of a key must last: time to mend what fails.
        static let margin: Int64 = 3600

        private let standing = Mutex(Standing())

        /// Whether all is well: what is published is what the keys are.
        fileprivate func isWhole(_ keys: ServerKeys, now: Timestamp) -> Bool {
            let wanted = keys.published(now: now)
            return standing.withLock { standing in
                standing.failure == nil
                    && (wanted.response + wanted.access).allSatisfy { standing.published[$0] != nil }
            }
        }

        fileprivate func set(_ failure: String?, _ published: [PublicKeyText: Timestamp]) {
            standing.withLock { $0 = Standing(failure: failure, published: published) }
        }

        /// When the first of the records ends of the keys that sign now; nil when one of them has none.
        private func end(_ keys: ServerKeys, now: Timestamp) -> Timestamp? {
            let published = standing.withLock { $0.published }
            guard let response = published[keys.responseKey(now: now).publicKey],
                let access = published[keys.accessKey(now: now).publicKey]
            else { return nil }
            return min(response, access)
        }

        /// Why clients cannot verify what the server says now, or soon will not; nil when they can.
        func reason(_ keys: ServerKeys, now: Timestamp) -> String? {
            guard let failure = standing.withLock({ $0.failure }) else { return nil }
            if let end = end(keys, now: now), end > now.adding(seconds: State.margin) { return nil }
            return failure
        }

        /// The families of publishing.
        func write(_ keys: ServerKeys, now: Timestamp, to text: inout MetricsText) {
            text.gauge(
                "holdfast_publishing", standing.withLock { $0.failure } == nil,
                "Whether the keys could be published the last time.")
            guard let end = end(keys, now: now) else { return }
            text.gauge(
                "holdfast_published_until_timestamp_seconds", Double(end.milliseconds) / 1000,
                "When the record of a key that signs now ends, unless it is renewed, in seconds since 1970.")
        }
    }

    private let publisher: Mutex<KeyPublisher>
    private let conditions: Conditions
    private let clock: any ServerClock
    let state = State()
    private let isPublished = Atomic(false)

    /// Whether it worked once.
    var isDone: Bool { isPublished.load(ordering: .acquiring) }

    init(_ publisher: KeyPublisher, _ conditions: Conditions, clock: any ServerClock = SystemClock()) {
        self.publisher = Mutex(publisher)
        self.clock = clock
        self.conditions = conditions
    }

    /// Whether other keys may be made: never while nobody could learn them.
    func admitsRotation(of keys: ServerKeys, now: Timestamp) -> Bool { state.isWhole(keys, now: now) }

    /// Publishes the keys; only one that the key service has signs. On one thread at a time.
    func publish(_ keys: ServerKeys) {
        // A name of its own, which the logs of both services have too.
        RequestTrace.$current.withValue(.fresh()) { publishNamed(keys) }
    }

    private func publishNamed(_ keys: ServerKeys) {
        var failure: (any Error)?
        let published = publisher.withLock { publisher in
            do { try publisher.publish(keys, now: clock.now) } catch { failure = error }
            return publisher.published
        }
        // Of a key that ended unnoticed nobody knows any more; without any other it signs nevertheless.
        let now = clock.now
        keys.limit(to: Set(published.filter { $0.value > now }.keys))
        let reason = failure.map { OperatorAdvice.line(for: $0) }
        state.set(reason, published)
        guard let reason else {
            isPublished.store(true, ordering: .releasing)
            return conditions.recover("publishing")
        }
        conditions.fail("publishing", reason)
    }
}
