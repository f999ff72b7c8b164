import CAdw
import GtkKit
import HoldfastUI

/// When the last backup was made, and why none was.
enum BackupText {
    /// - Parameter milliseconds: Since 1970; nil where there was none.
    static func last(_ milliseconds: Int64?) -> String {
        guard let milliseconds else { return tr("No backup yet") }
        let days = max(0, Int(g_get_real_time()) / 1000 - Int(milliseconds)) / 86_400_000
        return switch days {
        case 0: tr("Last backup less than a day ago")
        case ..<14: trn("Last backup %d day ago", "Last backup %d days ago", days)
        case ..<60: trn("Last backup %d week ago", "Last backup %d weeks ago", days / 7)
        default: trn("Last backup %d month ago", "Last backup %d months ago", days / 30)
        }
    }

    /// Of the folder that was chosen: what is said elsewhere is of the vault's own.
    static func failure(_ problem: VaultProblem) -> String {
        switch problem {
        case .exists:
            tr(
                "The folder %s that is there has something else in it, or a backup that was changed since. Nothing in it was touched.",
                BackupModel.folderName)
        case .noRecoveryPhrase:
            tr(
                "A copy would open nowhere: this vault has neither a passcode nor a recovery phrase. Set one on the Settings page."
            )
        case .permissionDenied: tr("You may not write there.")
        default: ProblemText.of(problem)
        }
    }
}
