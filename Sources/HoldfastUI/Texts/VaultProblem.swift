package import Holdfast
internal import SystemCalls

/// Why something did not happen, as a value that each user interface puts into its own words.
package enum VaultProblem: Sendable, Hashable {
    /// The passcode is wrong; the number of attempts left, nil if they are not counted.
    case wrongPasscode(remaining: Int?)
    /// The PIN is wrong; so many attempts are left.
    case wrongPIN(remaining: Int?)
    /// The recovery phrase is not the vault's.
    case wrongPhrase
    /// What was typed is no recovery phrase; why.
    case unreadablePhrase(RecoveryPhraseError)
    /// Nothing was checked: the next attempt is taken after so many seconds.
    case delayed(seconds: Int)
    /// No passcode is taken any more; the recovery phrase opens.
    case attemptsExhausted
    /// The vault was destroyed.
    case destroyed
    /// The vault is shut.
    case locked
    /// Another process changed the vault's keys; unlock again.
    case keysChanged
    /// Bytes on the disk are not what was written.
    case damaged
    /// Written by a newer Holdfast.
    case newerVersion
    /// There is no vault.
    case noVault
    /// The device remembers a vault that is not in the folder.
    case vaultMissing
    /// The key store that keeps the vault's share cannot be asked now. Nothing was lost.
    case shareUnavailable
    /// What is stored still moves to new keys; the next change waits for that.
    case stillMoving
    /// Something of this name is there already.
    case exists
    /// It is not there any more.
    case notFound
    /// A name is empty, too long, or not text.
    case invalidName
    /// A passcode is empty or too long.
    case invalidPasscode
    /// A new passcode is guessed at once, and the user did not insist on it.
    case weakPasscode
    /// The two passcodes that were typed differ.
    case passcodesDiffer
    /// A PIN is too short, too long, or one that everybody tries first.
    case invalidPIN
    /// The two PINs that were typed differ.
    case pinsDiffer
    /// The PIN opens nothing any more, or there is none; the passcode opens.
    case pinIsOver
    /// The chip that counts the PIN is not responding; the passcode still works.
    case pinUnavailable
    /// Rules are outside what is allowed.
    case invalidRules
    /// This unlock proved too little for the collection.
    case assuranceTooLow
    /// The value is too large to be looked at; it can be saved as a file.
    case tooLarge
    /// The disk is read-only.
    case readOnly
    /// The disk is full.
    case diskFull
    /// The user may not read or write these files.
    case permissionDenied
    /// The file to be read or written could not be; the system's error number.
    case file(errno: Int32)
    /// Another process, or another prompt, has it now.
    case busy
    /// A chip or key store that the vault needs does not answer.
    case hardwareUnavailable
    /// The chip gives its share never again.
    case hardwareDestroyed
    /// A chip or key store holds shares that the folder is not known to own; the user has to say first whether it is
    /// the vault itself or a copy. Nothing was changed.
    case hardwareUnclaimed
    /// The home is older than what the key store remembers.
    case rolledBack
    /// The key store no longer has the share that opens the vault; only a passcode or the recovery phrase opens it.
    case shareLost
    /// The vault is another one than the device remembers, or less protected. The user says whether it is opened.
    case levelLowered
    /// The change wants a stronger proof than was given.
    case proofTooWeak
    /// No memory that is kept out of swap is left.
    case outOfMemory
    /// It was stopped by its owner.
    case cancelled
    /// The change that was to be confirmed is not under way any more.
    case notPending
    /// The check by the system ran, but did not match the device owner.
    case notRecognised
    /// The system's prompt timed out.
    case timedOut
    /// The system cannot ask its owner now.
    case ownerUnavailable(OwnerObstacle)
    /// Only the passcode is taken, although the rules take a finger or an account.
    case passcodeNeeded(PasscodeReason)
    /// No passcode attempt is left, and the vault has no recovery phrase: nothing opens it any more.
    case noWayLeft
    /// The vault has no recovery phrase.
    case noRecoveryPhrase
    /// The vault has no passcode. Nothing was changed.
    case noPasscode
    /// After this change a lost passcode or a broken chip would lose the vault, and nobody insisted on the change.
    case lastWayIn
    /// The keys have encrypted as many values as they safely can.
    case keysWornOut
    /// The proof that the user is present is too old.
    case proofExpired
    /// A file of the vault has a second name, through which another program could change it.
    case hardLinked
    /// The open compartment is full; an unlock empties it.
    case openCompartmentFull
    /// It was written while the vault was locked, and nobody has confirmed it.
    case unconfirmed
    /// It is an item with fields, and no plain value.
    case isItem
    /// Reading or writing failed; the system's words.
    case inputOutput(reason: String)
    /// Something else; the reason in English, for support.
    case other(reason: String)

    /// What an error of the vault means to the person in front of it.
    package init(_ error: VaultError) {
        self = error.code.kind.map { VaultProblem($0, error) } ?? .other(reason: error.reason)
    }

    /// One problem for each code: a code that is missing here does not compile.
    private init(_ code: VaultError.Code.Kind, _ error: VaultError) {
        self =
            switch code {
            case .wrongPasscode: .wrongPasscode(remaining: error.remainingAttempts)
            case .wrongPhrase, .malformedPhrase: .wrongPhrase
            case .noRecoveryPhrase: .noRecoveryPhrase
            case .noPIN: .pinIsOver
            case .lastWayIn: .lastWayIn
            case .delayed: .delayed(seconds: error.retryAfter?.wholeSeconds ?? 0)
            case .attemptsExhausted: .attemptsExhausted
            case .noWayLeft: .noWayLeft
            case .wiped: .destroyed
            case .passcodeNeeded: .passcodeNeeded(.rules)
            case .notPending: .notPending
            case .noVault, .noBackup: .noVault
            case .exists, .recordExists: .exists
            case .rollbackSuspected: .rolledBack
            case .hardwareUnavailable, .hardwareFull: .hardwareUnavailable
            case .hardwareDestroyed: .hardwareDestroyed
            case .hardwareUnclaimed: .hardwareUnclaimed
            case .locked: .locked
            case .keysChanged, .otherVault: .keysChanged
            case .keysWornOut: .keysWornOut
            case .proofExpired: .proofExpired
            case .damaged, .receiptMismatch: .damaged
            case .hardLinked: .hardLinked
            case .newerVersion: .newerVersion
            case .recordNotFound: .notFound
            case .invalidName, .reservedCollection, .invalidItem: .invalidName
            case .invalidPasscode: .invalidPasscode
            case .assuranceTooLow: .assuranceTooLow
            case .invalidPolicy, .stepNotInPolicy: .invalidRules
            case .tooLarge: .tooLarge
            case .isItem: .isItem
            case .readOnly: .readOnly
            case .diskFull: .diskFull
            case .permissionDenied: .permissionDenied
            case .quotaExceeded: .openCompartmentFull
            case .noPublicKey: .locked
            case .unconfirmed: .unconfirmed
            case .busy: .busy
            case .inputOutput: .inputOutput(reason: error.reason)
            case .outOfMemory: .outOfMemory
            case .notConfirmed: .notRecognised
            case .cancelled: .cancelled
            case .timedOut: .timedOut
            case .ownerUnavailable: .ownerUnavailable(.missing)
            case .ownerNotEnrolled: .ownerUnavailable(.notEnrolled)
            case .ownerLockedOut: .ownerUnavailable(.lockedOut)
            case .ownerBusy: .ownerUnavailable(.busy)
            case .shareUnavailable: .shareUnavailable
            case .vaultMissing: .vaultMissing
            case .stillMoving: .stillMoving
            case .movedElsewhere: .keysChanged
            case .notRecoverable: .noRecoveryPhrase
            case .shareLost: .shareLost
            case .levelLowered, .levelContradicted: .levelLowered
            case .proofTooWeak: .proofTooWeak
            case .noPasscode: .noPasscode
            case .cryptography, .unexpected, .agentUnavailable, .agentRunning, .agentProtocol, .notAllowed:
                .other(reason: error.reason)
            }
    }

    /// What cannot be read in a recovery phrase as it was entered; nil if it can be tried.
    init?(ofPhrase text: borrowing SecretBytes) {
        do throws(RecoveryPhraseError) { _ = try RecoveryPhrase(parsing: text) } catch {
            self = .unreadablePhrase(error)
            return
        }
        return nil
    }

    /// As ``init(_:)-(VaultError)``, of an error that answered this secret.
    init(of secret: UnlockSecret, _ error: VaultError) {
        guard secret == .pin else {
            self.init(error)
            return
        }
        switch error.code {
        case .wrongPasscode: self = .wrongPIN(remaining: error.remainingAttempts)
        case .invalidPasscode: self = .invalidPIN
        case .hardwareDestroyed: self = .pinIsOver
        case .hardwareUnavailable: self = .pinUnavailable
        default: self.init(error)
        }
    }

    /// As ``init(_:)-(VaultError)``, for what a closure of ours threw.
    init(any error: any Error) {
        switch error {
        case let error as VaultError: self.init(error)
        case let error as SystemError: self = .file(errno: error.number)
        case is CancellationError: self = .cancelled
        default: self.init(VaultError(any: error))
        }
    }
}

extension Duration {
    /// Seconds, rounded up; 0 for none and for less than none.
    var wholeSeconds: Int {
        let (seconds, attoseconds) = components
        return max(0, Int(clamping: seconds) + (attoseconds > 0 ? 1 : 0))
    }
}
