internal import Holdfast

/// Events of the security log in words for people.
enum LogText {
    static func of(_ event: SecurityEvent) -> String {
        if let text = fixed[event.name] { return text + run(event) }
        return special(event) ?? event.name
    }

    private static let fixed = [
        "created": "the vault was created", "rotated": "a new part of the log begins",
        "confirmed": "the passcode was checked and right", "passcodeChanged": "the passcode was changed",
        "recoveryPhraseIssued": "a new recovery phrase was issued",
        "recoveryPhraseRemoved": "the recovery phrase was removed",
        "pinEnrolled": "a PIN was put under the chip", "pinRemoved": "the PIN was removed",
        "refused": "a wrong passcode or PIN", "repeated": "the same wrong one again, not counted",
        "wrongPhrase": "a wrong recovery phrase",
        "turnedAway": "an attempt was turned away: a delay ran, or none was left",
        "biometricFailed": "a biometric prompt without a match", "backedUp": "a backup was made",
        "rollbackReported": "the key store knows of another state of this vault",
        "selfDestructArmed": "the countdown to self-destruct began", "selfDestructEnabled": "self-destruct was enabled",
        "selfDestructCancelled": "a change of self-destruct was cancelled",
        "selfDestructDisabled": "self-destruct was disabled", "deviceLinked": "a device was linked",
        "deviceUnlinked": "a device was unlinked", "identityCreated": "the identity was created",
        "identityRotated": "the identity's keys were changed", "identityRecovered": "the identity was recovered",
        "identityDeleted": "the identity was deleted",
    ]

    private static func special(_ event: SecurityEvent) -> String? {
        switch event.name {
        case "unlocked":
            let wrong = number(event, "refused")
            let after = wrong == 0 ? "" : ", after \(Format.count(wrong, "wrong passcode"))"
            return "unlocked with \(methods[text(event, "method")] ?? text(event, "method"))\(after)"
        case "locked": return reasons[text(event, "reason")] ?? "locked"
        case "unsettled": return "\(Format.count(number(event, "count"), "attempt")) had never been checked"
        case "missed":
            return "\(Format.count(number(event, "count"), "event")) could not be written\(since(event))"
        case "runEnded": return "in all" + run(event)
        case "policyChanged": return "rules were changed: \(list(event, "keys"))"
        case "rekeyed": return "new keys were made"
        case "recovered":
            let altered = event["headerWasAltered"] == .flag(true)
            return "a new passcode was set with the recovery phrase" + (altered ? "; the header had been changed" : "")
        case "fallbackUsed": return "opened by \(text(event, "step")), because: \(text(event, "because"))"
        case "enrollmentChanged":
            return "\(text(event, "step")): what is enrolled, or the key store, changed; the passcode is asked for"
        case "wipeBegun": return event["isDeliberate"] == .flag(true) ? "a wipe began" : "a wipe began at the limit"
        case "inboxMigrated":
            return "\(Format.count(number(event, "count"), "record")) came out of the open compartment"
        case "drill": return event["passed"] == .flag(true) ? "a drill was passed" : "a drill failed"
        case "restarted": return restarts[text(event, "reason")]
        case "altered": return alterations[text(event, "kind")]
        default: return nil
        }
    }

    private static let methods = [
        "passcode": "the passcode", "recoveryPhrase": "the recovery phrase",
        "deviceOwner": "the device owner's consent",
        "hardware": "the PIN under the chip", "biometrics": "biometrics", "devicePasscode": "the device's passcode",
    ]

    private static let reasons = [
        "requested": "locked", "idle": "locked after a while without use", "timeout": "locked by the timer",
        "background": "locked when the app was left", "system": "locked with the screen",
        "suspend": "locked before sleep", "ended": "locked at the end of its process", "wipe": "locked for a wipe",
        "userSwitch": "locked because another user came", "lidClosed": "locked with the lid",
        "minimised": "locked when it was minimised", "panic": "locked by the emergency brake",
        "clock": "locked because the clock changed",
    ]

    private static let restarts = [
        "nothingFound": "the log begins here, in a vault that had none",
        "stateLost": "the log begins anew, because its state was lost",
        "backup": "the log of this backup begins here", "restored": "restored from a backup; the log begins anew",
    ]

    private static let alterations = [
        "missing": "the newest part of the log was gone", "replaced": "the newest part of the log was another one",
        "cut": "the newest entries had been cut off", "changed": "the newest entry had been changed",
        "extended": "something stood behind the newest entry",
        "stateBehind": "the log's state had been put back; no entry was lost",
    ]

    /// What a run of like events adds: how many, and since when.
    private static func run(_ event: SecurityEvent) -> String {
        let counts: [(String, UInt64)] = event.details.compactMap { detail in
            guard detail.name.hasSuffix("Count"), case .number(let number) = detail.value else { return nil }
            return (nouns[detail.name] ?? detail.name, number)
        }
        guard event.name == "runEnded" || counts.reduce(0, { $0 + $1.1 }) > 1 else { return "" }
        let words = counts.map { "\($0.1) \($0.0)" }.joined(separator: ", ")
        return " (\(words)\(since(event)))"
    }

    private static let nouns = [
        "refusedCount": "wrong", "repeatedCount": "repeated", "wrongPhraseCount": "wrong phrases",
        "turnedAwayCount": "turned away", "biometricFailedCount": "without a match", "backedUpCount": "backups",
        "rollbackReportedCount": "reports of another state",
    ]

    private static func since(_ event: SecurityEvent) -> String {
        guard case .time(let time) = event["since"] else { return "" }
        return " since \(Format.localTime(milliseconds: time))"
    }

    private static func number(_ event: SecurityEvent, _ name: String) -> UInt64 {
        if case .number(let number) = event[name] { number } else { 0 }
    }

    private static func text(_ event: SecurityEvent, _ name: String) -> String {
        if case .text(let text) = event[name] { text } else { "" }
    }

    private static func list(_ event: SecurityEvent, _ name: String) -> String {
        if case .list(let words) = event[name] { words.joined(separator: ", ") } else { "" }
    }
}
