import GtkKit
import HoldfastUI
import Holdfast

/// The settings' words.
enum SettingsText {
    static func of(_ timing: LockTiming) -> String {
        switch timing {
        case .immediately: tr("Immediately")
        case .onRelaunch: tr("When the app is restarted")
        case .never: tr("Never")
        default: duration(Int(timing.duration?.components.seconds ?? 0))
        }
    }

    static func of(_ loss: Preferences.FocusLoss) -> String {
        switch loss {
        case .ignored: tr("Stay visible")
        case .covers: tr("Cover the content")
        case .leaves: tr("Treat as leaving")
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
        case (.biometrics, .missing), (.biometrics, .denied): tr("No fingerprint reader is available")
        case (.biometrics, .notEnrolled): tr("No finger is enrolled in the system's settings")
        case (.biometrics, .lockedOut): tr("The reader is locked out")
        case (.biometrics, .busy): tr("Something else is using the reader")
        case (.devicePasscode, .missing), (.devicePasscode, .denied): tr("This computer is not set up to check it")
        case (.devicePasscode, .notEnrolled), (.devicePasscode, .lockedOut), (.devicePasscode, .busy):
            tr("The account is locked out")
        }
    }

    static func ofChip(_ obstacle: OwnerObstacle?, isOn: Bool) -> String {
        if isOn { return tr("It counts wrong passcodes; past the limit only the recovery phrase works") }
        return switch obstacle {
        case nil: tr("Binds the passcode to this machine; the chip counts wrong passcodes")
        case .missing, .notEnrolled, .denied: tr("No security chip is available")
        case .lockedOut, .busy: tr("The security chip is not responding")
        }
    }

    static func ofPIN(_ obstacle: OwnerObstacle?, isThere: Bool) -> String {
        switch obstacle {
        case nil:
            isThere
                ? tr("Opens the vault on this machine; past the limit only the passcode does")
                : tr("Short, in addition to the passcode, and counted by the security chip")
        case .missing, .notEnrolled, .denied: tr("No security chip is available")
        case .lockedOut, .busy: tr("The security chip is not responding")
        }
    }

    static func proof(of step: OwnerStep) -> String {
        switch step {
        case .biometrics: tr("Test it first: the reader asks for your finger.")
        case .devicePasscode: tr("Test it first: the system asks for your account password.")
        }
    }

    /// What is asked for a change.
    static func question(for change: SecuritySettingsModel.Change, hasPIN: Bool) -> String {
        switch change {
        case .attemptLimit where hasPIN:
            tr("Changing settings requires your passcode. The PIN is removed, because its limit cannot change.")
        case .pinRemoval: tr("Enter the passcode to remove the PIN. From then on you unlock with the passcode.")
        case .hardware(.claim):
            tr("Its own key is put back. From then on its changes delete old keys from the security chip again.")
        case .hardware(.leave):
            tr(
                "It gets keys of its own, and loses its PIN and its way in with the fingerprint or the account password. The other folder keeps its keys."
            )
        case .chip(true):
            tr(
                "The limit of wrong passcodes becomes final. Past it, on another machine, and when the chip is cleared, only the recovery phrase opens the vault: enter it now."
            )
        case .owner(_, true):
            tr("It opens the vault for three days after the passcode, except collections that require more.")
        default: tr("Changing settings requires your passcode.")
        }
    }

    static func of(_ assurance: Assurance) -> String {
        switch assurance {
        case .none: tr("Anyone who has the files can read them")
        case .presence: tr("A yes or no, which a program you run could get around")
        case .keyBound: tr("A thief of this disk can guess at it: choose a long one")
        case .hardwareBound: tr("A copy of this disk cannot be guessed at without this computer's security chip")
        case .hardwareLimited: tr("The security chip counts wrong passcodes and ends the guessing")
        }
    }

    static func title(of change: SecuritySettingsModel.Change) -> String {
        switch change {
        case .lock(true): tr("Turn the App Lock On")
        case .lock(false): tr("Turn the App Lock Off")
        case .timing: tr("Change the Lock's Timing")
        case .attemptLimit: tr("Change the Attempts")
        case .owner(.biometrics, true), .ownerAnew: tr("Turn the Fingerprint On")
        case .owner(.biometrics, false): tr("Turn the Fingerprint Off")
        case .owner(.devicePasscode, true): tr("Turn the Account Password On")
        case .owner(.devicePasscode, false): tr("Turn the Account Password Off")
        case .chip(true): tr("Put the Passcode under the Security Chip")
        case .chip(false): tr("Remove the Passcode from the Security Chip")
        case .pinRemoval: tr("Remove the PIN")
        case .countsBiometrics: tr("Change the Counting")
        case .hardware(.claim): tr("This Folder Is the Vault")
        case .hardware(.leave): tr("This Folder Is a Copy")
        }
    }

    static func confirm(of change: SecuritySettingsModel.Change) -> String {
        switch change {
        case .pinRemoval: tr("Remove")
        case .hardware: tr("Continue")
        default: tr("Change")
        }
    }

    static func title(of change: SelfDestructChange) -> String {
        change == .enable ? tr("Turn Self-destruct On") : tr("Turn Self-destruct Off")
    }

    static func first(of change: SelfDestructChange) -> String {
        tr("This requires your passcode now, a countdown, and your passcode again.")
    }

    static func confirm(of change: SelfDestructChange) -> String {
        change == .enable ? tr("Turn On") : tr("Turn Off")
    }

    static func warning(of change: SelfDestructChange, _ model: SelfDestructModel) -> String {
        switch change {
        case .enable:
            trn(
                "%d wrong passcode will then destroy this vault and everything in it. Only a backup can bring it back.",
                "%d wrong passcodes in a row will then destroy this vault and everything in it. Only a backup can bring it back.",
                model.attemptLimit)
        case .disable: tr("Wrong passcodes will no longer destroy this vault.")
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
        case .givenUp: tr("Cancelled because you left. Nothing was changed.")
        case .refused(let problem): tr("Nothing was changed. %s", ProblemText.of(problem))
        }
    }
}

extension SettingsText {
    /// What the identity is to this device.
    static func of(_ state: IdentityFacts.State) -> String {
        switch state {
        case .ready: tr("An account that only your devices can use")
        case .unconfirmed, .linking, .created, .authenticated: tr("Your account, and its devices")
        }
    }

    /// Why what belongs to the app lock cannot be changed.
    static var withoutLock: String { tr("Without the app lock, nothing locks or is covered by itself.") }

    /// What the app lock does, what it does not while it is off, or why it cannot be turned on.
    static func ofLock(isOn: Bool, _ obstacle: OwnerObstacle?) -> String {
        if obstacle != nil { return tr("This computer cannot ask whether it is you: set a passcode first") }
        return isOn
            ? tr("After a while away, with the session, and before sleep")
            : tr("While this is off, the vault stays open until you lock it or close the app")
    }

    /// Where the vault stands.
    static func of(_ level: VaultLevel) -> String {
        switch level {
        case .device: tr("Opens without asking")
        case .owner: tr("Opens for you")
        case .secret: tr("Opens with a passcode of its own")
        }
    }

    static func advice(_ level: VaultLevel) -> String {
        switch level {
        case .device: tr("Anyone who uses your session can open it. There is nothing to remember.")
        case .owner: tr("Your finger or your account password opens it.")
        case .secret: tr("Even someone who can use your session needs the passcode.")
        }
    }
}
