/// The text format of Prometheus (version 0.0.4), as `promtool check metrics` wants it.
package struct MetricsText: Sendable {
    package enum Kind: String, Sendable { case counter = "counter", gauge = "gauge", histogram = "histogram" }

    package private(set) var text = ""

    package init() {}

    /// Begins a family; its samples follow.
    package mutating func family(_ name: String, _ kind: Kind, _ help: String) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
    }

    /// - Parameters:
    ///   - labels: Names and values of ours.
    ///   - value: Whole, or with its fraction.
    package mutating func sample(_ name: String, _ labels: KeyValuePairs<String, String>, _ value: some MetricsValue) {
        text += name
        if !labels.isEmpty {
            text += "{" + labels.map { "\($0.key)=\(ServerLog.quoted($0.value))" }.joined(separator: ",") + "}"
        }
        text += " \(value.metricsText)\n"
    }

    /// A family of one gauge.
    package mutating func gauge(_ name: String, _ value: some MetricsValue, _ help: String) {
        family(name, .gauge, help)
        sample(name, [:], value)
    }

    /// A family of one counter.
    package mutating func counter(_ name: String, _ value: some MetricsValue, _ help: String) {
        family(name, .counter, help)
        sample(name, [:], value)
    }
}

/// A number as Prometheus reads it.
package protocol MetricsValue { var metricsText: String { get } }

extension Int: MetricsValue { package var metricsText: String { String(self) } }

extension Double: MetricsValue { package var metricsText: String { "\(self)" } }

extension Bool: MetricsValue { package var metricsText: String { self ? "1" : "0" } }

/// How long things of one kind took.
struct Durations: Sendable {
    /// Upper bounds in microseconds, and how they are written in seconds.
    private static let bounds: [(Int, String)] = [
        (250, "0.00025"), (1000, "0.001"), (2500, "0.0025"), (5000, "0.005"), (10_000, "0.01"), (25_000, "0.025"),
        (50_000, "0.05"), (100_000, "0.1"), (250_000, "0.25"), (1_000_000, "1"), (5_000_000, "5"),
    ]

    private var buckets = [Int](repeating: 0, count: bounds.count + 1)
    private var sum = 0

    mutating func count(_ microseconds: Int) {
        buckets[Durations.bounds.firstIndex { microseconds <= $0.0 } ?? Durations.bounds.count] += 1
        sum += microseconds
    }

    /// The samples of a histogram.
    func write(_ name: String, _ label: String, _ value: String, to text: inout MetricsText) {
        var total = 0
        for (bound, count) in zip(Durations.bounds, buckets) {
            total += count
            text.sample("\(name)_bucket", [label: value, "le": bound.1], total)
        }
        total += buckets[Durations.bounds.count]
        text.sample("\(name)_bucket", [label: value, "le": "+Inf"], total)
        text.sample("\(name)_sum", [label: value], Double(sum) / 1_000_000)
        text.sample("\(name)_count", [label: value], total)
    }
}
