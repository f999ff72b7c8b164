import AppleScripting
import Foundation
import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultCore
import VaultFormat

@testable import DeviceOwner
@testable import KeyStores

/// One process plays one device: every suite that uses it lies in this one, so that they run one after the other.
@Suite(.serialized, .patient) struct AppleBackends {}

/// The owner's side of a prompt, who does nothing but turn away.
final class SilentOwner: OwnerConversation {
    let cancellation = Cancellation()
    func show(_ guidance: OwnerGuidance) {}
    func expect(_ finger: OwnerFinger) {}
    func ask(_ prompt: OwnerPrompt) -> SecretBytes? { nil }
}

/// An outcome, comparable.
enum Came: Equatable {
    case released, refused, cancelled, timedOut
    case impossible(OwnerCapability)
    case expired(OwnerExpiry)

    init(_ outcome: borrowing OwnerOutcome) {
        switch outcome {
        case .released: self = .released
        case .refused: self = .refused
        case .cancelled: self = .cancelled
        case .timedOut: self = .timedOut
        case .impossible(let capability): self = .impossible(capability)
        case .expired(let expiry): self = .expired(expiry)
        }
    }
}

let secondShare = [UInt8](repeating: 2, count: 32)

/// A keeper whose passcode was given just now, on the device as it is.
func armedKeeper(_ authenticator: OwnerAuthenticator = .standard) throws -> OwnerKeeper {
    let keeper = OwnerKeeper()
    keeper.arm(try secret(secondShare))
    if let enrollment = authenticator.enrollment(of: .biometrics) { keeper.note(enrollment) }
    return keeper
}
