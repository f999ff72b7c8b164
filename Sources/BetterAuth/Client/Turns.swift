/// Lets one operation at a time in, in the order in which they came. An actor alone does not: another call comes in at
/// each of its suspension points.
struct Turns {
    private var isTaken = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// True if the turn was acquired; otherwise call `wait`.
    mutating func take() -> Bool {
        defer { isTaken = true }
        return !isTaken
    }

    mutating func wait(_ continuation: CheckedContinuation<Void, Never>) { waiting.append(continuation) }

    /// Gives the turn to the caller that has waited longest.
    mutating func pass() {
        if waiting.isEmpty { isTaken = false } else { waiting.removeFirst().resume() }
    }
}
