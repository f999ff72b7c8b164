import CAdw
import GtkKit
import Holdfast
import HoldfastUI

/// The ways to another vault: a folder, a backup, the folder that there is without a word.
///
/// Another vault is another run of the program in the same process, so that nothing of the one before is left.
final class OtherVaults {
    private let window: Window
    private let place: Place
    private let appModel: AppModel
    private var open: Action?, usual: Action?, restore: Action?
    /// The vault that is shown, if there is one.
    weak var ready: ReadyWindow?
    /// What is shown where there is none.
    var stopPage: () -> StopPage? = { nil }
    /// What is being restored, or was and nobody has seen that.
    private var restoring: RestoreModel?
    private var dialog: FileDialog?

    init(_ app: Application, _ window: Window, _ place: Place, _ appModel: AppModel) {
        (self.window, self.place, self.appModel) = (window, place, appModel)
        open = app.action("open-vault", keys: []) { [unowned self] in openAnother() }
        usual = app.action("open-default-vault", keys: []) { [unowned self] in openDefault() }
        restore = app.action("restore", keys: []) { [unowned self] in restoreBackup() }
        // Behind the cover nothing comes up.
        bind(self, { [appModel] in appModel.models?.lock.isLocked ?? false }) { [unowned self] isLocked in
            open?.isEnabled = !isLocked
            restore?.isEnabled = !isLocked
            usual?.isEnabled = !isLocked && hasDefault
        }
    }

    /// Whether the vault that there is without a word is another one.
    var hasDefault: Bool { place.isOther }

    /// Shows the form that makes a vault of a backup.
    /// - Parameter backup: The one that was chosen already.
    func restoreBackup(_ backup: String? = nil) {
        let model = restoring ?? RestoreModel(near: place.home)
        restoring = model
        if let backup { model.take(backup) }
        let ways = RestoreForm.Ways(
            chooseBackup: { [unowned self] in chooseFolder(tr("Choose a Backup"), $0) },
            choosePlace: { [unowned self] in chooseNew(tr("Choose a New Folder"), $0, $1) },
            open: { [unowned self] in
                restoring = nil
                go(to: $0)
            })
        let onEnd = { [unowned self] in
            guard restoring === model, !model.isCopying else { return }
            restoring = nil
            if case .restored = model.step, ready == nil, model.target == place.home { appModel.load() }
        }
        if let ready {
            ready.sheets.showRestore(model, ways, onEnd: onEnd)
        } else {
            stopPage()?.restore(model, ways, onEnd: onEnd)
        }
    }

    /// Opens the vault in a folder that is chosen; a backup is restored first.
    func openAnother() {
        chooseFolder(tr("Open Another Vault")) { [unowned self] folder in
            if let backup = RestoreModel.backup(in: folder) {
                restoreBackup(backup)
            } else if folder == place.home, ready != nil {
                say(tr("This vault is open already"))
            } else if Vault.isVault(at: folder) {
                go(to: folder)
            } else {
                say(tr("There is no vault in this folder"))
            }
        }
    }

    func openDefault() { if hasDefault { go(to: nil) } }

    /// The vault that is shown is locked, and the program begins with another one.
    private func go(to home: String?) {
        // What was restored to where the vault was missing is simply there.
        if home == place.home, ready == nil { return appModel.load() }
        guard let ready else { return begin(home) }
        ready.leaving { [unowned self] in begin(home) }
    }

    private func begin(_ home: String?) {
        Task { [self] in
            if let models = appModel.models { await models.lock.play(.forceLock) }
            ready?.clipboard.clearSecret()
            Place.beginAnew(with: home)
            say(tr("It could not be opened"))
        }
    }

    private func say(_ text: String) { if let ready { ready.toast(text) } else { stopPage()?.say(text) } }

    private func chooseFolder(_ title: String, _ chosen: @escaping (String) -> Void) {
        if let ready { return ready.chooseFolder(title, chosen) }
        dialog = window.chooseFolder(title) { [unowned self] in took($0, chosen) }
    }

    private func chooseNew(_ title: String, _ name: String, _ chosen: @escaping (String) -> Void) {
        if let ready { return ready.chooseFile(title, saveAs: name, chosen) }
        dialog = window.chooseFile(title, saveAs: name) { [unowned self] in took($0, chosen) }
    }

    private func took(_ path: String?, _ chosen: (String) -> Void) {
        dialog = nil
        if let path { chosen(path) }
    }
}

extension ReadyWindow {
    /// Shows the form that makes a vault of a backup.
    func restoreBackup() { gtk_widget_activate_action_variant(window.widget, "app.restore", nil) }
}
