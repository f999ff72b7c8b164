/// Everything that the log knows; each has a code that never changes (``code``).
package enum LogEvent: Sendable, Hashable {
    /// The vault was made, and its log with it. Only ever the first entry of a chain.
    case created
    /// A new chain was begun in a vault that exists.
    case restarted(LogRestart)
    /// The segment before was full.
    case rotated(previous: LogLink)
    /// The files were not as the last writer left them; a new segment was begun.
    case altered(LogAlteration)
    /// So many events could not be written before; the first one then.
    case missed(count: UInt32, since: Int64)

    /// The vault was opened.
    case unlocked(LogUnlock)
    /// The right passcode was given without opening anything.
    case confirmed
    /// Somebody locked the vault. A process that only ends writes nothing.
    case locked(LogLockReason)
    /// So many attempts had been burned and never checked; a success settled them.
    case unsettled(count: UInt32)
    /// What needs no secret, and the run of such events up to it.
    case unproven(UnprovenEvent, LogRun)
    /// The end of a run whose last events have no entry of their own. The entry's time is that of the last of them.
    case runEnded(LogRun)
    /// The way to unlock that was used in place of the first one, and why.
    case fallbackUsed(FallbackStep, FallbackCondition)
    /// Fingers were added or removed, or the key store was reset, since the passcode was given: it is asked again.
    case enrollmentChanged(FallbackStep)

    /// Rules in the header were changed; which.
    case policyChanged(LogPolicyFields)
    case passcodeChanged
    /// New keys; the epoch that began.
    case rekeyed(epoch: UInt32)
    /// A new passcode by the recovery phrase.
    case recovered(headerWasAltered: Bool)
    /// The vault was given a recovery phrase, or its phrase was taken away.
    case recoveryPhraseSet(isThere: Bool)
    /// The vault was given a PIN under the chip, or its PIN was taken away.
    case pinSet(isThere: Bool)

    case selfDestruct(LogSelfDestruct)
    /// Whether the owner asked for it; else the limit was reached.
    case wipeBegun(isDeliberate: Bool)
    /// A device of the identity; 32 bytes that name it.
    case device(LogDeviceChange, digest: [UInt8])
    /// The identity; 32 bytes that name it.
    case identity(LogIdentityChange, digest: [UInt8])
    /// So many records came out of the open compartment.
    case inboxMigrated(count: UInt32)
    /// A recovery drill.
    case drill(passed: Bool)
}

/// Why and behind what a new chain begins.
package struct LogRestart: Sendable, Hashable {
    package enum Reason: UInt8, Sendable, Hashable {
        /// There was no log: a vault from before there were logs, or somebody took it away.
        case nothingFound = 1
        /// There was a log, but its state was lost or damaged.
        case stateLost = 2
        /// This home is a backup.
        case backup = 3
        /// This home was restored from a backup.
        case restored = 4
        /// The vault was given new keys, the log's among them.
        case newKeys = 5
    }

    package let reason: Reason
    /// The segment that is kept as the previous one; nil when nothing was there to keep.
    package let previous: LogLink?
    /// The index behind the last entry that it had.
    package let found: UInt64
    /// What the attempt ledger knew at that time: wrong passcodes, and attempts never checked.
    package let refused: UInt32
    package let unsettled: UInt32
    /// BLAKE3 of the previous segment up to its last entry, 32 bytes: with new keys only, since whoever has the old ones
    /// could write another past. Zeros else.
    package let digest: [UInt8]

    package static let noDigest = [UInt8](repeating: 0, count: 32)

    package init(
        reason: Reason, previous: LogLink?, found: UInt64, refused: UInt32, unsettled: UInt32,
        digest: [UInt8] = LogRestart.noDigest
    ) {
        self.reason = reason
        self.previous = previous
        self.found = found
        self.refused = refused
        self.unsettled = unsettled
        self.digest = digest
    }
}

/// What was not as the last writer left it.
package struct LogAlteration: Sendable, Hashable {
    package enum Kind: UInt8, Sendable, Hashable {
        /// The file with the newest entries was gone.
        case missing = 1
        /// It was another file, or its front was changed.
        case replaced = 2
        /// It ended before the newest entry.
        case cut = 3
        /// Its newest entry was changed.
        case changed = 4
        /// Something stood behind its newest entry.
        case extended = 5
        /// The state was older than the log; nothing was lost.
        case stateBehind = 6
        /// The public key in the state was not the vault's: what was written since somebody put it there cannot be read.
        case keyReplaced = 7
    }

    package let kind: Kind
    /// The segment that was set aside, where its front could be read.
    package let previous: LogLink?
    /// The entry where it was noticed.
    package let position: UInt64

    package init(kind: Kind, previous: LogLink?, position: UInt64) {
        self.kind = kind
        self.previous = previous
        self.position = position
    }
}

/// How a vault was opened, and what the attempt ledger had counted since the success before.
package struct LogUnlock: Sendable, Hashable {
    package enum Method: UInt8, Sendable, Hashable {
        case passcode = 1
        case recoveryPhrase = 2
        case deviceOwner = 3
        case hardware = 4
        case biometrics = 5
        case devicePasscode = 6
    }

    package let method: Method
    package let refused: UInt32

    package init(method: Method, refused: UInt32) {
        self.method = method
        self.refused = refused
    }
}

/// Why a vault was locked.
public enum LogLockReason: UInt8, Sendable, Hashable, CaseIterable {
    /// Somebody asked for it.
    case requested = 1
    /// Not used for a while.
    case idle = 2
    /// The time set by the rules ran out.
    case timeout = 3
    /// The app left the foreground.
    case background = 4
    /// The system locked its screen.
    case system = 5
    /// The machine went to sleep.
    case suspend = 6
    /// The process that held it ended in order.
    case ended = 7
    /// A wipe began.
    case wipe = 8
    /// Another user of the machine came to the front.
    case userSwitch = 9
    /// The lid was closed.
    case lidClosed = 10
    /// The window was minimised.
    case minimised = 11
    /// The owner pulled the emergency brake.
    case panic = 12
    /// The clock was that of another boot, or went back.
    case clock = 13
}

/// Rules of the header, by bit.
package struct LogPolicyFields: OptionSet, Sendable, Hashable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    package static let attemptLimit = LogPolicyFields(rawValue: 1)
    package static let delays = LogPolicyFields(rawValue: 1 << 1)
    package static let selfDestruct = LogPolicyFields(rawValue: 1 << 2)
    package static let lockTiming = LogPolicyFields(rawValue: 1 << 3)
    package static let collectionMinima = LogPolicyFields(rawValue: 1 << 4)
    package static let padlock = LogPolicyFields(rawValue: 1 << 5)
    package static let useFaceID = LogPolicyFields(rawValue: 1 << 6)
    package static let biometricFailures = LogPolicyFields(rawValue: 1 << 7)
    package static let countdown = LogPolicyFields(rawValue: 1 << 8)
    package static let fallback = LogPolicyFields(rawValue: 1 << 9)
    static let known = LogPolicyFields(rawValue: 1 << 10 - 1)

    /// The settings keys, in the order of their bits.
    package static let names = [
        "attemptLimit", "delays", "selfDestruct", "lockTiming", "collectionMinima", "padlock", "useFaceID",
        "biometricFailures", "countdown", "fallback",
    ]

    package var names: [String] {
        LogPolicyFields.names.enumerated().filter { rawValue & 1 << UInt32($0.offset) != 0 }.map(\.element)
    }

    /// Which rules differ.
    package init(from old: VaultPolicy, to new: VaultPolicy) {
        self = []
        if old.attemptLimit != new.attemptLimit { insert(.attemptLimit) }
        if old.delays != new.delays { insert(.delays) }
        if old.selfDestruct != new.selfDestruct { insert(.selfDestruct) }
        if old.lockTiming != new.lockTiming { insert(.lockTiming) }
        if old.collectionMinima != new.collectionMinima { insert(.collectionMinima) }
        if old.isLockEnabled != new.isLockEnabled { insert(.padlock) }
        if old.usesBiometrics != new.usesBiometrics { insert(.useFaceID) }
        if old.countsBiometricFailures != new.countsBiometricFailures { insert(.biometricFailures) }
        if old.selfDestructCountdown != new.selfDestructCountdown { insert(.countdown) }
        if old.fallback != new.fallback { insert(.fallback) }
    }
}

/// A change of self-destruct, by its code.
package enum LogSelfDestruct: UInt8, Sendable, Hashable, CaseIterable {
    /// The countdown to enabling it began.
    case armed = 80
    case enabled = 81
    /// A countdown was cancelled, or its process ended.
    case cancelled = 82
    case disabled = 83
}

/// A change of the identity's devices, by its code.
package enum LogDeviceChange: UInt8, Sendable, Hashable, CaseIterable {
    case linked = 96
    case unlinked = 97
}

/// A change of the identity, by its code.
package enum LogIdentityChange: UInt8, Sendable, Hashable, CaseIterable {
    case created = 98
    case rotated = 99
    case recovered = 100
    case deleted = 101
}
