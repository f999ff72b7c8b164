internal import Synchronization
internal import SystemCalls

/// What is wrong at the moment. A state is logged when it begins, while it lasts once in a while, and when it ends:
/// never for each request that it fails.
package final class Conditions: Sendable {
    private struct Condition {
        var told: Double
        var since: Double
        /// Failures since the last line.
        var count = 0
    }

    /// Seconds between two lines about a state that lasts.
    private static let interval = 60.0

    private let log: ServerLog
    private let failing = Mutex<[String: Condition]>([:])

    package init(_ log: ServerLog) { self.log = log }

    /// Something has failed.
    /// - Parameters:
    ///   - subject: What, in a word of ours.
    ///   - reason: Why; no secret.
    package func fail(_ subject: String, _ reason: String, now: Double = MonotonicClock.seconds) {
        let told: Int? = failing.withLock { failing in
            guard var condition = failing[subject] else {
                failing[subject] = Condition(told: now, since: now)
                return 1
            }
            defer { failing[subject] = condition }
            condition.count += 1
            guard now - condition.told >= Conditions.interval else { return nil }
            defer { condition.count = 0 }
            condition.told = now
            return condition.count
        }
        if let told { log.write(.error, subject, ["reason": .text(reason), "failures": .number(told)]) }
    }

    /// It works.
    package func recover(_ subject: String, now: Double = MonotonicClock.seconds) {
        let ended = failing.withLock { $0.removeValue(forKey: subject) }
        guard let ended else { return }
        log.write(
            .notice, subject, ["state": "works again", "seconds": .number(Int((now - ended.since).rounded()))])
    }

    /// Whether something fails.
    package func isFailing(_ subject: String) -> Bool { failing.withLock { $0[subject] != nil } }
}
