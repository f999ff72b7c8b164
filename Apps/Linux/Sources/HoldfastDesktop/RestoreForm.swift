import CAdw
import GtkKit
import HoldfastUI

/// A backup that becomes a vault: what is restored, where to, how far it is, and how it ended.
final class RestoreForm: SheetForm {
    /// What the form has done elsewhere.
    struct Ways {
        /// Asks for the folder of the backup.
        let chooseBackup: (@escaping (String) -> Void) -> Void
        /// Asks for the folder that the vault will be in; its name is proposed.
        let choosePlace: (_ name: String, @escaping (String) -> Void) -> Void
        /// Opens the vault in this folder.
        let open: (String) -> Void
    }

    let root: Widget, cancel: Button, first: Button
    private let title: Label, text: Label, list: Widget, source: Row, target: Row, bar: ProgressBar
    private let place: Button, confirm: Button
    private var model: RestoreModel?
    private var ways: Ways?

    init() {
        let ui = Builder(PackageResources.restore_ui)
        root = ui.widget("restore")
        cancel = ui.widget("restore-cancel")
        first = ui.widget("restore-choose")
        title = ui.widget("restore-title")
        text = ui.widget("restore-text")
        list = ui.widget("restore-list")
        source = ui.widget("restore-source")
        target = ui.widget("restore-target")
        bar = ui.widget("restore-bar")
        place = ui.widget("restore-place")
        confirm = ui.widget("restore-confirm")
        first.onClick { [unowned self] in
            ways?.chooseBackup { [weak model] folder in model?.take(folder) }
        }
        place.onClick { [unowned self] in
            guard let model else { return }
            let name = model.target.split(separator: "/").last.map(String.init) ?? "holdfast"
            ways?.choosePlace(name) { [weak model] folder in model?.put(in: folder) }
        }
        confirm.onClick { [unowned self] in advance() }
    }

    private struct Shown: Equatable {
        let step: RestoreModel.Step, source: String?, target: String
        init(_ model: RestoreModel) { (step, source, target) = (model.step, model.source, model.target) }
    }

    /// Begins, or continues what was begun.
    func prepare(_ model: RestoreModel, _ ways: Ways) {
        (self.model, self.ways) = (model, ways)
        bind(model, { [unowned model] in Shown(model) }) { [weak self, weak model] shown in
            if let self, let model, self.model === model { show(shown) }
        }
    }

    /// It is on the screen no more.
    func clear() {
        (model, ways) = (nil, nil)
        for row in [source, target] { row.subtitle = "" }
        text.text = ""
    }

    private func advance() {
        guard let model else { return }
        switch model.step {
        case .choosing: Task { await model.restore() }
        case .restored: ways?.open(model.target)
        case .failed: model.goBack()
        case .copying: break
        }
    }

    private func show(_ shown: Shown) {
        list.isVisible = shown.step == .choosing
        bar.isVisible = false
        cancel.isVisible = true
        cancel.label = tr("Cancel")
        confirm.isVisible = true
        confirm.isSensitive = true
        source.subtitle = shown.source ?? tr("The folder of a backup, or one with several backups in it")
        target.subtitle = shown.target
        switch shown.step {
        case .choosing:
            say(
                tr("Restore a Backup"),
                tr(
                    "The backup becomes a vault in a new folder. It opens with the passcode or the recovery phrase that it had. No other vault is changed."
                ))
            confirm.label = tr("Restore")
            confirm.isSensitive = shown.source != nil
        case .copying(let done, let total):
            say(tr("Restoring"), tr("Each byte is compared with what was backed up."))
            bar.isVisible = true
            bar.fraction = total > 0 ? Double(done) / Double(total) : 0
            cancel.isVisible = false
            confirm.isVisible = false
        case .restored(let left):
            var words = tr("The vault is in %s", shown.target)
            if let left {
                words +=
                    "\n"
                    + trn(
                        "Wrong passcodes from before the backup count: %d attempt is left.",
                        "Wrong passcodes from before the backup count: %d attempts are left.", left)
            }
            say(tr("Restored"), words)
            cancel.label = tr("Close")
            confirm.label = tr("Open It")
            confirm.focus()
        case .failed(let failure):
            say(tr("Nothing Was Restored"), RestoreForm.text(failure))
            cancel.label = tr("Close")
            confirm.label = tr("Choose Again")
        }
    }

    private func say(_ title: String, _ text: String) {
        self.title.text = title
        self.text.text = text
    }

    private static func text(_ failure: RestoreModel.Failure) -> String {
        switch failure {
        case .noBackup: tr("There is no backup in this folder.")
        case .damaged: tr("The backup is damaged: it is not what was written.")
        case .exists: tr("There is something in the new folder already. Choose another one.")
        case .other(let problem): ProblemText.of(problem)
        }
    }
}
