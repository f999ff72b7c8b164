import GtkKit
import Holdfast
import HoldfastUI

/// Events of the security log in the user's words.
enum LogText {
    static func of(_ category: LogLine.Category?) -> String {
        switch category {
        case nil: tr("All events")
        case .lock: tr("Opened and locked")
        case .warning: tr("Worth a look")
        case .settings: tr("Settings")
        case .log: tr("Vault and log")
        case .identity: tr("Identity")
        }
    }

    static func icon(of category: LogLine.Category) -> String {
        switch category {
        case .lock: "changes-prevent-symbolic"
        case .warning: "dialog-warning-symbolic"
        case .settings: "emblem-system-symbolic"
        case .log: "view-list-symbolic"
        case .identity: "avatar-default-symbolic"
        }
    }

    /// What happened, and how often in a row.
    static func of(_ line: LogLine) -> String {
        switch line.event {
        case .created: tr("The vault was created")
        case .restarted: tr("The log was restarted")
        case .rotated: tr("A new part of the log begins")
        case .altered: tr("The log had been changed")
        case .missed(let count, _):
            trn("%d event could not be written", "%d events could not be written", Int(clamping: count))
        case .unlocked(let unlock): of(unlock.method) + after(Int(clamping: unlock.refused))
        case .confirmed: tr("The passcode was checked and correct")
        case .locked(let reason): of(reason)
        case .unsettled(let count):
            trn("%d attempt was never checked", "%d attempts were never checked", Int(clamping: count))
        case .unproven(let kind, _): of(kind) + inAll(line.counts.first?.number ?? 1)
        case .runEnded: tr("In a row: %s", line.counts.map(of).joined(separator: ", "))
        case .fallbackUsed: tr("Opened by a fallback method")
        case .enrollmentChanged(.biometrics): tr("Fingerprints changed; the passcode is required")
        case .enrollmentChanged: tr("The key store changed; the passcode is required")
        case .policyChanged(let rules): tr("The policy was changed: %s", rules.rules.map(of).joined(separator: ", "))
        case .passcodeChanged: tr("The passcode was changed")
        case .rekeyed: tr("New keys were made")
        case .recovered: tr("A new passcode was set with the recovery phrase")
        case .recoveryPhraseSet(true): tr("A new recovery phrase was issued")
        case .recoveryPhraseSet(false): tr("The recovery phrase was removed")
        case .pinSet(true): tr("A PIN was set")
        case .pinSet(false): tr("The PIN was removed")
        case .levelChanged(_, .device): tr("The vault now opens without asking")
        case .levelChanged(_, .owner): tr("The vault now opens for the device's owner")
        case .levelChanged(_, .secret): tr("The vault now opens with a secret of its own")
        case .levelContradicted: tr("The vault's settings contradicted each other; it was not opened")
        case .floorReplaced(.lower, _): tr("You confirmed that the vault is less protected than it was")
        case .floorReplaced(.otherVault, _): tr("You confirmed another vault in this place")
        case .floorReplaced(.unreadable, _): tr("You confirmed a vault that this machine could not recognise")
        case .recordsSetAside(let count):
            trn(
                "%d item did not fit and was set aside", "%d items did not fit and were set aside", Int(clamping: count)
            )
        case .selfDestruct(let change): of(change)
        case .wipeBegun: tr("A wipe began")
        case .device(.linked, _): tr("A device was linked")
        case .device(.unlinked, _): tr("A device was unlinked")
        case .identity(let change, _): of(change)
        case .inboxMigrated(let count):
            trn(
                "%d item arrived that was written while locked", "%d items arrived that were written while locked",
                Int(clamping: count))
        case .drill: tr("A recovery drill")
        }
    }

    private static func of(_ kind: UnprovenEvent) -> String {
        switch kind {
        case .refused: tr("A wrong passcode or PIN")
        case .repeated: tr("The same wrong entry again, not counted")
        case .wrongPhrase: tr("A wrong recovery phrase")
        case .turnedAway: tr("An attempt was refused")
        case .biometricFailed: tr("A fingerprint that did not match")
        case .backedUp: tr("A backup was made")
        case .rollbackReported: tr("The vault looked put back to an earlier state")
        }
    }

    private static func of(_ method: UnlockMethod) -> String {
        switch method {
        case .secret(.passcode): tr("Opened with the passcode")
        case .secret(.recoveryPhrase): tr("Opened with the recovery phrase")
        case .secret(.pin): tr("Opened with the PIN")
        case .owner(.biometrics): tr("Opened with a fingerprint")
        case .owner(.devicePasscode): tr("Opened with the account password")
        }
    }

    private static func after(_ refused: Int) -> String {
        refused == 0 ? "" : ", " + trn("after %d wrong passcode", "after %d wrong passcodes", refused)
    }

    private static func of(_ reason: LogLockReason) -> String {
        switch reason {
        case .idle, .timeout: tr("Locked when idle")
        case .background: tr("Locked after it was left")
        case .system: tr("Locked with the session")
        case .suspend: tr("Locked before sleep")
        case .userSwitch: tr("Locked because of a user switch")
        case .lidClosed: tr("Locked when the lid was closed")
        case .minimised: tr("Locked when it was minimised")
        case .panic: tr("Locked in an emergency")
        case .clock: tr("Locked because the clock changed")
        case .wipe: tr("Locked for a wipe")
        case .requested, .ended: tr("Locked")
        }
    }

    private static func of(_ change: LogSelfDestruct) -> String {
        switch change {
        case .armed: tr("The countdown of self-destruct began")
        case .enabled: tr("Self-destruct was turned on")
        case .cancelled: tr("A change of self-destruct was cancelled")
        case .disabled: tr("Self-destruct was turned off")
        }
    }

    private static func of(_ change: LogIdentityChange) -> String {
        switch change {
        case .created: tr("The identity was created")
        case .rotated: tr("The identity's keys were changed")
        case .recovered: tr("The identity was recovered")
        case .deleted: tr("The identity was deleted")
        }
    }

    private static func of(_ rule: LogRule) -> String {
        switch rule {
        case .attemptLimit: tr("attempts")
        case .delays: tr("delays")
        case .selfDestruct: tr("self-destruct")
        case .lockTiming: tr("the lock's timing")
        case .collectionMinima: tr("collection minimums")
        case .padlock: tr("app lock")
        case .useFaceID: tr("fingerprint")
        case .biometricFailures: tr("counting")
        case .countdown: tr("countdown")
        case .fallback: tr("unlock methods")
        case .remember: tr("remembering the passcode")
        }
    }

    /// How many of its kind there were.
    private static func inAll(_ number: Int) -> String {
        number > 1 ? " " + tr("(%s in all)", String(number)) : ""
    }

    private static func of(_ count: LogLine.Count) -> String {
        switch count.kind {
        case .refused: trn("%d wrong passcode", "%d wrong passcodes", count.number)
        case .repeated: trn("%d wrong entry repeated", "%d wrong entries repeated", count.number)
        case .wrongPhrase: trn("%d wrong recovery phrase", "%d wrong recovery phrases", count.number)
        case .turnedAway: trn("%d refused attempt", "%d refused attempts", count.number)
        case .biometricFailed: trn("%d unknown finger", "%d unknown fingers", count.number)
        case .backedUp: trn("%d backup", "%d backups", count.number)
        case .rollbackReported: trn("%d sign of an earlier state", "%d signs of an earlier state", count.number)
        }
    }
}
