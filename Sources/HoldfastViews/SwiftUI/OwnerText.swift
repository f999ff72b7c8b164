#if canImport(SwiftUI)
internal import DeviceOwner
internal import HoldfastUI
internal import Observation
internal import SwiftUI
internal import VaultFormat

/// Words and pictures for what the device recognises its owner by: keys in `Localizable.strings`, names of symbols.
@MainActor enum OwnerText {
    private static var biometrics: (unlock: LocalizedStringKey, setting: LocalizedStringKey, symbol: String) {
        switch Biometry.current.kind {
        case .touchID: ("lock.owner.touchID", "settings.biometrics.touchID", "touchid")
        case .opticID: ("lock.owner.opticID", "settings.biometrics.opticID", "opticid")
        case .faceID: ("lock.owner.faceID", "settings.biometrics", "faceid")
        case .none, .other: ("lock.owner.other", "settings.biometrics.other", "person.badge.key")
        }
    }

    static func unlock(_ step: OwnerStep) -> LocalizedStringKey {
        step == .biometrics ? biometrics.unlock : "lock.owner.device"
    }

    static func setting(_ step: OwnerStep) -> LocalizedStringKey {
        step == .biometrics ? biometrics.setting : "settings.device"
    }

    static func symbol(_ step: OwnerStep) -> String { step == .biometrics ? biometrics.symbol : "key.fill" }

    nonisolated static func key(_ obstacle: OwnerObstacle) -> LocalizedStringKey {
        switch obstacle {
        case .missing: "problem.owner.missing"
        case .notEnrolled: "problem.owner.notEnrolled"
        case .lockedOut: "problem.owner.lockedOut"
        case .busy: "problem.owner.busy"
        case .denied: "problem.owner.denied"
        }
    }

    nonisolated static func key(_ reason: PasscodeReason) -> LocalizedStringKey {
        switch reason {
        case .start: "problem.passcode.start"
        case .nonMatches: "problem.passcode.nonMatches"
        case .enrollmentChanged: "problem.passcode.enrollmentChanged"
        case .rules: "problem.passcode.rules"
        }
    }
}

/// What this device recognises its owner by, for words and pictures. The system is asked once, and not on the main
/// thread: a view's body is evaluated often, and each question makes a context.
@MainActor @Observable
final class Biometry {
    static let current = Biometry()

    /// Nothing particular, until the system has answered.
    private(set) var kind = BiometryKind.none
    @ObservationIgnored private var isAsked = false

    /// Asks the system, the first time.
    func look() async {
        guard !isAsked else { return }
        isAsked = true
        kind = await Biometry.ask()
    }

    @concurrent private nonisolated static func ask() async -> BiometryKind { BiometryKind.current }
}
#endif
