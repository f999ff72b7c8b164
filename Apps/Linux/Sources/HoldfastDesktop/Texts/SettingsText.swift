import GtkKit
import HoldfastUI
import Holdfast

/// The settings' words.
enum SettingsText {
    static func of(_ timing: LockTiming) -> String {
        switch timing {
        case .immediately: tr("Immediately")
        case .onRelaunch: tr("When it is started again")
        case .never: tr("Never")
        default: duration(Int(timing.duration?.components.seconds ?? 0))
        }
    }

    static func of(_ loss: Preferences.FocusLoss) -> String {
        switch loss {
        case .ignored: tr("Stay visible")
        case .covers: tr("Cover the content")
        case .leaves: tr("Count as leaving")
        }
    }

    static func idle(_ seconds: UInt32?) -> String { seconds.map { duration(Int($0)) } ?? tr("Never") }
    static func seconds(_ seconds: UInt32) -> String { duration(Int(seconds)) }

    private static func duration(_ seconds: Int) -> String {
        seconds < 60
            ? trn("%d second", "%d seconds", seconds) : trn("%d minute", "%d minutes", seconds / 60)
    }

    static func of(_ obstacle: OwnerObstacle, _ step: OwnerStep = .biometrics) -> String {
        switch (step, obstacle) {
        case (.biometrics, .missing): tr("No fingerprint reader can be used here")
        case (.biometrics, .notEnrolled): tr("No finger is enrolled in the system's settings")
        case (.biometrics, .lockedOut): tr("The reader takes no finger now")
        case (.biometrics, .busy): tr("Something else is using the reader")
        case (.devicePasscode, .missing): tr("The system has no rules for it (PAM)")
        case (.devicePasscode, .notEnrolled), (.devicePasscode, .lockedOut), (.devicePasscode, .busy):
            tr("The account takes no password now")
        }
    }

    static func ofChip(_ obstacle: OwnerObstacle?, isOn: Bool) -> String {
        if isOn { return tr("It counts wrong passcodes; behind the limit only the recovery phrase opens") }
        return switch obstacle {
        case nil: tr("Binds the passcode to this machine, and lets the chip count wrong ones")
        case .missing, .notEnrolled: tr("No security chip can be used here")
        case .lockedOut, .busy: tr("The security chip does not answer now")
        }
    }

    static func ofPIN(_ obstacle: OwnerObstacle?, isThere: Bool) -> String {
        switch obstacle {
        case nil:
            isThere
                ? tr("Opens the vault on this machine; behind the limit only the passcode does")
                : tr("Short, beside the passcode, and counted by the security chip")
        case .missing, .notEnrolled: tr("No security chip can be used here")
        case .lockedOut, .busy: tr("The security chip does not answer now")
        }
    }

    static func proof(of step: OwnerStep) -> String {
        switch step {
        case .biometrics: tr("Show that it works: the reader asks for your finger.")
        case .devicePasscode: tr("Show that it works: the system asks for the password of your account.")
        }
    }

    /// What is asked for a change.
    static func question(for change: SecuritySettingsModel.Change, hasPIN: Bool) -> String {
        switch change {
        case .attemptLimit where hasPIN:
            tr("Changes of the rules need your passcode. The chip counts the PIN by the old limit: the PIN goes.")
        case .pinRemoval: tr("The passcode opens the vault then, and takes the PIN away now.")
        case .chip(true):
            tr(
                "The limit of wrong passcodes becomes final. Behind it, on another machine, and when the chip is cleared, only the recovery phrase opens the vault: type it now."
            )
        case .owner(_, true):
            tr("It opens the vault for three days after the passcode, and no collection that asks for more.")
        default: tr("Changes of the rules need your passcode.")
        }
    }

    static func of(_ assurance: Assurance) -> String {
        switch assurance {
        case .none: tr("Open to everybody")
        case .presence: tr("A yes or no in front of a stored key")
        case .keyBound: tr("The key is made from it; a copy of the disk can be tried against")
        case .hardwareBound: tr("Bound to the security chip of this machine")
        case .hardwareLimited: tr("The security chip counts the attempts and ends them")
        }
    }

    static func title(of change: SecuritySettingsModel.Change) -> String {
        switch change {
        case .lock(true): tr("Turn the App Lock On")
        case .lock(false): tr("Turn the App Lock Off")
        case .timing: tr("Change the Lock's Timing")
        case .attemptLimit: tr("Change the Attempts")
        case .owner(.biometrics, true): tr("Turn the Fingerprint On")
        case .owner(.biometrics, false): tr("Turn the Fingerprint Off")
        case .owner(.devicePasscode, true): tr("Turn the Account's Password On")
        case .owner(.devicePasscode, false): tr("Turn the Account's Password Off")
        case .chip(true): tr("Put the Passcode under the Security Chip")
        case .chip(false): tr("Take the Passcode out of the Security Chip")
        case .pinRemoval: tr("Remove the PIN")
        case .countsBiometrics: tr("Change What Counts")
        }
    }

    static func title(of change: SelfDestructChange) -> String {
        change == .enable ? tr("Turn Self-destruct On") : tr("Turn Self-destruct Off")
    }

    static func first(of change: SelfDestructChange) -> String {
        tr("This takes your passcode now, a countdown, and your passcode again.")
    }

    static func confirm(of change: SelfDestructChange) -> String {
        change == .enable ? tr("Turn On") : tr("Turn Off")
    }

    static func warning(of change: SelfDestructChange, _ model: SelfDestructModel) -> String {
        switch change {
        case .enable:
            trn(
                "%d wrong passcode will then destroy this vault with all that is in it. Nobody can bring it back but from a backup.",
                "%d wrong passcodes in a row will then destroy this vault with all that is in it. Nobody can bring it back but from a backup.",
                model.attemptLimit)
        case .disable: tr("Wrong passcodes will not destroy this vault any more.")
        }
    }

    static func countdown(_ change: SelfDestructChange, _ left: Int) -> String {
        change == .enable
            ? trn("On in %d second", "On in %d seconds", left) : trn("Off in %d second", "Off in %d seconds", left)
    }

    static func of(_ outcome: SelfDestructModel.Outcome) -> String {
        switch outcome {
        case .done(.enable): tr("Self-destruct is on")
        case .done(.disable): tr("Self-destruct is off")
        case .cancelled: tr("Cancelled. Nothing was changed.")
        case .givenUp: tr("Given up because you left. Nothing was changed.")
        case .refused(let problem): tr("Nothing was changed. %s", ProblemText.of(problem))
        }
    }
}
