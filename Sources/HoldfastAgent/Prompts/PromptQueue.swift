/// Questions that are open or wait for their turn. A value without any effect.
///
/// One question at a time at each place, and a bounded number of each session: a program that asks without end fills
/// its own share, and a terminal where nobody answers holds up nobody else's. At one place sessions take turns. There
/// is always room for a place that has no question yet, unless as many terminals ask as no user has.
package struct PromptQueue: Sendable {
    /// A question and for whom it is.
    package struct Prompt: Sendable, Hashable {
        package let number: UInt64
        /// The client's connection.
        package let client: UInt64
        /// Who shares a part of the queue: the session, or the process where that is not known.
        package let share: Int32
        package let place: PromptPlace
        /// What would be allowed; nil where the vault is to be unlocked.
        package let request: LeaseRequest?
        package let question: Question
    }

    package private(set) var open: [Prompt] = []
    package private(set) var waiting: [Prompt] = []
    private var last: UInt64 = 0
    /// The last question that was opened of each session.
    private var turns: [Int32: UInt64] = [:]

    /// Questions at once, open and waiting, beyond the first one of each place.
    package static let most = 64
    /// Of one session.
    package static let mostOfSession = 4
    /// Questions that are open at the same time, each with a thread while it is.
    package static let mostOpen = 2 * most

    package init() {}

    /// - Returns: False when there are too many.
    package mutating func add(
        client: UInt64, share: Int32, place: PromptPlace, request: LeaseRequest?, question: Question
    ) -> Bool {
        let all = open + waiting
        let isFirst = !all.contains { $0.place == place }
        guard all.count < (isFirst ? PromptQueue.mostOpen : PromptQueue.most),
            all.count(where: { $0.share == share }) < PromptQueue.mostOfSession
        else { return false }
        last += 1
        waiting.append(
            Prompt(number: last, client: client, share: share, place: place, request: request, question: question))
        return true
    }

    /// Opens the next question whose place is free: of those, that of the session whose turn was longest ago.
    package mutating func openNext() -> Prompt? {
        let free = waiting.indices.filter { index in !open.contains { $0.place == waiting[index].place } }
        let next = free.min { (turn(waiting[$0]), $0) < (turn(waiting[$1]), $1) }
        guard open.count < PromptQueue.mostOpen, let next else { return nil }
        let prompt = waiting.remove(at: next)
        open.append(prompt)
        if turns.count > 4 * PromptQueue.most {
            turns = turns.filter { turn in (open + waiting).contains { $0.share == turn.key } }
        }
        turns[prompt.share] = (turns.values.max() ?? 0) + 1
        return prompt
    }

    private func turn(_ prompt: Prompt) -> UInt64 { turns[prompt.share] ?? 0 }

    /// A question is over.
    package mutating func close(_ number: UInt64) -> Prompt? {
        guard let index = open.firstIndex(where: { $0.number == number }) else { return nil }
        return open.remove(at: index)
    }

    /// Takes out what waits and nobody wants to know any more.
    package mutating func dropWaiting(where isIdle: (Prompt) -> Bool) { waiting.removeAll(where: isIdle) }

    /// Takes out everything that waits.
    package mutating func takeWaiting() -> [Prompt] {
        defer { waiting = [] }
        return waiting
    }
}
