internal import BetterAuth
internal import Holdfast

/// What a person at a command line can do about an error. A library says what is wrong and never what to type; these
/// are the command's own words, one for each code. A code without advice does not compile.
///
/// Commands are written with `holdfast` in front: a test looks every one of them up in the command table.
enum Advice {
    /// Follows the reason behind a semicolon; nil where there is nothing to do.
    static func on(_ code: VaultError.Code.Kind) -> String? {
        switch code {
        case .noVault: "create one with holdfast init, or say where it is with --home"
        case .noBackup: "name a folder that has a backup of a vault"
        case .exists: "name another folder with --home"
        case .wrongPasscode, .delayed, .attemptsExhausted: recover
        case .noWayLeft: "if you have a backup from before, \(restore)"
        case .wrongPhrase, .malformedPhrase: "compare the words with your sheet, and use the vault's sheet"
        case .noRecoveryPhrase: "holdfast enroll phrase issues one"
        case .noPIN: "holdfast enroll pin sets one, with the passcode"
        case .noPasscode:
            "holdfast open-without-asking off sets one where the vault opens without asking, else holdfast recover"
        case .lastWayIn: "holdfast enroll phrase issues a recovery phrase; --insist does without"
        case .wiped: "holdfast receipt verify shows what was erased"
        case .passcodeNeeded: "holdfast unlock --passcode asks for the passcode"
        case .notPending: "holdfast status --long shows what is in effect"
        case .receiptMismatch:
            "compare the key with the one that you wrote down; holdfast wipe or holdfast self-destruct enable printed it"
        case .rollbackSuspected: putBack
        case .hardwareUnavailable:
            "holdfast doctor shows what is wrong; in place of a PIN use the passcode, in place of the passcode holdfast "
                + "recover with the recovery phrase"
        case .hardwareDestroyed:
            "in place of a PIN use the passcode, and holdfast enroll pin sets a new one; in place of the passcode use "
                + "holdfast recover with the recovery phrase"
        case .hardwareFull: "holdfast doctor shows whether the chip answers; when it does, holdfast unlock removes them"
        case .hardwareUnclaimed:
            "say which it is: holdfast hardware claim for the vault itself, holdfast hardware leave for a copy"
        case .locked: "holdfast unlock opens it; what was written meanwhile is then in holdfast inbox list"
        case .keysChanged, .otherVault: "run the command again"
        case .keysWornOut: "holdfast passcode change --rekey gives the vault new keys"
        case .proofExpired: "run the command again, and enter the passcode within a minute"
        case .damaged:
            "holdfast verify shows what can be read; if the vault does not open, holdfast recover may, with the recovery "
                + "phrase, and \(restore)"
        case .hardLinked:
            "delete the other name, or put a copy of the file in its place; holdfast recover opens meanwhile"
        case .newerVersion: "open it with the version of Holdfast that wrote it"
        case .recordNotFound: "holdfast list shows what there is"
        case .recordExists: "use --replace to replace it"
        case .invalidName, .reservedCollection: "choose another name"
        case .invalidPasscode: "choose another one"
        case .assuranceTooLow:
            "holdfast status --long shows what each way to unlock proves; unlock with a stronger one, or lower the minimum "
                + "with holdfast lock-policy set minimum.COLLECTION=none"
        case .invalidPolicy: "holdfast lock-policy show prints the rules with the values that are allowed"
        case .stepNotInPolicy: "add it with holdfast lock-policy set fallback=@FILE"
        case .isItem: "holdfast show NAME -f FIELD reads a field of it; for a plain value choose another name"
        case .tooLarge: "store it with holdfast put NAME, from a file or a pipe, without --open"
        case .readOnly: "mount the disk for writing; --phrase opens the vault for reading"
        case .diskFull: "free some space and run the command again"
        case .permissionDenied: "run the command as the user that the files belong to"
        case .quotaExceeded: "holdfast unlock empties it into the inbox"
        case .unconfirmed: "confirm it with holdfast inbox accept NAME"
        case .noPublicKey: "holdfast unlock makes one; for a vault of an earlier version, holdfast passcode change does"
        case .busy: "try again"
        case .inputOutput: "look at the disk and the system's log; holdfast verify shows whether the vault is intact"
        case .outOfMemory: "close other programs, or raise the limit (ulimit -l)"
        case .cryptography: "install the cryptographic libraries again, and run holdfast doctor"
        case .unexpected: "run holdfast doctor, and report this error"
        case .notConfirmed: "try again, or use the passcode: holdfast unlock --passcode"
        // Its reason says what an item, a key or a question must be.
        case .cancelled, .invalidItem: nil
        case .timedOut: "run the command again"
        case .ownerUnavailable: "holdfast doctor shows what is missing"
        case .ownerNotEnrolled: "holdfast doctor shows how to set it up"
        case .ownerLockedOut: "wait, or use the passcode: holdfast unlock --passcode"
        case .ownerBusy: "close the program that uses the sensor, or use the passcode: holdfast unlock --passcode"
        case .shareUnavailable: "unlock the keyring or wait for the chip, then try again; holdfast doctor shows which"
        case .shareLost:
            "holdfast status shows what else opens it; without a passcode or a recovery phrase only a backup is left"
        case .vaultMissing: "say where it is with --home"
        case .levelLowered: "holdfast status shows what is there; open it only if you put it there"
        case .levelContradicted:
            "holdfast open-without-asking off sets a passcode, and holdfast open-without-asking on asks for nothing"
        case .proofTooWeak: "run the command again with the passcode"
        case .stillMoving: "holdfast verify shows what is left; try again later"
        case .movedElsewhere: "run the command again"
        case .notRecoverable: "holdfast enroll phrase issues a recovery phrase"
        case .agentUnavailable: "try again; holdfast status shows the agent's process, which can be ended"
        case .agentRunning:
            "set XDG_RUNTIME_DIR as it was when the agent was started, or end the process \"holdfast agent\""
        case .notAllowed: "run the command again and allow it, on a terminal or with a pinentry program installed"
        case .agentProtocol: "holdfast lock --shut-down ends an agent of another version"
        }
    }

    /// The same where it depends on what opens the vault; nil where it does not.
    /// - Parameter slots: By the header that is there.
    static func on(_ code: VaultError.Code.Kind, whereOpenBy slots: [SlotKind]) -> String? {
        let (hasPasscode, hasPhrase) = (slots.contains(.passcode), slots.contains(.recoveryPhrase))
        switch code {
        case .rollbackSuspected where hasPhrase: return "\(putBack); \(recover)"
        case .shareLost:
            let ways = [
                hasPasscode ? "holdfast unlock --passcode opens it with the passcode" : nil,
                hasPhrase ? "holdfast recover opens it with the recovery phrase and sets a passcode" : nil,
            ].compactMap(\.self)
            return ways.isEmpty
                ? "it has no passcode and no recovery phrase, so only a backup is left: \(restore)"
                : ways.joined(separator: "; ")
        default: return nil
        }
    }

    /// As ``on(_:)-(VaultError.Code.Kind)``, for the identity.
    static func on(_ code: IdentityError.Code.Kind) -> String? {
        switch code {
        case .noAccount:
            "create one with holdfast identity create, take yours back with holdfast identity recover IDENTITY, or "
                + "join another device with holdfast identity link IDENTITY"
        case .accountExists: "holdfast identity status shows it; holdfast identity erase forgets it on this device"
        case .noSession: "holdfast identity session open opens one"
        case .refused: "holdfast identity status shows what this device knows of the identity"
        case .unreachable: "check the address and the network, and try again"
        case .notTheServer: "check the address, and any proxy on the way"
        case .invalidReply: "check the address, and try again later"
        case .unknownServerKey:
            "check the address; if the server's operator publishes a new key, name it with holdfast identity trust"
        case .undecided: "run holdfast identity rotate when the server can be reached: it finds out"
        case .chainUnknown:
            "holdfast identity recover IDENTITY takes it back; if you meant to leave, holdfast identity erase forgets it "
                + "on this device"
        case .keyUnavailable: "holdfast doctor shows whether the chip answers"
        case .keysLost: "holdfast identity recover IDENTITY takes it back with its recovery phrase"
        case .locked: "holdfast unlock opens the vault"
        case .storage: "holdfast verify shows whether the vault is intact"
        case .damaged: "\(restore); holdfast identity recover IDENTITY makes the identity anew"
        case .newerVersion: "use the version of Holdfast that stored it"
        case .tooLarge: "holdfast identity status shows what waits for the server"
        case .invalidContainer: "holdfast identity link IDENTITY makes one on the device that joins"
        case .wrongPhrase: "compare the words with your sheet, and use the identity's sheet"
        case .invalidAddress: "an address looks like https://example.org; --plain-http allows http to another machine"
        case .invalidData: "check the JSON that was to be sent"
        case .cryptography: "install the cryptographic libraries again, and run holdfast doctor"
        case .outOfMemory: on(VaultError.Code.Kind.outOfMemory)
        case .unexpected: on(VaultError.Code.Kind.unexpected)
        case .proofExpired: on(VaultError.Code.Kind.proofExpired)
        case .otherServer: "holdfast identity trust changes the server; it asks for the passcode"
        }
    }

    /// What to do before a key store can be asked again.
    static func on(_ wait: ShareWait) -> String {
        switch wait {
        case .unlocked: "unlock the keyring, then try again"
        case .otherKeyring(let kept, _): "start \(kept) again, then try again"
        case .free: "try again"
        case .present: "holdfast doctor shows what is missing"
        case .room, .permitted: "holdfast doctor shows what the chip refuses"
        case .devicePasscode: "set a password for your account, then try again"
        }
    }

    /// Not over a vault that is there, in whatever state.
    private static let restore = "holdfast restore FOLDER --home NEW makes a vault from a backup"
    private static let putBack = "put the newer header back, or \(restore)"
    private static let recover = "if you have the recovery phrase, holdfast recover opens the vault with it"
}
