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
        case .wrongPasscode: tr("That passcode is wrong.")
        case .wrongPIN: tr("That PIN is wrong.")
        case .wrongPhrase: tr("These are not the words of this vault.")
        case .unreadablePhrase(let error): of(error)
        case .delayed(let seconds): LockText.delay(seconds)
        case .attemptsExhausted: tr("No attempts left. Use the recovery phrase.")
        case .destroyed: tr("This vault was destroyed.")
        case .locked: tr("The vault is locked.")
        case .keysChanged: tr("Another program changed this vault's keys. Unlock it again.")
        case .damaged: tr("Something on the disk is damaged.")
        case .newerVersion: tr("This vault was written by a newer version of Holdfast. Use that version.")
        case .noVault: tr("There is no vault here.")
        case .vaultMissing: tr("This machine remembers a vault that is not in its folder.")
        case .shareUnavailable: tr("The key store that holds this vault's key cannot be asked now. Nothing was lost.")
        case .stillMoving: tr("The vault is still being encrypted anew. Try again in a moment.")
        case .exists: tr("Something with this name already exists.")
        case .notFound: tr("It no longer exists.")
        case .invalidName: tr("Give it a name that is not too long.")
        case .invalidPasscode: tr("A passcode has at least one character and at most 1,024 bytes, and is not the PIN.")
        case .weakPasscode: tr("This passcode is guessed at once.")
        case .passcodesDiffer: tr("The two passcodes differ.")
        case .invalidPIN: tr("A PIN has 4 to 64 characters, and must not be like 0000, 1234 or 4321.")
        case .pinsDiffer: tr("The two PINs differ.")
        case .pinIsOver: tr("The PIN no longer works. Use the passcode.")
        case .pinUnavailable: tr("The security chip is not responding. Use the passcode.")
        case .invalidRules: tr("These rules are outside what is allowed.")
        case .assuranceTooLow: tr("This way to unlock is not strong enough for that collection.")
        case .tooLarge: tr("It is too large to show. Save it as a file.")
        case .readOnly: tr("The disk cannot be written.")
        case .diskFull: tr("The disk is full.")
        case .permissionDenied: tr("You may not read or write these files.")
        case .file(let number): String(cString: strerror(number))
        case .busy: tr("Something else is using the vault. Try again.")
        case .hardwareUnavailable: tr("This machine's security chip is not responding.")
        case .hardwareDestroyed: tr("The security chip no longer releases its key. Use the recovery phrase.")
        case .hardwareUnclaimed:
            tr("The security chip holds keys for this vault that another folder may own.")
        case .rolledBack: tr("This vault is an older copy than the one this machine knows. Use the recovery phrase.")
        case .shareLost:
            tr(
                "This machine no longer has the key that opens this vault. If the vault has a passcode or a recovery phrase, use that; otherwise only a backup is left."
            )
        case .levelLowered:
            tr(
                "This is another vault than this machine remembers, or a less protected one. Open it only if you put it there."
            )
        case .proofTooWeak: tr("A stronger proof is required. Enter the passcode.")
        case .outOfMemory: tr("There is not enough protected memory. Close other programs, or raise the limit.")
        case .cancelled: tr("Stopped.")
        case .notPending: tr("That change is no longer pending. Start again.")
        case .notRecognised: tr("You were not recognised. Try again, or use the passcode.")
        case .timedOut: tr("The prompt timed out.")
        case .ownerUnavailable(let obstacle): OwnerText.of(obstacle)
        case .passcodeNeeded(let reason): OwnerText.of(reason)
        case .noWayLeft: tr("No attempt is left, and there is no recovery phrase. Nothing opens this vault any more.")
        case .noRecoveryPhrase: tr("This vault has no recovery phrase.")
        case .noPasscode: tr("This vault has no passcode.")
        case .lastWayIn: tr("Without a recovery phrase, this could lose the vault.")
        case .keysWornOut: tr("The keys of this vault have encrypted as much as they may.")
        case .proofExpired: tr("More than a minute has passed since you entered the passcode. Try again.")
        case .hardLinked: tr("A file of this vault has a second name, through which another program could change it.")
        case .openCompartmentFull: tr("There is no room for more items while the vault is locked.")
        case .isItem: tr("This is an item with fields, not a plain value.")
        case .unconfirmed: tr("This was written while the vault was locked, and nobody has confirmed it.")
        case .inputOutput(let reason): tr("Reading or writing failed: %s", reason)
        case .other(let reason): reason
        }
    }

    private static func of(_ error: RecoveryPhraseError) -> String {
        switch error {
        case .wrongWordCount(let count):
            trn("A recovery phrase has 24 words; this is %d.", "A recovery phrase has 24 words; these are %d.", count)
        case .unknownWord(let position):
            tr("Word %s is not a recovery word. Check the spelling on your sheet.", String(position))
        case .checksumMismatch: tr("A word differs from the sheet, or two words are swapped.")
        case .notText, .tooLong, .invalidEntropySize: tr("That is not a recovery phrase.")
        case .memory: of(VaultProblem.outOfMemory)
        }
    }
}
