/// Lets one operation at a time in, in the order in which they came. An actor alone does not: another call comes in at
/// each of its suspension points.
struct Turns {
    private var isTaken = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// Whether the turn is the caller's at once; else he waits.
    mutating func take() -> Bool {
        defer { isTaken = true }
        return !isTaken
    }

    mutating func wait(_ continuation: CheckedContinuation<Void, Never>) { waiting.append(continuation) }

    /// Gives the turn to who waits longest.
    mutating func pass() {
        if waiting.isEmpty { isTaken = false } else { waiting.removeFirst().resume() }
    }
}
