import Foundation
import SecretMemory
import Synchronization
import TestSupport
import VaultFormat

@testable import DeviceOwner

/// The owner, played: does something at each thing that is shown, and answers prompts.
final class PlayedOwner: OwnerConversation {
    let cancellation = Cancellation()
    private let seen = Mutex<[OwnerGuidance]>([])
    private let prompts = Mutex<[OwnerPrompt]>([])
    private let expected = Mutex<[OwnerFinger]>([])
    private let onGuidance: @Sendable (OwnerGuidance, Int, PlayedOwner) throws -> Void
    private let answer: @Sendable (OwnerPrompt) -> [UInt8]?

    /// - Parameters:
    ///   - onGuidance: Called with what is shown, how many things were shown before, and this.
    ///   - answer: What is typed; nil to turn away.
    init(
        onGuidance: @escaping @Sendable (OwnerGuidance, Int, PlayedOwner) throws -> Void = { _, _, _ in },
        answer: @escaping @Sendable (OwnerPrompt) -> [UInt8]? = { _ in nil }
    ) {
        self.onGuidance = onGuidance
        self.answer = answer
    }

    var guidance: [OwnerGuidance] { seen.withLock { $0 } }
    /// The fingers that the sensor waited for.
    var fingers: [OwnerFinger] { expected.withLock { $0 } }
    var asked: [OwnerPrompt] { prompts.withLock { $0 } }

    func show(_ guidance: OwnerGuidance) {
        let count = seen.withLock { seen in
            seen.append(guidance)
            return seen.count - 1
        }
        do { try onGuidance(guidance, count, self) } catch { cancellation.cancel() }
    }

    func expect(_ finger: OwnerFinger) { expected.withLock { $0.append(finger) } }

    func ask(_ prompt: OwnerPrompt) -> SecretBytes? {
        prompts.withLock { $0.append(prompt) }
        guard let bytes = answer(prompt) else { return nil }
        return try? unsafe SecretBytes(copying: bytes.span.bytes)
    }
}

/// An outcome, comparable.
enum Came: Equatable {
    case released([UInt8])
    case refused, cancelled, timedOut
    case impossible(OwnerCapability)
    case expired(OwnerExpiry)
}

extension OwnerAuthenticator {
    func ask(
        _ step: OwnerStep, _ keeper: OwnerKeeper, patience: UInt64 = 20_000, _ owner: PlayedOwner
    ) -> Came {
        switch confirm(step, keeper: keeper, patience: patience, owner) {
        case .released(let release):
            .released(release.secret.revealed())
        case .refused: .refused
        case .cancelled: .cancelled
        case .timedOut: .timedOut
        case .impossible(let capability): .impossible(capability)
        case .expired(let expiry): .expired(expiry)
        }
    }
}

let share = [UInt8](repeating: 9, count: 32)

/// A keeper whose passcode was given just now.
func armedKeeper(_ authenticator: OwnerAuthenticator? = nil) throws -> OwnerKeeper {
    let keeper = OwnerKeeper()
    keeper.arm(try unsafe SecretBytes(copying: share.span.bytes))
    if let enrollment = authenticator?.enrollment(of: .biometrics) { keeper.note(enrollment) }
    return keeper
}
