import GtkKit
import HoldfastUI

/// What to do about a problem, with the buttons and pages of this app. A problem without a line here does not compile.
enum AdviceText {
    /// Nil where what happened says it, or nothing can be done.
    static func on(_ problem: VaultProblem) -> String? {
        switch problem {
        case .wrongPhrase: tr("Compare them with your sheet.")
        case .locked: tr("Unlock it first.")
        case .damaged: tr("Look at the doctor in the settings, or restore a backup.")
        case .exists: tr("Choose another name.")
        case .notFound: nil
        case .passcodesDiffer, .pinsDiffer: tr("Enter them again.")
        case .invalidPasscode, .invalidPIN: tr("Choose another one.")
        case .weakPasscode: tr("Choose a longer one, or insist on it.")
        case .invalidRules: tr("Change them in the settings.")
        case .assuranceTooLow: tr("Press Lock Now, and unlock with your passcode.")
        case .readOnly, .inputOutput: tr("Check the disk.")
        case .diskFull: tr("Free some space, and try again.")
        case .permissionDenied: tr("Check whom the files of the vault belong to.")
        case .vaultMissing: tr("Put the folder back, or choose another one.")
        case .shareUnavailable: tr("Unlock the keyring, or look at the doctor in the settings.")
        case .hardwareUnavailable: tr("Look at the doctor in the settings, or use the recovery phrase.")
        case .timedOut: tr("Try again, or use the passcode.")
        case .noRecoveryPhrase, .lastWayIn: tr("Write one down: the settings make it.")
        case .noPasscode: tr("Set one in the settings.")
        case .keysWornOut: tr("The command holdfast passcode change --rekey makes new ones.")
        case .hardLinked: tr("Delete the other name, or put a copy of the file in its place.")
        case .openCompartmentFull: tr("Unlock it first.")
        case .hardwareUnclaimed: tr("Say whether this folder is the vault itself or a copy.")
        case .unconfirmed: tr("Press Keep beside it if you know it.")
        case .noWayLeft: tr("If you have a backup from before, restore it.")
        case .file, .other: tr("Look at the doctor in the settings if this stays so.")
        // What happened says it already, or is followed by the reader's or the rules' own words.
        case .wrongPasscode, .wrongPIN, .unreadablePhrase, .delayed, .attemptsExhausted, .keysChanged, .newerVersion,
            .invalidName, .isItem, .pinIsOver, .pinUnavailable, .tooLarge, .busy, .hardwareDestroyed, .rolledBack,
            .shareLost, .levelLowered, .proofTooWeak, .stillMoving,
            .outOfMemory, .notPending, .notRecognised, .ownerUnavailable, .passcodeNeeded, .proofExpired:
            nil
        // Nothing can be done, or the user has just said so.
        case .noVault, .destroyed, .cancelled: nil
        }
    }

    /// What the vault lacks, in one sentence.
    static func of(_ advice: ProtectionAdvice) -> String {
        switch advice {
        case .passcode: tr("Anyone who uses your session can open this vault.")
        case .phrase: tr("Without a recovery phrase, a lost passcode or computer loses everything in this vault.")
        case .backup: tr("There is no backup of this vault: if this disk fails, everything in it is lost.")
        }
    }

    /// What begins what mends it.
    static func button(of advice: ProtectionAdvice) -> String {
        switch advice {
        case .passcode: tr("Set a Passcode…")
        case .phrase: tr("New Phrase…")
        case .backup: tr("Back Up…")
        }
    }
}
