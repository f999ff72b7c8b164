import Synchronization

/// How long each answer took, from the first try on, in one part of a run after the other.
final class ScaleTimes: Sendable {
    private let parts = Mutex<[[Double]]>([[]])

    func beginNext() { parts.withLock { $0.append([]) } }

    func add(_ milliseconds: Double) { parts.withLock { $0[$0.count - 1].append(milliseconds) } }

    /// Of all clients together, in whole milliseconds and at least one.
    static func percentile(_ lives: [ScaleLife], _ part: Int, _ share: Double) -> Double {
        let all = lives.flatMap { life in life.times.parts.withLock { $0[part] } }.sorted()
        guard !all.isEmpty else { return 1 }
        return max(1, all[Int(Double(all.count - 1) * share)].rounded())
    }
}
