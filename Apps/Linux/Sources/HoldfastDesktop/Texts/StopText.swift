import GtkKit
import Holdfast
import HoldfastUI

/// Why there is no vault to open, in words.
enum StopText {
    static func title(_ stop: StopModel) -> String {
        if !stop.beginnings.isEmpty {
            return isAbsent(stop) ? tr("Choose How Your Vault Is Protected") : tr("The Keyring Is Locked")
        }
        return switch stop.reason {
        case .missing: tr("The Vault Is Not Here")
        case .notNow: tr("Not Available Yet")
        case .lost: tr("This Machine No Longer Has the Key")
        case .another: tr("Another Vault Than Before")
        case .contradicted: tr("This Vault Contradicts Itself")
        }
    }

    static func detail(_ stop: StopModel) -> String {
        if !stop.beginnings.isEmpty {
            return isAbsent(stop)
                ? tr(
                    "This machine has neither a security chip nor a keyring that could keep the key of a vault. A passcode protects it instead: you enter it to open the vault."
                )
                : tr(
                    "A new vault keeps its key in your keyring, which cannot be asked now. Unlock the keyring and try again, or choose a passcode for the vault."
                )
        }
        return switch stop.reason {
        case .missing:
            tr("This machine remembers a vault that is not in its folder. Bring it back, or begin a new one.")
        case .notNow: notNow(stop.until)
        case .lost: ProblemText.of(.shareLost)
        case .another: ProblemText.of(.levelLowered)
        case .contradicted: tr("It would open without asking, although its rules ask for a lock. It stays shut.")
        }
    }

    /// Whether there is nothing to wait for.
    private static func isAbsent(_ stop: StopModel) -> Bool { stop.beginnings.contains(.file) }

    private static func notNow(_ until: ShareWait?) -> String {
        switch until {
        case .unlocked, .devicePasscode, nil:
            tr("The keyring of this machine cannot be asked now. Unlock it, and try again. Nothing was lost.")
        case .free: tr("What keeps the key of the vault is busy. Try again in a moment. Nothing was lost.")
        case .otherKeyring, .present, .room, .permitted:
            tr("What keeps the key of the vault does not answer, or refuses. Nothing was lost.")
        }
    }
}
