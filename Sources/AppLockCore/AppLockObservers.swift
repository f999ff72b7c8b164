internal import Synchronization

/// Streams that are told the same things.
struct Observers<Element: Sendable> {
    private var continuations: [UInt64: AsyncStream<Element>.Continuation] = [:]
    private var next: UInt64 = 0
    private let buffered: Int

    /// - Parameter buffered: How many of the newest elements wait for an observer that is slow.
    init(buffered: Int) { self.buffered = buffered }

    mutating func add(_ ended: @escaping @Sendable (UInt64) -> Void) -> (stream: AsyncStream<Element>, number: UInt64) {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Element.self, bufferingPolicy: .bufferingNewest(buffered))
        next += 1
        let number = next
        continuations[number] = continuation
        continuation.onTermination = { _ in ended(number) }
        return (stream, number)
    }

    mutating func remove(_ number: UInt64) { continuations[number] = nil }

    func yield(_ element: Element, to number: UInt64) { continuations[number]?.yield(element) }

    func yield(_ element: Element) {
        for continuation in continuations.values { continuation.yield(element) }
    }

    func finish() {
        for continuation in continuations.values { continuation.finish() }
    }
}

/// Counts the emergency locks, from any thread.
final class EmergencyCount: Sendable {
    private let number = Mutex<UInt64>(0)

    var count: UInt64 { number.withLock { $0 } }

    func add() { number.withLock { $0 += 1 } }
}
