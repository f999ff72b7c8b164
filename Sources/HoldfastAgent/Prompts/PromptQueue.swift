/// Questions that are open or wait for their turn. A value without any effect.
///
/// One question at a time at each place, and a bounded number of each session: a program that asks without end fills its own share, and a
/// terminal where nobody answers holds up nobody else's.
package struct PromptQueue: Sendable {
    /// A question and for whom it is.
    package struct Prompt: Sendable, Hashable {
        package let number: UInt64
        /// The client's connection.
        package let client: UInt64
        /// Who shares a part of the queue: the session, or the process where that is not known.
        package let share: Int32
        package let place: PromptPlace
        package let request: LeaseRequest
        package let question: Question
    }

    package private(set) var open: [Prompt] = []
    package private(set) var waiting: [Prompt] = []
    private var last: UInt64 = 0

    /// Questions at once, open and waiting.
    package static let most = 64
    /// Of them, of one session.
    package static let mostOfSession = 4
    /// Questions that are open at the same time, each with a thread.
    package static let mostOpen = 8

    package init() {}

    /// - Returns: False when there are too many.
    package mutating func add(
        client: UInt64, share: Int32, place: PromptPlace, request: LeaseRequest, question: Question
    ) -> Bool {
        let all = open + waiting
        guard all.count < PromptQueue.most, all.count(where: { $0.share == share }) < PromptQueue.mostOfSession
        else { return false }
        last += 1
        waiting.append(
            Prompt(number: last, client: client, share: share, place: place, request: request, question: question))
        return true
    }

    /// Opens the next question whose place is free.
    package mutating func openNext() -> Prompt? {
        guard open.count < PromptQueue.mostOpen,
            let next = waiting.firstIndex(where: { prompt in !open.contains { $0.place == prompt.place } })
        else { return nil }
        let prompt = waiting.remove(at: next)
        open.append(prompt)
        return prompt
    }

    /// A question is over.
    package mutating func close(_ number: UInt64) -> Prompt? {
        guard let index = open.firstIndex(where: { $0.number == number }) else { return nil }
        return open.remove(at: index)
    }

    /// Takes out what waits for clients that have gone.
    package mutating func dropWaiting(where isGone: (UInt64) -> Bool) { waiting.removeAll { isGone($0.client) } }

    /// Takes out everything that waits.
    package mutating func takeWaiting() -> [Prompt] {
        defer { waiting = [] }
        return waiting
    }
}
