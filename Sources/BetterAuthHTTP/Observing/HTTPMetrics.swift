package import BetterAuthMessages
package import BetterAuthServer
internal import Synchronization

/// Counts what happens.
package final class HTTPMetrics: Sendable {
    private struct Key: Hashable {
        let path: String
        let code: String
    }

    private struct Counts {
        var replies: [Key: Int] = [:]
        var durations: [String: Durations] = [:]
        var store: [StoreCall: Durations] = [:]
        var failures: [String: Int] = [:]
        var faults = 0
    }

    private let counts = Mutex(Counts())

    package init() {}

    /// - Parameters:
    ///   - path: One of a few names, never a client's text.
    ///   - duration: Microseconds.
    package func count(_ path: String, _ code: ErrorCode?, duration: Int) {
        counts.withLock {
            $0.replies[Key(path: path, code: code?.rawValue ?? "ok"), default: 0] += 1
            $0.durations[path, default: Durations()].count(duration)
            if code == .base { $0.faults += 1 }
        }
    }

    /// A store has failed.
    package func count(_ error: StoreError) { counts.withLock { $0.failures[error.subject, default: 0] += 1 } }

    /// A store has been asked.
    /// - Parameter duration: Microseconds.
    package func count(_ call: StoreCall, duration: Int) {
        counts.withLock { $0.store[call, default: Durations()].count(duration) }
    }

    /// The families of requests, and of the store where there is one.
    package func write(to text: inout MetricsText, hasStore: Bool) {
        let counts = counts.withLock { $0 }
        text.family("holdfast_replies_total", .counter, "Replies by path and code; ok for those that are no refusals.")
        for (key, count) in counts.replies.sorted(by: { ($0.key.path, $0.key.code) < ($1.key.path, $1.key.code) }) {
            text.sample("holdfast_replies_total", ["path": key.path, "code": key.code], count)
        }
        // Of its own: a sample that begins with its first count has no increase that an alert could see.
        text.counter("holdfast_faults_total", counts.faults, "Replies that tell of a fault of the server's own.")
        let requests = "holdfast_request_duration_seconds"
        text.family(requests, .histogram, "Time from the head of a request to its reply, by path.")
        for (path, durations) in counts.durations.sorted(by: { $0.key < $1.key }) {
            durations.write(requests, "path", path, to: &text)
        }
        guard hasStore else { return }
        let calls = "holdfast_store_duration_seconds"
        text.family(calls, .histogram, "Time that the store took, by what it was asked.")
        for call in StoreCall.allCases {
            (counts.store[call] ?? Durations()).write(calls, "call", call.rawValue, to: &text)
        }
        text.family(
            "holdfast_store_failures_total", .counter,
            "Failures by kind: store for one that cannot be reached or written, row for a damaged row, limit.")
        for subject in StoreError.subjects {
            text.sample("holdfast_store_failures_total", ["kind": subject], counts.failures[subject] ?? 0)
        }
    }
}
