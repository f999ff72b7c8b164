import GtkKit
import HoldfastUI

// The doctor's verdict: one sentence, and what each step is for.
extension DoctorText {
    static func of(_ verdict: DoctorVerdict) -> String {
        switch verdict.standing {
        case .unreadable: tr("Your vault cannot be read: restore a backup.")
        case .unwritable:
            tr("Nothing new can be stored in your vault, because its folder cannot be written to.")
        case .synced(let folder, let program):
            tr(
                "Your vault is in danger: %s keeps %s alike on several computers, which damages vaults, so move it to another folder.",
                program, folder)
        case .withoutItsChip:
            tr(
                "Your passcode does not open the vault here, because the security chip that it belongs to does not answer; only the recovery phrase does."
            )
        case .contradicted: tr("Two settings of your vault contradict each other, so look at the settings.")
        case .open(let place): open(place)
        case .asking(let place): asking(place)
        case .passcode(let chip): passcode(chip)
        case .chip(counts: true):
            tr(
                "Your vault is well protected: a thief has too few attempts at the passcode, because the security chip of this computer counts them."
            )
        case .chip(counts: false):
            tr(
                "Your vault is protected by a passcode and the security chip of this computer: a thief of this disk alone cannot guess at it."
            )
        }
    }

    private static func open(_ place: ProtectionFacts.Place) -> String {
        switch place {
        case .files:
            tr(
                "Nothing but this user's account protects your vault: anyone who has this disk, and every program you run, can read it."
            )
        case .keyring:
            tr(
                "Nothing but your login protects your vault: while you are logged in, anyone at this computer, and every program you run, can read it."
            )
        case .chip:
            tr(
                "A thief of this disk alone cannot read your vault, but anyone who uses your session, and every program you run, can."
            )
        }
    }

    private static func asking(_ place: ProtectionFacts.Place) -> String {
        switch place {
        case .files:
            tr(
                "Your vault asks whether it is you, but a thief of this disk finds its key there and can read it; a passcode stops that."
            )
        case .keyring:
            tr(
                "Your vault asks whether it is you; a thief of this disk cannot read it, but a program you run could get around the question, and a passcode stops that."
            )
        case .chip:
            tr(
                "Your vault asks whether it is you, and the security chip of this computer keeps its key; a program you run could still get around the question, and a passcode stops that."
            )
        }
    }

    private static func passcode(_ chip: DoctorVerdict.Chip) -> String {
        switch chip {
        case .usable:
            tr(
                "Your vault is protected by a passcode; a thief of this disk can guess at it, and the security chip of this computer can stop that."
            )
        case .unusable:
            tr(
                "Your vault is protected by a passcode; a thief of this disk can guess at it, and the security chip that could stop that cannot be used yet."
            )
        case .absent:
            tr(
                "Your vault is protected by a passcode; a thief of this disk can guess at it, and as this computer has no security chip to stop that, the passcode should be long."
            )
        }
    }

    /// What shows at a glance how good it is; nil where that is not known yet.
    static func icon(of grade: DoctorVerdict.Grade?) -> String {
        switch grade {
        case .good: "security-high-symbolic"
        case .fair, nil: "security-medium-symbolic"
        case .poor: "security-low-symbolic"
        }
    }

    /// What is bad as long as a step was not taken.
    static func reason(for step: DoctorVerdict.Step) -> String {
        switch step {
        case .passcode: tr("The vault has no passcode")
        case .phrase: tr("Without a recovery phrase, a lost passcode or computer loses everything")
        case .chip: tr("A copy of this disk can be guessed at without limit")
        case .backup: tr("There is no backup: if this disk fails, everything is lost")
        case .lock: tr("The app lock is off: the vault stays open when you leave")
        case .settings: tr("Two settings contradict each other")
        }
    }

    /// What begins a step; short, because it stands beside the reason.
    static func button(of step: DoctorVerdict.Step) -> String {
        switch step {
        case .passcode: tr("Set a Passcode…")
        case .phrase: tr("New Phrase…")
        case .chip: tr("Use the Chip…")
        case .backup: tr("Back Up…")
        case .lock: tr("Turn On…")
        case .settings: tr("Open Settings")
        }
    }

    /// What a screen reader says of that button.
    static func spoken(of step: DoctorVerdict.Step) -> String {
        switch step {
        case .passcode, .backup, .settings: button(of: step)
        case .phrase: tr("New Recovery Phrase…")
        case .chip: tr("Use the Security Chip…")
        case .lock: tr("Turn On the App Lock…")
        }
    }
}
