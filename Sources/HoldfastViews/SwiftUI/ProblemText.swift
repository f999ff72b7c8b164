#if canImport(SwiftUI)
public import HoldfastUI
public import SwiftUI

// What went wrong and what to do about it, in the user's language: English, German or Spanish. For an app whose screens
// are its own and whose sentences need not be.

extension Text {
    init(_ problem: VaultProblem) { self.init(ProblemText.key(problem), bundle: .texts) }
}

extension OwnerUnlockModel {
    /// Why the last prompt did not unlock, or why there is none; nil if there is nothing to say.
    public var problemText: Text? { problem.map { Text($0) } }
}

extension SecuritySettingsModel {
    /// Why the lock cannot be turned on or off here; nil if it can.
    public var lockObstacleText: Text? { lockObstacle.map { Text(OwnerText.key($0), bundle: .texts) } }
}

extension SecuritySettingsModel.Failure {
    /// Why the change was refused.
    @MainActor public var problemText: Text { Text(problem) }
}

extension SelfDestructModel {
    /// Why the last change was refused; nil if it was not.
    public var problemText: Text? { if case .refused(let problem) = outcome { Text(problem) } else { nil } }
}

extension StopModel {
    /// Why the last attempt did not help; nil if there is nothing to say.
    public var problemText: Text? { problem.map { Text($0) } }
}

extension IdentityModel {
    /// Why the last action failed; nil if it did not.
    public var problemText: Text? { (outcome?.problem).map { Text(IdentityText.key($0), bundle: .texts) } }
}

/// What went wrong and what to do about it: one key in `Localizable.strings` for each problem. A problem without a key
/// does not compile.
enum ProblemText {
    static func key(_ problem: VaultProblem) -> LocalizedStringKey {
        switch problem {
        case .delayed(let seconds): "lock.delay \(seconds)"
        case .ownerUnavailable(let obstacle): OwnerText.key(obstacle)
        case .passcodeNeeded(let reason): OwnerText.key(reason)
        case .wrongPasscode: "problem.wrongPasscode"
        case .wrongPIN: "problem.wrongPIN"
        case .pinIsOver: "problem.pinIsOver"
        case .pinUnavailable: "problem.pinUnavailable"
        case .wrongPhrase, .unreadablePhrase: "problem.wrongPhrase"
        case .attemptsExhausted: "problem.attemptsExhausted"
        case .destroyed: "problem.destroyed"
        case .damaged: "problem.damaged"
        case .diskFull: "problem.diskFull"
        case .readOnly, .permissionDenied: "problem.readOnly"
        case .outOfMemory: "problem.outOfMemory"
        case .notRecognised: "problem.owner.notRecognised"
        case .timedOut: "problem.owner.timedOut"
        case .locked: "problem.locked"
        case .keysChanged: "problem.keysChanged"
        case .newerVersion: "problem.newerVersion"
        case .noVault: "problem.noVault"
        case .vaultMissing: "stop.missing.advice"
        case .shareUnavailable: "stop.notNow.advice"
        case .stillMoving: "problem.stillMoving"
        case .exists: "problem.exists"
        case .notFound: "problem.notFound"
        case .invalidName: "problem.invalidName"
        case .invalidPasscode: "problem.invalidPasscode"
        case .weakPasscode: "problem.weakPasscode"
        case .passcodesDiffer: "problem.passcodesDiffer"
        case .invalidPIN: "problem.invalidPIN"
        case .pinsDiffer: "problem.pinsDiffer"
        case .invalidRules: "problem.invalidRules"
        case .assuranceTooLow: "problem.assuranceTooLow"
        case .tooLarge: "problem.tooLarge"
        case .file, .inputOutput: "problem.file"
        case .busy: "problem.busy"
        case .hardwareUnavailable: "problem.hardwareUnavailable"
        case .hardwareDestroyed: "problem.hardwareDestroyed"
        case .hardwareUnclaimed: "problem.hardwareUnclaimed"
        case .rolledBack: "problem.rolledBack"
        case .shareLost: "problem.shareLost"
        case .levelLowered: "problem.levelLowered"
        case .proofTooWeak: "problem.proofTooWeak"
        case .cancelled: "problem.cancelled"
        case .notPending: "problem.notPending"
        case .noWayLeft: "problem.noWayLeft"
        case .noRecoveryPhrase: "problem.noRecoveryPhrase"
        case .noPasscode: "problem.noPasscode"
        case .lastWayIn: "problem.lastWayIn"
        case .keysWornOut: "problem.keysWornOut"
        case .proofExpired: "problem.proofExpired"
        case .hardLinked: "problem.hardLinked"
        case .openCompartmentFull: "problem.openCompartmentFull"
        case .unconfirmed: "problem.unconfirmed"
        case .isItem: "problem.isItem"
        case .other: "problem.other"
        }
    }
}
#endif
