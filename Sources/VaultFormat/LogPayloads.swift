/// Why and behind what a new chain begins.
package struct LogRestart: Sendable, Hashable {
    /// Why a chain was begun.
    package enum Reason: UInt8, LogWord, Hashable {
        /// There was no log: the vault is from before logs existed, or the log was removed.
        case nothingFound = 1
        /// There was a log, but its state was lost or damaged.
        case stateLost = 2
        /// This home is a backup.
        case backup = 3
        /// This home was restored from a backup.
        case restored = 4
        /// The vault was given new keys, the log's among them.
        case newKeys = 5

        /// Its stable word.
        package var name: String {
            switch self {
            case .nothingFound: "nothingFound"
            case .stateLost: "stateLost"
            case .backup: "backup"
            case .restored: "restored"
            case .newKeys: "newKeys"
            }
        }
    }

    /// Why.
    package let reason: Reason
    /// The segment that is kept as the previous one; nil when nothing was there to keep.
    package let previous: LogLink?
    /// The index behind the last entry that it had.
    package let found: UInt64
    /// Wrong passcodes that the attempt ledger had counted at that time.
    package let refused: UInt32
    /// Attempts that the ledger had burned and never checked.
    package let unsettled: UInt32
    /// BLAKE3 of the previous segment up to its last entry, 32 bytes: with new keys only, because someone with the old
    /// ones could rewrite the past. Zeros else.
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
    /// What was not as it was.
    package enum Kind: UInt8, LogWord, Hashable {
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
        /// The public key in the state was not the vault's: what was written since it was replaced cannot be read.
        case keyReplaced = 7

        /// Its stable word.
        package var name: String {
            switch self {
            case .missing: "missing"
            case .replaced: "replaced"
            case .cut: "cut"
            case .changed: "changed"
            case .extended: "extended"
            case .stateBehind: "stateBehind"
            case .keyReplaced: "keyReplaced"
            }
        }
    }

    /// What.
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
    /// How.
    package let method: UnlockMethod
    /// Wrong passcodes since the success before.
    package let refused: UInt32

    package init(method: UnlockMethod, refused: UInt32) {
        self.method = method
        self.refused = refused
    }
}

/// Why a vault was locked.
package enum LogLockReason: UInt8, LogWord, Hashable {
    /// It was requested.
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
    /// The user triggered the emergency lock.
    case panic = 12
    /// The clock was that of another boot, or went back.
    case clock = 13

    /// Its stable word.
    package var name: String {
        switch self {
        case .requested: "requested"
        case .idle: "idle"
        case .timeout: "timeout"
        case .background: "background"
        case .system: "system"
        case .suspend: "suspend"
        case .ended: "ended"
        case .wipe: "wipe"
        case .userSwitch: "userSwitch"
        case .lidClosed: "lidClosed"
        case .minimised: "minimised"
        case .panic: "panic"
        case .clock: "clock"
        }
    }
}

/// A rule of the header, by its bit in the log.
package enum LogRule: UInt8, Sendable, Hashable, CaseIterable {
    /// How many attempts there are.
    case attemptLimit = 0
    /// How long to wait between attempts.
    case delays = 1
    /// Whether the vault is destroyed at the limit.
    case selfDestruct = 2
    /// When the vault locks.
    case lockTiming = 3
    /// What collections ask at least.
    case collectionMinima = 4
    /// Whether the app locks.
    case padlock = 5
    /// Whether biometrics are used.
    case useFaceID = 6
    /// Whether a biometric prompt without a match counts.
    case biometricFailures = 7
    /// How long self-destruct counts down before it is on.
    case countdown = 8
    /// Which ways to unlock there are, and in which order.
    case fallback = 9
    /// Whether a passcode that a command asks for may leave the vault open.
    case remember = 10

    /// The key of the setting, a stable word.
    package var name: String {
        switch self {
        case .attemptLimit: "attemptLimit"
        case .delays: "delays"
        case .selfDestruct: "selfDestruct"
        case .lockTiming: "lockTiming"
        case .collectionMinima: "collectionMinima"
        case .padlock: "padlock"
        case .useFaceID: "useFaceID"
        case .biometricFailures: "biometricFailures"
        case .countdown: "countdown"
        case .fallback: "fallback"
        case .remember: "remember"
        }
    }

    fileprivate func differs(_ old: VaultPolicy, _ new: VaultPolicy) -> Bool {
        switch self {
        case .attemptLimit: old.attemptLimit != new.attemptLimit
        case .delays: old.delays != new.delays
        case .selfDestruct: old.selfDestruct != new.selfDestruct
        case .lockTiming: old.lockTiming != new.lockTiming
        case .collectionMinima: old.collectionMinima != new.collectionMinima
        case .padlock: old.isLockEnabled != new.isLockEnabled
        case .useFaceID: old.usesBiometrics != new.usesBiometrics
        case .biometricFailures: old.countsBiometricFailures != new.countsBiometricFailures
        case .countdown: old.selfDestructCountdown != new.selfDestructCountdown
        case .fallback: old.fallback != new.fallback
        case .remember: old.remembersPasscode != new.remembersPasscode
        }
    }
}

/// Rules of the header.
package struct LogRules: Sendable, Hashable, ExpressibleByArrayLiteral {
    /// Which, in the order of their bits.
    package let rules: [LogRule]

    /// Each once.
    package init(_ rules: some Sequence<LogRule>) {
        let rules = Set(rules)
        self.rules = LogRule.allCases.filter(rules.contains)
    }

    /// Each once.
    package init(arrayLiteral rules: LogRule...) { self.init(rules) }

    /// Which rules differ.
    package init(from old: VaultPolicy, to new: VaultPolicy) {
        self.init(LogRule.allCases.filter { $0.differs(old, new) })
    }

    /// One bit for each rule.
    var bits: UInt32 { rules.reduce(0) { $0 | 1 << UInt32($1.rawValue) } }

    init(reading reader: inout ByteReader) throws(FormatError) {
        let bits = try reader.integer(UInt32.self)
        self.init(LogRule.allCases.filter { bits & 1 << UInt32($0.rawValue) != 0 })
        guard self.bits == bits else { throw .invalid(field: "log event") }
    }
}

/// How the key store's word about a vault was not as the vault is.
package enum LogFloor: UInt8, LogWord, Hashable {
    /// It named a higher level.
    case lower = 1
    /// It named another vault.
    case otherVault = 2
    /// It could not be understood: something else lies in its place.
    case unreadable = 3

    /// Its stable word.
    package var name: String {
        switch self {
        case .lower: "lower"
        case .otherVault: "otherVault"
        case .unreadable: "unreadable"
        }
    }
}

/// A change of self-destruct, by its code.
package enum LogSelfDestruct: UInt8, Sendable, Hashable, CaseIterable {
    /// The countdown to enabling it began.
    case armed = 80
    /// It was turned on.
    case enabled = 81
    /// A countdown was cancelled, or its process ended.
    case cancelled = 82
    /// It was turned off.
    case disabled = 83

    /// Its stable word.
    package var name: String {
        switch self {
        case .armed: "selfDestructArmed"
        case .enabled: "selfDestructEnabled"
        case .cancelled: "selfDestructCancelled"
        case .disabled: "selfDestructDisabled"
        }
    }
}

/// A change of the identity's devices, by its code.
package enum LogDeviceChange: UInt8, Sendable, Hashable, CaseIterable {
    /// A device was linked.
    case linked = 96
    /// A device was unlinked.
    case unlinked = 97

    /// Its stable word.
    package var name: String {
        switch self {
        case .linked: "deviceLinked"
        case .unlinked: "deviceUnlinked"
        }
    }
}

/// A change of the identity, by its code.
package enum LogIdentityChange: UInt8, Sendable, Hashable, CaseIterable {
    /// It was created.
    case created = 98
    /// Its keys were changed.
    case rotated = 99
    /// It was recovered.
    case recovered = 100
    /// It was deleted.
    case deleted = 101

    /// Its stable word.
    package var name: String {
        switch self {
        case .created: "identityCreated"
        case .rotated: "identityRotated"
        case .recovered: "identityRecovered"
        case .deleted: "identityDeleted"
        }
    }
}

extension LogRestart {
    init(reading reader: inout ByteReader) throws(FormatError) {
        reason = try reader.word()
        previous = try reader.logLink()
        found = try reader.integer(UInt64.self)
        refused = try reader.integer(UInt32.self)
        unsettled = try reader.integer(UInt32.self)
        digest = try reader.bytes(32)
        guard reason == .newKeys || digest == LogRestart.noDigest else { throw .invalid(field: "log digest") }
    }
}

extension LogAlteration {
    init(reading reader: inout ByteReader) throws(FormatError) {
        kind = try reader.word()
        previous = try reader.logLink()
        position = try reader.integer(UInt64.self)
    }
}

extension LogUnlock {
    init(reading reader: inout ByteReader) throws(FormatError) {
        method = try reader.word()
        refused = try reader.integer(UInt32.self)
    }
}
