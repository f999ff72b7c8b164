extension VaultError {
    /// The kind of failure, for programs. An open set: later versions may add codes.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// A stable word, also used in JSON output.
        public let description: String

        package init(_ kind: Kind) { description = kind.rawValue }

        /// A code as another process of Holdfast sent it.
        package init(word: String) { description = word }

        /// The code as one of a closed set, for a table that the compiler checks; nil for a word that this version does
        /// not know.
        package var kind: Kind? { Kind(rawValue: description) }
    }
}

extension VaultError.Code {
    /// Every code of this version. A user interface has one table over them: a code without advice does not compile.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        case noVault = "noVault", noBackup = "noBackup", otherVault = "otherVault", exists = "exists"
        case wrongPasscode = "wrongPasscode", wrongPhrase = "wrongPhrase", malformedPhrase = "malformedPhrase"
        case noRecoveryPhrase = "noRecoveryPhrase", noPIN = "noPIN", noPasscode = "noPasscode", lastWayIn = "lastWayIn"
        case delayed = "delayed", attemptsExhausted = "attemptsExhausted", noWayLeft = "noWayLeft", wiped = "wiped"
        case passcodeNeeded = "passcodeNeeded", notPending = "notPending", receiptMismatch = "receiptMismatch"
        case rollbackSuspected = "rollbackSuspected", hardwareUnavailable = "hardwareUnavailable"
        case hardwareDestroyed = "hardwareDestroyed", hardwareFull = "hardwareFull"
        case hardwareUnclaimed = "hardwareUnclaimed"
        case locked = "locked", keysChanged = "keysChanged", keysWornOut = "keysWornOut", proofExpired = "proofExpired"
        case damaged = "damaged", hardLinked = "hardLinked", newerVersion = "newerVersion"
        case recordNotFound = "recordNotFound", recordExists = "recordExists", invalidName = "invalidName"
        case reservedCollection = "reservedCollection", invalidPasscode = "invalidPasscode"
        case assuranceTooLow = "assuranceTooLow", invalidPolicy = "invalidPolicy", stepNotInPolicy = "stepNotInPolicy"
        case tooLarge = "tooLarge", isItem = "isItem", invalidItem = "invalidItem"
        case readOnly = "readOnly", diskFull = "diskFull", permissionDenied = "permissionDenied"
        case quotaExceeded = "quotaExceeded", unconfirmed = "unconfirmed", noPublicKey = "noPublicKey"
        case busy = "busy", inputOutput = "inputOutput", outOfMemory = "outOfMemory", cryptography = "cryptography"
        case unexpected = "unexpected"
        case shareUnavailable = "shareUnavailable", shareLost = "shareLost", vaultMissing = "vaultMissing"
        case levelLowered = "levelLowered", levelContradicted = "levelContradicted", proofTooWeak = "proofTooWeak"
        case stillMoving = "stillMoving", movedElsewhere = "movedElsewhere", notRecoverable = "notRecoverable"
        case notConfirmed = "notConfirmed", cancelled = "cancelled", timedOut = "timedOut"
        case ownerUnavailable = "ownerUnavailable", ownerNotEnrolled = "ownerNotEnrolled"
        case ownerLockedOut = "ownerLockedOut", ownerBusy = "ownerBusy"
        case agentUnavailable = "agentUnavailable", agentRunning = "agentRunning", agentProtocol = "agentProtocol"
        case notAllowed = "notAllowed"
    }

    /// There is no vault at this place, or its creation was never finished. An app can create one.
    package static let noVault = VaultError.Code(.noVault)
    /// There is no backup in this folder. Nothing was written; an app can ask for another folder.
    package static let noBackup = VaultError.Code(.noBackup)
    /// An attempt was burned for another vault than the one that it was used for. Nothing was checked; burn one for
    /// this vault.
    package static let otherVault = VaultError.Code(.otherVault)
    /// Something is at this place already; nothing was written.
    package static let exists = VaultError.Code(.exists)
    /// The passcode, or the PIN, was checked and is wrong. ``VaultError/remainingAttempts`` tells how many attempts are
    /// left.
    public static let wrongPasscode = VaultError.Code(.wrongPasscode)
    /// The recovery phrase was checked and is wrong. Nobody counts it; ask for it again.
    package static let wrongPhrase = VaultError.Code(.wrongPhrase)
    /// What was entered is not a recovery phrase: a word is unknown, missing or exchanged. Nothing was checked.
    package static let malformedPhrase = VaultError.Code(.malformedPhrase)
    /// The vault has no recovery phrase: its owner had it removed. The passcode opens the vault.
    package static let noRecoveryPhrase = VaultError.Code(.noRecoveryPhrase)
    /// The vault has no PIN under a chip. The passcode opens the vault.
    package static let noPIN = VaultError.Code(.noPIN)
    /// After this change a lost passcode or a broken chip would lose the vault, and the caller did not insist on the
    /// change. Nothing was changed; ask the user, then insist.
    package static let lastWayIn = VaultError.Code(.lastWayIn)
    /// A delay after failed attempts is running; nothing was checked. ``VaultError/retryAfter`` tells how long it runs.
    public static let delayed = VaultError.Code(.delayed)
    /// No passcode attempt is left. The recovery phrase opens the vault and makes the attempts full again.
    package static let attemptsExhausted = VaultError.Code(.attemptsExhausted)
    /// No passcode attempt is left and the vault has no recovery phrase: nothing opens it any more. A backup may still
    /// open.
    package static let noWayLeft = VaultError.Code(.noWayLeft)
    /// The vault was destroyed, or is being destroyed; nothing opens it any more.
    public static let wiped = VaultError.Code(.wiped)
    /// The system's confirmation opens nothing any more; ask for the vault's own passcode.
    public static let passcodeNeeded = VaultError.Code(.passcodeNeeded)
    /// A change that was to be confirmed or finished is not under way; begin it again.
    package static let notPending = VaultError.Code(.notPending)
    /// A wipe's receipt was signed with another key than the given one; do not trust it.
    package static let receiptMismatch = VaultError.Code(.receiptMismatch)
    /// The home is older than what a key store remembers of it, and only the recovery phrase opens it; or its header
    /// and its records are of different times, and nothing opens it until both are of one. Put the newer state back.
    public static let rollbackSuspected = VaultError.Code(.rollbackSuspected)
    /// A key store or chip that the operation needs is missing or does not answer; nothing was checked. Try again
    /// later, or use another way to unlock: the passcode in place of a PIN, the recovery phrase in place of the
    /// passcode.
    public static let hardwareUnavailable = VaultError.Code(.hardwareUnavailable)
    /// The chip never gives its share again. The passcode opens the vault if the share was the PIN's; otherwise the
    /// recovery phrase does.
    package static let hardwareDestroyed = VaultError.Code(.hardwareDestroyed)
    /// The chip still holds so many old shares that another one cannot be noted. Nothing was changed; unlock where the
    /// chip answers, which removes them.
    package static let hardwareFull = VaultError.Code(.hardwareFull)
    /// A chip or key store holds shares that the folder is not known to own. Nothing was changed; ask the user whether
    /// the folder is the vault itself or a copy (`AppLock.claimHardware`, `AppLock.leaveHardware`).
    public static let hardwareUnclaimed = VaultError.Code(.hardwareUnclaimed)
    /// The operation needs an unlocked vault.
    public static let locked = VaultError.Code(.locked)
    /// Another process changed the vault's keys; lock the vault and unlock it again.
    package static let keysChanged = VaultError.Code(.keysChanged)
    /// The keys have encrypted as many values as they safely can. Change the keys, then write again.
    package static let keysWornOut = VaultError.Code(.keysWornOut)
    /// Bytes on disk are not what was written. Where unlocking says so, the recovery phrase may still open the vault;
    /// otherwise verify the vault to see what can be read.
    package static let damaged = VaultError.Code(.damaged)
    /// A file of the vault has a second name, a hard link, through which another program could change it; nothing was
    /// read or written. Delete the other name, or put a copy of the file in its place.
    package static let hardLinked = VaultError.Code(.hardLinked)
    /// Written by a newer version, or by a build from before the first release; the reason says which. Open it with the
    /// version that wrote it.
    package static let newerVersion = VaultError.Code(.newerVersion)
    /// No record of this name exists.
    public static let recordNotFound = VaultError.Code(.recordNotFound)
    /// A record of this name exists and the caller did not ask to replace it.
    package static let recordExists = VaultError.Code(.recordExists)
    /// A record or collection name is empty or too long.
    package static let invalidName = VaultError.Code(.invalidName)
    /// A passcode is empty or longer than 1,024 bytes, or a PIN is too short, too long or easily guessed.
    package static let invalidPasscode = VaultError.Code(.invalidPasscode)
    /// The collection needs a stronger way to unlock; ``VaultError/neededAssurance`` tells how strong.
    package static let assuranceTooLow = VaultError.Code(.assuranceTooLow)
    /// Rules of a vault are outside their range; nothing was changed.
    package static let invalidPolicy = VaultError.Code(.invalidPolicy)
    /// The vault's own fallback policy does not name this way to unlock, and nothing adds it there but its owner.
    package static let stepNotInPolicy = VaultError.Code(.stepNotInPolicy)
    /// A value is too large for the call; stream it into a file.
    package static let tooLarge = VaultError.Code(.tooLarge)
    /// The record is an item with fields: it is neither read nor replaced as a plain value.
    public static let isItem = VaultError.Code(.isItem)
    /// An item cannot hold this: a label, a tag or a value is not what it may be, or there are too many. Nothing was
    /// changed.
    package static let invalidItem = VaultError.Code(.invalidItem)
    /// The disk or its file system is read-only.
    package static let readOnly = VaultError.Code(.readOnly)
    /// No space is left on the disk.
    package static let diskFull = VaultError.Code(.diskFull)
    /// The user may not read or write these files.
    package static let permissionDenied = VaultError.Code(.permissionDenied)
    /// The open compartment is full. Unlocking the vault empties it into the inbox.
    package static let quotaExceeded = VaultError.Code(.quotaExceeded)
    /// The record was written while the vault was locked, and its owner has not confirmed it.
    public static let unconfirmed = VaultError.Code(.unconfirmed)
    /// The vault has no public key that a locked vault could be written to with. Unlocking the vault makes one.
    package static let noPublicKey = VaultError.Code(.noPublicKey)
    /// Another process or prompt uses the vault and did not finish in time; try again.
    public static let busy = VaultError.Code(.busy)
    /// Reading or writing failed in another way; the reason has the system's words.
    package static let inputOutput = VaultError.Code(.inputOutput)
    /// Not enough memory, locked or ordinary.
    public static let outOfMemory = VaultError.Code(.outOfMemory)
    /// A cryptographic library refused to work.
    package static let cryptography = VaultError.Code(.cryptography)
    /// Something failed that has no code; the reason names what kind of error it was. Report it.
    package static let unexpected = VaultError.Code(.unexpected)
}

/// Codes of the levels (``VaultLevel``).
extension VaultError.Code {
    /// The key store that has the vault's share cannot be asked now: the device or the keyring is locked, or another
    /// keyring answers. Nothing is lost; try again when it is there.
    public static let shareUnavailable = VaultError.Code(.shareUnavailable)
    /// The key store was asked and no longer has the vault's share. Only a passcode or a recovery phrase opens the
    /// vault.
    public static let shareLost = VaultError.Code(.shareLost)
    /// The key store knows of a vault that is not in its folder. Nothing was created; ask the user where it is, or
    /// start over.
    public static let vaultMissing = VaultError.Code(.vaultMissing)
    /// The vault is another one than the device remembers, or less protected. Ask the user before it is opened.
    public static let levelLowered = VaultError.Code(.levelLowered)
    /// The vault would open without asking, and its rules ask for a lock. Raise its level, or stop asking.
    public static let levelContradicted = VaultError.Code(.levelContradicted)
    /// The vault has no passcode: it opens without asking, with its device's owner, or with its recovery phrase alone.
    /// No attempt was spent, and nothing was changed.
    package static let noPasscode = VaultError.Code(.noPasscode)
    /// The change wants a stronger proof: the passcode, or the device's owner. Nothing was changed.
    package static let proofTooWeak = VaultError.Code(.proofTooWeak)
    /// Records still move to the keys of the change before. Finish that first; nothing was changed.
    public static let stillMoving = VaultError.Code(.stillMoving)
    /// Another process changed the level at the same time, and was first. Open the vault anew; nothing was changed.
    package static let movedElsewhere = VaultError.Code(.movedElsewhere)
    /// The vault has neither a passcode nor a recovery phrase, so nothing would open the copy. Nothing was written.
    package static let notRecoverable = VaultError.Code(.notRecoverable)
}
