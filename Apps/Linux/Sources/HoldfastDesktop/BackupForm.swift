import CAdw
import GtkKit
import Holdfast
import HoldfastUI

/// The backup: where it goes, how far it is, and what was made.
final class BackupForm: SheetForm {
    let root: Widget, cancel: Button, confirm: Button
    private let title: Label, text: Label, last: Label, bar: ProgressBar, confirmPlace: Widget
    private var model: BackupModel?
    /// Whether it is on the screen; the model outlives that.
    private var isShown = false
    /// Asks for a folder.
    private var choose: (@escaping (String) -> Void) -> Void = { _ in }

    init(_ ui: Builder) {
        root = ui.widget("backup")
        cancel = ui.widget("backup-cancel")
        confirm = ui.widget("backup-confirm")
        confirmPlace = ui.widget("backup-confirm-place")
        title = ui.widget("backup-title")
        text = ui.widget("backup-text")
        last = ui.widget("backup-last")
        bar = ui.widget("backup-bar")
        confirm.onClick { [unowned self] in
            choose { [unowned self] folder in
                guard isShown, let model else { return }
                Task { await model.make(in: folder) }
            }
        }
    }

    /// Begins.
    /// - Parameter choose: Asks for a folder.
    func prepare(_ model: BackupModel, choosing choose: @escaping (@escaping (String) -> Void) -> Void) {
        model.end()
        self.choose = choose
        isShown = true
        if self.model == nil {
            self.model = model
            bind(self, { [weak model] in model?.step ?? .none }) { [unowned self] step in if isShown { show(step) } }
        }
        show(model.step)
    }

    /// What is being made is stopped; what was made stays.
    func clear() {
        guard isShown else { return }
        isShown = false
        choose = { _ in }
        model?.end()
        text.text = ""
        last.text = ""
    }

    private func show(_ step: BackupModel.Step) {
        for widget in [last, bar, confirmPlace] as [Widget] { widget.isVisible = false }
        cancel.label = tr("Cancel")
        switch step {
        case .none:
            say(
                tr("Back Up the Vault"),
                tr(
                    "The copy stays encrypted and opens with the same passcode and recovery phrase. Keep it on another disk: the folder %s is made there, or brought up to date.",
                    BackupModel.folderName))
            last.text = BackupText.last(model?.lastBackup)
            last.isVisible = true
            offer(tr("Choose a Folder…"))
        case .copying(let done, let total):
            say(tr("Backing Up"), total > 0 ? tr("%s of %s", Format.size(done), Format.size(total)) : "")
            bar.isVisible = true
            bar.fraction = total > 0 ? Double(done) / Double(total) : 0
        case .made(let path, let files, let bytes):
            say(
                tr("Backed Up"), trn("%d file", "%d files", files) + " · " + Format.size(bytes) + "\n" + path)
            cancel.label = tr("Close")
            cancel.focus()
        case .failed(let problem):
            say(tr("No Backup Was Made"), BackupText.failure(problem))
            cancel.label = tr("Close")
            offer(tr("Choose Another…"))
        }
    }

    private func say(_ title: String, _ text: String) {
        self.title.text = title
        self.text.text = text
        self.text.isVisible = !text.isEmpty
    }

    private func offer(_ label: String) {
        confirm.label = label
        confirmPlace.isVisible = true
    }
}
