package import BetterAuthMessages
internal import Synchronization

/// Counts what happens, in the text format of Prometheus (version 0.0.4).
package final class HTTPMetrics: Sendable {
    private struct Key: Hashable {
        let path: String
        let code: String
    }

    private struct Counts {
        var replies: [Key: Int] = [:]
        var buckets = [Int](repeating: 0, count: HTTPMetrics.bounds.count + 1)
        var duration = 0
        var storeFailures = 0
    }

    /// Upper bounds in microseconds.
    private static let bounds = [
        100, 250, 500, 1000, 2500, 5000, 10_000, 25_000, 50_000, 100_000, 250_000, 1_000_000,
    ]

    private let counts = Mutex(Counts())

    package init() {}

    /// - Parameters:
    ///   - path: One of a few names, never a client's text.
    ///   - duration: Microseconds.
    package func count(_ path: String, _ code: ErrorCode?, duration: Int) {
        let bucket = HTTPMetrics.bounds.firstIndex { duration <= $0 } ?? HTTPMetrics.bounds.count
        counts.withLock {
            $0.replies[Key(path: path, code: code?.rawValue ?? "ok"), default: 0] += 1
            $0.buckets[bucket] += 1
            $0.duration += duration
        }
    }

    package func countStoreFailure() { counts.withLock { $0.storeFailures += 1 } }

    /// The text.
    /// - Parameter gauges: Names and values of what is measured at this moment.
    package func text(_ gauges: [(String, Int)]) -> String {
        let counts = counts.withLock { $0 }
        var text = "# TYPE holdfast_replies_total counter\n"
        for (key, count) in counts.replies.sorted(by: { ($0.key.path, $0.key.code) < ($1.key.path, $1.key.code) }) {
            text += "holdfast_replies_total{path=\"\(key.path)\",code=\"\(key.code)\"} \(count)\n"
        }
        text += "# TYPE holdfast_reply_seconds histogram\n"
        var sum = 0
        for (bound, count) in zip(HTTPMetrics.bounds, counts.buckets) {
            sum += count
            text += "holdfast_reply_seconds_bucket{le=\"\(seconds(bound))\"} \(sum)\n"
        }
        sum += counts.buckets[HTTPMetrics.bounds.count]
        text += "holdfast_reply_seconds_bucket{le=\"+Inf\"} \(sum)\n"
        text += "holdfast_reply_seconds_sum \(seconds(counts.duration))\nholdfast_reply_seconds_count \(sum)\n"
        text += "# TYPE holdfast_store_failures_total counter\n"
        text += "holdfast_store_failures_total \(counts.storeFailures)\n"
        for (name, value) in gauges { text += "# TYPE \(name) gauge\n\(name) \(value)\n" }
        return text
    }

    private func seconds(_ microseconds: Int) -> String {
        let fraction = String(microseconds % 1_000_000)
        return "\(microseconds / 1_000_000)." + String(repeating: "0", count: 6 - fraction.count) + fraction
    }
}
