import Holdfast

@testable import HoldfastUI

/// What a lock screen reads, held back until the test lets go of it: the order in which slow readings arrive is the
/// test's.
@MainActor
final class HeldReadings {
    /// Of the task whose reading is to arrive first.
    @TaskLocal static var isEarly = false

    private var isHolding = false
    private var early: CheckedContinuation<Void, Never>?
    private var others: [CheckedContinuation<Void, Never>] = []
    /// Whether one was held that saw a prompt up, and one after it that saw none.
    private(set) var (sawPrompt, sawNoPrompt) = (false, false)
    var hasEarly: Bool { early != nil }

    func hold() { isHolding = true }

    func read(_ app: HoldfastApp) async -> LockFacts {
        let isAfterPrompt = sawPrompt
        let facts = await LockFacts(of: app)
        guard isHolding else { return facts }
        // On a busy machine, a reading from before the prompt still arrives. Held, it would keep those behind it from
        // being begun.
        guard isAfterPrompt || facts.owner?.prompt != nil else { return facts }
        if facts.owner?.prompt != nil { sawPrompt = true } else { sawNoPrompt = true }
        await withCheckedContinuation { arrival in
            if HeldReadings.isEarly { early = arrival } else { others.append(arrival) }
        }
        return facts
    }

    func letGoOfEarly() { early.take()?.resume() }

    /// Lets the others arrive, and holds no more.
    func letGo() {
        isHolding = false
        for arrival in others { arrival.resume() }
        others = []
    }
}
