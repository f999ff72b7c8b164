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

    static func of(_ event: SecurityEvent) -> String {
        switch event.name {
        case "created": tr("The vault was created")
        case "unlocked": unlocked(event)
        case "confirmed": tr("The passcode was checked and right")
        case "locked": locked(text(event, "reason"))
        case "refused": tr("A wrong passcode or PIN") + run(event)
        case "repeated": tr("The same wrong one again, not counted") + run(event)
        case "wrongPhrase": tr("A wrong recovery phrase") + run(event)
        case "turnedAway": tr("An attempt was turned away") + run(event)
        case "biometricFailed": tr("A fingerprint that did not match") + run(event)
        case "unsettled": trn("%d attempt was never checked", "%d attempts were never checked", number(event, "count"))
        case "runEnded": tr("The last of several alike") + run(event)
        case "fallbackUsed": tr("Opened another way than usual")
        case "policyChanged": tr("Rules were changed: %s", rules(event))
        case "passcodeChanged": tr("The passcode was changed")
        case "recoveryPhraseIssued": tr("A new recovery phrase was issued")
        case "recoveryPhraseRemoved": tr("The recovery phrase was removed")
        case "pinEnrolled": tr("A PIN was set")
        case "pinRemoved": tr("The PIN was removed")
        case "rekeyed": tr("New keys were made")
        case "recovered": tr("A new passcode was set with the recovery phrase")
        case "selfDestructArmed": tr("The countdown of self-destruct began")
        case "selfDestructEnabled": tr("Self-destruct was turned on")
        case "selfDestructCancelled": tr("A change of self-destruct was given up")
        case "selfDestructDisabled": tr("Self-destruct was turned off")
        case "wipeBegun": tr("Everything began to be destroyed")
        case "inboxMigrated":
            trn(
                "%d item came in that was written while locked", "%d items came in that were written while locked",
                number(event, "count"))
        case "backedUp": tr("A backup was made")
        case "rollbackReported": tr("The key store knows another state of this vault")
        case "rotated": tr("A new part of the log begins")
        case "restarted": tr("The log was begun anew")
        case "altered": tr("The log was not as it was written")
        case "missed": trn("%d event could not be written", "%d events could not be written", number(event, "count"))
        case "deviceLinked": tr("A device was linked")
        case "deviceUnlinked": tr("A device was unlinked")
        case "identityCreated": tr("The identity was created")
        case "identityRotated": tr("The identity's keys were changed")
        case "identityRecovered": tr("The identity was recovered")
        case "identityDeleted": tr("The identity was deleted")
        case "drill": tr("A recovery drill")
        default: event.name
        }
    }

    private static func unlocked(_ event: SecurityEvent) -> String {
        let way =
            switch text(event, "method") {
            case "passcode": tr("Opened with the passcode")
            case "recoveryPhrase": tr("Opened with the recovery phrase")
            case "hardware": tr("Opened with the PIN")
            case "biometrics": tr("Opened with a fingerprint")
            default: tr("Opened")
            }
        let refused = number(event, "refused")
        return refused == 0
            ? way : way + ", " + trn("after %d wrong passcode", "after %d wrong passcodes", refused)
    }

    private static func locked(_ reason: String) -> String {
        switch reason {
        case "idle", "timeout": tr("Locked without use")
        case "background": tr("Locked after it was left")
        case "system": tr("Locked with the session")
        case "suspend": tr("Locked before sleep")
        case "userSwitch": tr("Locked because another user came")
        case "lidClosed": tr("Locked with the lid")
        case "minimised": tr("Locked when it was minimised")
        case "panic": tr("Locked in an emergency")
        case "clock": tr("Locked because the clock changed")
        case "wipe": tr("Locked to be destroyed")
        default: tr("Locked")
        }
    }

    /// How many of a run of like events there were.
    private static func run(_ event: SecurityEvent) -> String {
        var sum = 0
        for detail in event.details where detail.name.hasSuffix("Count") {
            if case .number(let count) = detail.value { sum += Int(clamping: count) }
        }
        return sum > 1 ? " " + tr("(%s in all)", String(sum)) : ""
    }

    private static func number(_ event: SecurityEvent, _ name: String) -> Int {
        if case .number(let number) = event[name] { Int(clamping: number) } else { 0 }
    }

    private static func text(_ event: SecurityEvent, _ name: String) -> String {
        if case .text(let text) = event[name] { text } else { "" }
    }

    private static func rules(_ event: SecurityEvent) -> String {
        guard case .list(let keys) = event["keys"] else { return "" }
        return keys.map(rule).joined(separator: ", ")
    }

    private static func rule(_ key: String) -> String {
        switch key {
        case "attemptLimit": tr("attempts")
        case "delays": tr("delays")
        case "selfDestruct": tr("self-destruct")
        case "lockTiming": tr("the lock's timing")
        case "collectionMinima": tr("minima of collections")
        case "padlock": tr("app lock")
        case "useFaceID": tr("fingerprint")
        case "biometricFailures": tr("what counts")
        case "countdown": tr("countdown")
        case "fallback": tr("ways to unlock")
        default: key
        }
    }
}
