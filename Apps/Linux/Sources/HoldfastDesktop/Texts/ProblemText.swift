import CAdw
import GtkKit
import Holdfast
import HoldfastUI

/// What went wrong, in the user's words: what happened, and then what ``AdviceText`` says to do.
enum ProblemText {
    static func of(_ problem: VaultProblem) -> String {
        [what(problem), AdviceText.on(problem)].compactMap(\.self).joined(separator: " ")
    }

    private static func what(_ problem: VaultProblem) -> String {
        switch problem {
        case .wrongPasscode: tr("That passcode is not right.")
        case .wrongPIN: tr("That PIN is not right.")
        case .wrongPhrase: tr("These are not the words of this vault.")
        case .unreadablePhrase(let error): of(error)
        case .delayed(let seconds): LockText.delay(seconds)
        case .attemptsExhausted: tr("No attempt is left. Only the recovery phrase opens the vault now.")
        case .destroyed: tr("This vault was destroyed.")
        case .locked: tr("The vault is locked.")
        case .keysChanged: tr("Another program changed the keys of this vault. Unlock it again.")
        case .damaged: tr("Something on the disk is not as it was written.")
        case .newerVersion: tr("A newer Holdfast wrote this vault. Use that one.")
        case .noVault: tr("There is no vault here.")
        case .exists: tr("Something of this name is there already.")
        case .notFound: tr("It is not there any more.")
        case .invalidName: tr("Give it a name that is not too long.")
        case .invalidPasscode: tr("A passcode has at least one character, and at most 1,024 bytes.")
        case .passcodesDiffer: tr("The two passcodes are not the same.")
        case .invalidPIN: tr("A PIN has 4 to 64 characters, and is none like 0000, 1234 or 4321.")
        case .pinsDiffer: tr("The two PINs are not the same.")
        case .pinIsOver: tr("The PIN opens nothing any more. Use the passcode.")
        case .pinUnavailable: tr("The security chip does not answer for the PIN now. Use the passcode.")
        case .invalidRules: tr("These rules are outside what is allowed.")
        case .assuranceTooLow: tr("This way to unlock is not strong enough for that collection.")
        case .tooLarge: tr("It is too large to be shown. Save it as a file.")
        case .readOnly: tr("The disk cannot be written.")
        case .diskFull: tr("The disk is full.")
        case .permissionDenied: tr("You may not read or write these files.")
        case .file(let number): String(cString: strerror(number))
        case .busy: tr("Something else is using the vault. Try again.")
        case .hardwareUnavailable: tr("The security chip of this machine does not answer.")
        case .hardwareDestroyed: tr("The security chip does not give its key any more. Use the recovery phrase.")
        case .hardwareUnclaimed:
            tr(
                "Nothing was changed. The security chip holds keys for this vault that another folder may own. If this is the vault itself, run “holdfast hardware claim” in a terminal; if it is a copy, “holdfast hardware leave”."
            )
        case .rolledBack: tr("This vault is older than the one this machine knows. Use the recovery phrase.")
        case .outOfMemory: tr("There is not enough protected memory. Close other programs, or raise the limit.")
        case .cancelled: tr("Stopped.")
        case .notPending: tr("That change is not waiting any more. Begin again.")
        case .notRecognised: tr("You were not recognised. Try again, or use the passcode.")
        case .timedOut: tr("Nobody came in time.")
        case .ownerUnavailable(let obstacle): OwnerText.of(obstacle)
        case .passcodeNeeded(let reason): OwnerText.of(reason)
        case .noWayLeft: tr("No attempt is left, and there is no recovery phrase. Nothing opens this vault any more.")
        case .noRecoveryPhrase: tr("This vault has no recovery phrase.")
        case .lastWayIn: tr("Without a recovery phrase, this could lose the vault.")
        case .keysWornOut: tr("The keys of this vault have encrypted as much as they may.")
        case .proofExpired: tr("More than a minute went by since the passcode was given. Try again.")
        case .hardLinked: tr("A file of this vault has a second name, through which another program could change it.")
        case .openCompartmentFull: tr("There is no room for more items while the vault is locked.")
        case .unconfirmed: tr("This was written while the vault was locked, and nobody has confirmed it.")
        case .inputOutput(let reason): tr("Reading or writing failed: %s", reason)
        case .other(let reason): reason
        }
    }

    private static func of(_ error: RecoveryPhraseError) -> String {
        switch error {
        case .wrongWordCount(let count):
            trn("A recovery phrase has 24 words; this is %d.", "A recovery phrase has 24 words; these are %d.", count)
        case .unknownWord(let position): tr("Word %s is none of the list. Compare it with the sheet.", String(position))
        case .checksumMismatch: tr("A word is another one than on the sheet, or two are exchanged.")
        case .notText, .tooLong, .invalidEntropySize: tr("That is no recovery phrase.")
        case .memory: of(VaultProblem.outOfMemory)
        }
    }
}
