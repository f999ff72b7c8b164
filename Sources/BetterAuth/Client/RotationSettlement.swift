/// Decides how a rotation that was sent comes to its end, whatever gets lost on the way (constructions.md 10.1). A
/// value: what happened goes in, what to do next comes out.
///
/// Refusals are not signed, and others can refuse in the server's place, so no refusal ends anything: opening a session
/// shows which key the server has, and only a signed answer is accepted.
package struct RotationSettlement {
    /// What to do next.
    package enum Step: Equatable {
        /// Send the newest request, with the same bytes as before where it was sent before.
        case send
        /// Open a session with the next key.
        case probeNext
        /// Open a session with the current key.
        case probeCurrent
        /// Make a plain rotation with the same two keys the newest request, beside the one that does not get through,
        /// and send it: one of them passes, and then the other never can.
        case supersede
        case end(Outcome)
    }

    package enum Outcome: Equatable {
        /// The chain has moved, and it was the newest request that moved it.
        case confirmed
        /// The chain has moved, and one of the requests did it.
        case moved
        /// The chain has not moved: the server takes the current key, and the requests do not get through. Everything
        /// is kept and tried again later.
        case blocked
        /// No answer says anything about the keys. Everything is kept and tried again later.
        case undecided
        /// The server is there and takes neither key. All are kept.
        case unknown
    }

    /// How a step went.
    package enum Event: Equatable {
        /// A signed answer said yes.
        case confirmed
        /// An unsigned one said no; of a request also one that is not the server's.
        case refused
        /// There was none, or none to be believed. Of a key: nothing was said about this one.
        case lost
        /// The server is not there, so nothing else needs to be asked now.
        case absent
    }

    private enum Phase {
        case sending(losses: Int)
        case probingNext
        case probingCurrent(isNextRefused: Bool)
        case over
    }

    private var phase: Phase
    /// The current key was accepted once, so the request may be lost, and was sent again for it.
    private var wasSentAfterProbe = false
    private var canSupersede: Bool
    /// Times that both keys were refused.
    private var rounds = 0
    private static let mostRounds = 3

    /// - Parameters:
    ///   - canSupersede: No request is a plain rotation yet, so one can be put in their place.
    ///   - wasSent: It was sent before, by this process or by one that ended, which counts as a loss.
    package init(canSupersede: Bool, wasSent: Bool) {
        phase = .sending(losses: wasSent ? 1 : 0)
        self.canSupersede = canSupersede
    }

    package mutating func handle(_ event: Event) -> Step {
        switch phase {
        case .sending(let losses): return sent(event, losses: losses)
        case .probingNext:
            switch event {
            case .confirmed: return end(.moved)
            case .absent: return end(.undecided)
            // The outcome of the question about one key says nothing about the other.
            case .refused, .lost:
                phase = .probingCurrent(isNextRefused: event == .refused)
                return .probeCurrent
            }
        case .probingCurrent(let isNextRefused):
            switch event {
            case .confirmed: return notMoved()
            case .absent, .lost: return end(.undecided)
            case .refused:
                guard isNextRefused else { return end(.undecided) }
                rounds += 1
                guard rounds < RotationSettlement.mostRounds else { return end(.unknown) }
                // A late request may have arrived between the two questions.
                return probe()
            }
        case .over: return .end(.undecided)
        }
    }

    private mutating func sent(_ event: Event, losses: Int) -> Step {
        switch event {
        case .confirmed: return end(.confirmed)
        case .refused: return probe()
        case .lost, .absent:
            if losses == 0 {
                phase = .sending(losses: 1)
                return .send
            }
            return event == .absent ? end(.undecided) : probe()
        }
    }

    private mutating func probe() -> Step {
        phase = .probingNext
        return .probeNext
    }

    private mutating func notMoved() -> Step {
        if !wasSentAfterProbe {
            wasSentAfterProbe = true
            phase = .sending(losses: 1)
            return .send
        }
        guard canSupersede else { return end(.blocked) }
        canSupersede = false
        phase = .sending(losses: 0)
        return .supersede
    }

    private mutating func end(_ outcome: Outcome) -> Step {
        phase = .over
        return .end(outcome)
    }
}
