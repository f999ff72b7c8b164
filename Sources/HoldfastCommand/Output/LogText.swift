package import Holdfast

/// Events of the security log in words for people.
package enum LogText {
    package static func of(_ event: SecurityEvent) -> String {
        switch event {
        case .created: "the vault was created"
        case .restarted(let restart): of(restart.reason)
        case .rotated: "a new part of the log begins"
        case .altered(let alteration): of(alteration.kind)
        case .missed(let count, let time):
            "\(Format.count(UInt64(count), "event")) could not be written\(since(time))"
        case .unlocked(let unlock): "unlocked with \(of(unlock.method))\(after(unlock.refused))"
        case .confirmed: "the passcode was checked and correct"
        case .locked(let reason): of(reason)
        case .unsettled(let count): "\(Format.count(UInt64(count), "attempt")) had never been checked"
        case .unproven(let kind, let run): of(kind) + (run.total > 1 ? of(run) : "")
        case .runEnded(let run): "in all" + of(run)
        case .fallbackUsed(let step, let condition):
            "opened by the \(step.entry), because the way before it \(condition.words)"
        case .enrollmentChanged(let step):
            "\(step.fallback.entry): what is enrolled, or the key store, changed; the passcode is asked for"
        case .policyChanged(let rules): "the policy was changed: \(rules.rules.map(\.words).joined(separator: ", "))"
        case .passcodeChanged: "the passcode was changed"
        case .rekeyed: "new keys were made"
        case .recovered(let wasAltered):
            "a new passcode was set with the recovery phrase" + (wasAltered ? "; the header had been changed" : "")
        case .recoveryPhraseSet(true): "a new recovery phrase was issued"
        case .recoveryPhraseSet(false): "the recovery phrase was removed"
        case .pinSet(true): "a PIN was enrolled in the TPM"
        case .pinSet(false): "the PIN was removed"
        case .levelChanged(let from, let to): of(to, after: from)
        case .levelContradicted:
            "the header said both that nobody is asked and that the app lock is on; the vault was not opened"
        case .floorReplaced(.lower, let was):
            "the vault asked for less than the key store expected, which was that it \(of(was)); you confirmed it"
        case .floorReplaced(.otherVault, _): "the key store expected another vault here; you confirmed this one"
        case .floorReplaced(.unreadable, _):
            "what the key store remembered of this vault could not be read; you confirmed this one"
        case .recordsSetAside(let count):
            "\(Format.count(UInt64(count), "entry of the vault", "entries of the vault")) did not fit and were set aside"
        case .selfDestruct(let change): of(change)
        case .wipeBegun(let isDeliberate): isDeliberate ? "a wipe began" : "a wipe began at the limit"
        case .device(.linked, _): "a device was linked"
        case .device(.unlinked, _): "a device was unlinked"
        case .identity(let change, _): of(change)
        case .inboxMigrated(let count):
            "\(Format.count(UInt64(count), "entry of the vault", "entries of the vault")) came out of the open compartment"
        case .drill(let passed): passed ? "a drill was passed" : "a drill failed"
        }
    }

    private static func of(_ level: VaultLevel) -> String {
        switch level {
        case .device: "opens without asking"
        case .owner: "opens for the device's owner"
        case .secret: "opens with a secret of its own"
        }
    }

    private static func of(_ level: VaultLevel, after before: VaultLevel) -> String {
        let now = of(level)
        return level < before ? "lowered: the vault now \(now)" : "raised: the vault now \(now)"
    }

    private static func of(_ reason: LogRestart.Reason) -> String {
        switch reason {
        case .nothingFound: "the log begins here; the vault had none"
        case .stateLost: "the log starts over, because its state was lost"
        case .backup: "the log of this backup begins here"
        case .restored: "restored from a backup; the log starts over"
        case .newKeys: "the log continues with new keys"
        }
    }

    private static func of(_ kind: LogAlteration.Kind) -> String {
        switch kind {
        case .missing: "the newest part of the log was missing"
        case .replaced: "the newest part of the log had been replaced"
        case .cut: "the newest entries had been cut off"
        case .changed: "the newest entry had been changed"
        case .extended: "there was data after the newest entry"
        case .stateBehind: "the log's state had been replaced by an older one; no entry was lost"
        case .keyReplaced: "the log's public key had been replaced; someone else may have read earlier entries"
        }
    }

    private static func of(_ method: UnlockMethod) -> String {
        switch method {
        case .secret(.passcode): "the passcode"
        case .secret(.recoveryPhrase): "the recovery phrase"
        case .secret(.pin): "the PIN"
        case .owner(.biometrics): "biometrics"
        case .owner(.devicePasscode): "the device's passcode"
        }
    }

    private static func of(_ reason: LogLockReason) -> String {
        switch reason {
        case .requested: "locked"
        case .idle: "locked when idle"
        case .timeout: "locked by the timer"
        case .background: "locked when the app was left"
        case .system: "locked when the session was locked"
        case .suspend: "locked before sleep"
        case .ended: "locked when its process ended"
        case .wipe: "locked for a wipe"
        case .userSwitch: "locked because of a user switch"
        case .lidClosed: "locked when the lid was closed"
        case .minimised: "locked when it was minimised"
        case .panic: "locked by the emergency lock"
        case .clock: "locked because the clock changed"
        }
    }

    private static func of(_ kind: UnprovenEvent) -> String {
        switch kind {
        case .refused: "a wrong passcode or PIN"
        case .repeated: "the same wrong passcode or PIN again, not counted"
        case .wrongPhrase: "a wrong recovery phrase"
        case .turnedAway: "an attempt was refused: delayed, or none left"
        case .biometricFailed: "a biometric prompt without a match"
        case .backedUp: "a backup was made"
        case .rollbackReported: "the vault looked put back to an earlier state"
        }
    }

    private static func of(_ change: LogSelfDestruct) -> String {
        switch change {
        case .armed: "the countdown to self-destruct began"
        case .enabled: "self-destruct was turned on"
        case .cancelled: "a change of self-destruct was cancelled"
        case .disabled: "self-destruct was turned off"
        }
    }

    private static func of(_ change: LogIdentityChange) -> String {
        switch change {
        case .created: "the identity was created"
        case .rotated: "the identity's keys were changed"
        case .recovered: "the identity was recovered"
        case .deleted: "the identity was deleted"
        }
    }

    /// What a run of like events adds: how many, and since when.
    private static func of(_ run: LogRun) -> String {
        let counts = UnprovenEvent.allCases.filter { run[$0] > 0 }.map { "\(run[$0]) \(noun($0, run[$0]))" }
        return " (\(counts.joined(separator: ", "))\(since(run.since)))"
    }

    private static func noun(_ kind: UnprovenEvent, _ count: UInt32) -> String {
        switch kind {
        case .refused: "wrong"
        case .repeated: "repeated"
        case .wrongPhrase: count == 1 ? "wrong phrase" : "wrong phrases"
        case .turnedAway: "refused"
        case .biometricFailed: "without a match"
        case .backedUp: count == 1 ? "backup" : "backups"
        case .rollbackReported: count == 1 ? "report of an earlier state" : "reports of an earlier state"
        }
    }

    private static func after(_ refused: UInt32) -> String {
        refused == 0 ? "" : ", after \(Format.count(UInt64(refused), "wrong passcode"))"
    }

    private static func since(_ time: Int64) -> String { " since \(Format.localTime(milliseconds: time))" }
}
