/// Decides how a rotation that was sent comes to its end, whatever gets lost on the way (constructions, section 10). A
/// value: what happened goes in, what to do next comes out.
///
/// The server's refusals are signed by nobody, so none of them ends anything: which key the server holds is asked by
/// opening sessions, and only a signed answer counts.
package struct RotationSettlement {
    /// What to do next.
    package enum Step: Equatable {
        /// Send the newest request, with the same bytes as before where it was sent before.
        case send
        /// Open a session with the next key.
        case probeNext
        /// Open a session with the current key.
        case probeCurrent
        /// Write down a plain rotation with the same two keys beside the request that the server does not want, and send
        /// it: one of them passes, and then the other never can.
        case supersede
        case end(Outcome)
    }

    package enum Outcome: Equatable {
        /// The chain has moved, and it was the newest request that moved it.
        case confirmed
        /// The chain has moved, and one of the requests did it.
        case moved
        /// The chain has not moved, and the server says that it will not. Everything is kept and tried again later.
        case refused
        /// Nobody answers. Everything is kept and tried again later.
        case undecided
        /// The server takes neither key. All are kept.
        case unknown
    }

    /// How a step went.
    package enum Event: Equatable {
        /// A signed answer said yes.
        case confirmed
        /// An unsigned one said no.
        case refused
        /// There was none, or none to be believed.
        case lost
    }

    private enum Phase {
        case sending(isAgain: Bool)
        case probingNext
        case probingCurrent
        case over
    }

    private var phase: Phase
    /// The current key was accepted once, so the request may be lost, and was sent again for it.
    private var wasSentAfterProbe = false
    private var wasSuperseded: Bool
    /// Times that both keys were asked for.
    private var rounds = 0
    private static let mostRounds = 3

    /// - Parameters:
    ///   - isPlain: The newest request does nothing but rotate, so there is nothing to put in its place.
    ///   - wasSent: It was sent before, by this process or by one that ended.
    package init(isPlain: Bool, wasSent: Bool) {
        phase = .sending(isAgain: wasSent)
        wasSuperseded = isPlain
    }

    package mutating func handle(_ event: Event) -> Step {
        switch phase {
        case .sending(let isAgain): return sent(event, isAgain: isAgain)
        case .probingNext:
            switch event {
            case .confirmed: return end(.moved)
            case .lost: return end(.undecided)
            case .refused:
                phase = .probingCurrent
                return .probeCurrent
            }
        case .probingCurrent: return probedCurrent(event)
        case .over: return .end(.undecided)
        }
    }

    private mutating func sent(_ event: Event, isAgain: Bool) -> Step {
        switch event {
        case .confirmed: return end(.confirmed)
        case .refused:
            rounds += 1
            guard rounds <= RotationSettlement.mostRounds else { return end(.refused) }
            phase = .probingNext
            return .probeNext
        case .lost:
            guard !isAgain else { return end(.undecided) }
            phase = .sending(isAgain: true)
            return .send
        }
    }

    private mutating func probedCurrent(_ event: Event) -> Step {
        switch event {
        case .lost: return end(.undecided)
        case .refused:
            // A late request may have arrived between the two questions.
            rounds += 1
            guard rounds <= RotationSettlement.mostRounds else { return end(.unknown) }
            phase = .probingNext
            return .probeNext
        case .confirmed:
            if !wasSentAfterProbe {
                wasSentAfterProbe = true
                phase = .sending(isAgain: true)
                return .send
            }
            guard !wasSuperseded else { return end(.refused) }
            wasSuperseded = true
            phase = .sending(isAgain: false)
            return .supersede
        }
    }

    private mutating func end(_ outcome: Outcome) -> Step {
        phase = .over
        return .end(outcome)
    }
}
