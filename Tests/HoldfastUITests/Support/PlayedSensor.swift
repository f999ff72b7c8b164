import Holdfast
import Synchronization
import Testing

@testable import DeviceOwner

/// A sensor, or an account's password, as a test wants it: there is none on the machine that runs it.
final class PlayedSensor: OwnerBackend {
    /// What it does in a prompt, one after the other. A prompt that ends without a verdict is a refusal.
    enum Move: Sendable {
        case says(OwnerGuidance)
        case expects(OwnerFinger)
        case match
        case noMatch
        /// Asks, and confirms the owner for this answer only.
        case asks(OwnerPrompt, String)
        case tells(OwnerPrompt)
        /// Waits for ``PlayedSensor/go()``, or for the owner who turns away.
        case holds
        /// Nobody comes.
        case timeOver
        case fails(OwnerCapability)
        /// The user presses the prompt's button for another way, where it is there; else cancels.
        case otherWay
    }

    struct State {
        var capability = OwnerCapability.available
        var enrollment = "right-index-finger"
        var moves: [[Move]] = []
        var prompts = 0
        var reasons: [String?] = []
        var enrollmentLooks = 0
    }

    let step: OwnerStep
    let hasEnrollment: Bool
    private let state = Mutex(State())
    private let signal = Cancellation()

    init(_ step: OwnerStep, _ capability: OwnerCapability = .available) {
        self.step = step
        hasEnrollment = step == .biometrics
        state.withLock { $0.capability = capability }
    }

    /// Plays these in the next prompt.
    func plays(_ moves: Move...) { state.withLock { $0.moves.append(moves) } }
    func go() { signal.cancel() }
    var prompts: Int { state.withLock { $0.prompts } }
    /// What each prompt gave as its reason.
    var reasons: [String?] { state.withLock { $0.reasons } }
    /// How often anybody asked what is enrolled.
    var enrollmentLooks: Int { state.withLock { $0.enrollmentLooks } }
    func set(_ capability: OwnerCapability) { state.withLock { $0.capability = capability } }
    func enroll(_ finger: String) { state.withLock { $0.enrollment = finger } }

    func capability() -> OwnerCapability { state.withLock { $0.capability } }
    func enrollment() -> OwnerEnrollment? {
        state.withLock { state in
            state.enrollmentLooks += 1
            return hasEnrollment ? OwnerEnrollment([state.enrollment]) : nil
        }
    }

    func confirm(
        _ conversation: any OwnerConversation, until deadline: UInt64, onNonMatch: () -> Bool
    ) -> OwnerVerdict {
        let moves = state.withLock { state in
            state.prompts += 1
            state.reasons.append(conversation.reason)
            return state.moves.isEmpty ? [] : state.moves.removeFirst()
        }
        for move in moves {
            switch move {
            case .says(let guidance): conversation.show(guidance)
            case .expects(let finger): conversation.expect(finger)
            case .match: return .confirmed
            case .noMatch: guard onNonMatch() else { return .refused }
            case .tells(let prompt): _ = conversation.ask(prompt)
            case .asks(let prompt, let right):
                guard let answer = conversation.ask(prompt) else { return .cancelled }
                return answer.withBytes(text) == right ? .confirmed : .refused
            case .holds:
                let told = Cancellation.wait([conversation.cancellation, signal], until: .max)
                guard told === signal else { return .cancelled }
                signal.take()
            case .timeOver: return .timedOut
            case .fails(let capability): return .impossible(capability)
            case .otherWay:
                if conversation.offersOther { conversation.requestOther() }
                return .cancelled
            }
        }
        return .refused
    }
}

extension Scratch {
    /// A machine with these ways to ask its owner.
    func has(_ sensors: PlayedSensor...) { authenticator = OwnerAuthenticator(sensors) }
}
