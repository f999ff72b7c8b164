import GtkKit
import Holdfast
import HoldfastUI

extension ReadyWindow {
    /// Makes a backup: into a folder that the user chooses.
    func backUp() {
        guard !models.lock.isLocked else { return }
        sheets.showBackup(models.backup) { [unowned self] chosen in
            chooseFolder(tr("Where Is the Backup Kept?"), chosen)
        }
    }

    /// Exports entries to a file that the user chooses, once they have proved that they are there.
    /// - Parameter ids: Which entries; nil for all.
    func export(_ ids: [VaultItem.ID]? = nil) {
        guard !models.lock.isLocked else { return }
        sheets.showExport(models.export, ids) { [unowned self] name, chosen in
            chooseFile(tr("Save the Export"), saveAs: name, chosen)
        }
    }
}
