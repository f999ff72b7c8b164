internal import DeviceOwner
public import Holdfast
internal import Synchronization

/// A device owner who answers the system's prompts as a test says, in place of a sensor and a person.
///
/// ```swift
/// vault.owner.answers(.confirms, .cancels)              // the next two prompts for biometrics
/// try await app.lock.unlock(by: .biometrics)            // confirmed
/// ```
///
/// A prompt for which nothing was scripted is refused, as one that ran to its end without a match.
public final class ScriptedOwner: Sendable {
    /// What the owner does at a prompt.
    public enum Answer: Sendable, Hashable {
        /// The owner is recognized, or enters the right passcode of the device.
        case confirms
        /// The prompt runs to its end without a match.
        case isNotRecognized
        /// The user cancels.
        case cancels
        /// Nobody answers until time runs out.
        case doesNotAnswer
        /// The system cannot ask, and says why.
        case cannotBeAsked(OwnerCapability)
    }

    private struct Sensor {
        var capability = OwnerCapability.available
        var answers: [Answer] = []
        var prompts = 0
    }

    private struct State {
        var sensors: [OwnerStep: Sensor] = [:]
        var enrollment = 1
    }

    private let state = Mutex(State())

    /// An owner of a device on which every step is available and nothing is scripted.
    package init() {}

    /// Adds answers for the next prompts of a step.
    public func answers(_ answers: Answer..., to step: OwnerStep = .biometrics) {
        state.withLock { $0.sensors[step, default: Sensor()].answers += answers }
    }

    /// Sets what the device can do.
    /// - Parameters:
    ///   - capability: For example ``DeviceOwner/OwnerCapability/lockedOut(_:)``.
    ///   - step: Of which step.
    public func setCapability(_ capability: OwnerCapability, of step: OwnerStep = .biometrics) {
        state.withLock { $0.sensors[step, default: Sensor()].capability = capability }
    }

    /// Adds a finger or face to the device, after which an enrollment made before is no longer accepted.
    public func changeEnrollment() { state.withLock { $0.enrollment += 1 } }

    /// How many prompts of a step were shown.
    public func promptCount(of step: OwnerStep = .biometrics) -> Int {
        state.withLock { $0.sensors[step]?.prompts ?? 0 }
    }

    /// For the lock of an app.
    var authenticator: OwnerAuthenticator {
        OwnerAuthenticator(OwnerStep.allCases.map { Backend(owner: self, step: $0) })
    }

    private struct Backend: OwnerBackend {
        let owner: ScriptedOwner
        let step: OwnerStep

        var hasEnrollment: Bool { step == .biometrics }

        func capability() -> OwnerCapability { owner.state.withLock { $0.sensors[step]?.capability ?? .available } }

        func enrollment() -> OwnerEnrollment? {
            hasEnrollment ? OwnerEnrollment(["enrollment \(owner.state.withLock { $0.enrollment })"]) : nil
        }

        func confirm(
            _ conversation: any OwnerConversation, until deadline: UInt64, onNonMatch: () -> Bool
        ) -> OwnerVerdict {
            let (capability, answer) = owner.state.withLock { state in
                var sensor = state.sensors[step] ?? Sensor()
                sensor.prompts += 1
                let answer = sensor.answers.isEmpty ? Answer.isNotRecognized : sensor.answers.removeFirst()
                state.sensors[step] = sensor
                return (sensor.capability, answer)
            }
            guard capability == .available else { return .impossible(capability) }
            switch answer {
            case .confirms: return .confirmed
            case .isNotRecognized: return .refused
            case .cancels: return .cancelled
            case .doesNotAnswer: return .timedOut
            case .cannotBeAsked(let capability): return .impossible(capability)
            }
        }
    }
}
