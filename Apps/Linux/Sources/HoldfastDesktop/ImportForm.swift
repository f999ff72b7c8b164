import CAdw
import GtkKit
import Holdfast
import HoldfastUI

/// The import of another program's file: its password, what would be stored, and what was.
final class ImportForm: SheetForm {
    let root: Widget, cancel: Button
    private let title: Label, text: Label, spinner: Widget, bar: ProgressBar
    private let passwordList: Widget, password: Editable, place: Widget, list: ListBox, confirm: Button
    private let keyRow: Row
    private var model: ImportModel?
    /// The key file that was chosen.
    private var key: String?
    /// Asks for a file.
    private var choose: (@escaping (String) -> Void) -> Void = { _ in }

    /// Rows of a plan that are shown; a file may have many thousands.
    private static let most = 200

    init(_ ui: Builder) {
        root = ui.widget("import")
        cancel = ui.widget("import-cancel")
        title = ui.widget("import-title")
        text = ui.widget("import-text")
        spinner = ui.widget("import-spinner")
        bar = ui.widget("import-bar")
        passwordList = ui.widget("import-password-list")
        password = ui.widget("import-password")
        place = ui.widget("import-place")
        list = ui.widget("import-list")
        keyRow = ui.widget("import-key-row")
        confirm = ui.widget("import-confirm")
        confirm.onClick { [unowned self] in advance() }
        ui.widget("import-key", as: Button.self).onClick { [unowned self] in
            choose { [unowned self] path in
                guard model?.takesKeyFile == true else { return }
                key = path
                keyRow.subtitle = path.split(separator: "/").last.map(String.init) ?? path
            }
        }
        password.onEntryActivate { [unowned self] in advance() }
    }

    /// Begins with a file or an image.
    /// - Parameters:
    ///   - open: Has the model read it.
    ///   - choose: Asks for a key file.
    func prepare(
        _ model: ImportModel, _ open: @escaping (ImportModel) async -> Void,
        choosing choose: @escaping (@escaping (String) -> Void) -> Void
    ) {
        clear()
        self.model = model
        self.choose = choose
        bind(self, { [weak model] in model?.step ?? .none }) { [unowned self, weak model] step in
            if let model, self.model === model { show(step) }
        }
        Task { await open(model) }
    }

    /// Nothing of the file stays.
    func clear() {
        model?.drop()
        model = nil
        password.clear()
        key = nil
        keyRow.subtitle = ""
        choose = { _ in }
        list.removeAll()
    }

    private func advance() {
        guard let model, confirm.isSensitive else { return }
        switch model.step {
        case .password:
            guard key != nil || !password.isEmpty, let secret = try? password.takeSecret() else { return }
            let carried = SecretCarrier(secret)
            Task { [key] in await model.open(with: carried.take(), keyFile: key) }
        case .planned: Task { await model.store() }
        case .none, .reading, .storing, .stored, .failed: break
        }
    }

    private func show(_ step: ImportModel.Step) {
        list.removeAll()
        for widget in [spinner, bar, passwordList, place] { widget.isVisible = false }
        confirm.isVisible = false
        confirm.isSensitive = true
        cancel.label = tr("Cancel")
        switch step {
        case .none, .reading: say(tr("Reading the File"), tr("Nothing is stored yet."), spinner)
        case .password(let wasWrong):
            say(
                tr("The File Is Encrypted"),
                wasWrong
                    ? tr("That password is not the right one, or the file was changed.")
                    : tr("It has a password of its own."),
                passwordList)
            keyRow.isVisible = model?.takesKeyFile == true
            offer(tr("Open"))
            password.focus()
        case .planned(let plan): show(plan)
        case .storing(let done, let total):
            say(tr("Importing"), tr("All items become visible at once."), bar)
            bar.fraction = total > 0 ? Double(done) / Double(total) : 0
        case .stored(let plan):
            say(
                tr("Imported"),
                trn("%d item was stored.", "%d items were stored.", plan.added.count) + " "
                    + tr("An export that is not encrypted is still on your disk: remove it."), nil)
            cancel.label = tr("Close")
        case .failed(let failure):
            say(tr("Nothing Was Imported"), ImportForm.text(failure), nil)
            cancel.label = tr("Close")
        }
    }

    private func say(_ title: String, _ text: String, _ shown: Widget?) {
        self.title.text = title
        self.text.text = text
        shown?.isVisible = true
    }

    private func offer(_ label: String) {
        confirm.label = label
        confirm.isVisible = true
    }

    private func show(_ plan: ImportModel.Plan) {
        var parts = [
            trn("%d new item", "%d new items", plan.added.count) + " → " + plan.collection
        ]
        if !plan.updated.isEmpty {
            parts.append(trn("%d will be updated", "%d will be updated", plan.updated.count))
        }
        if !plan.duplicates.isEmpty {
            parts.append(trn("%d is there already", "%d are there already", plan.duplicates.count))
        }
        if !plan.notes.isEmpty {
            parts.append(trn("%d thing is left out or changed", "%d things are left out or changed", plan.notes.count))
        }
        say(tr("Import These Items?"), parts.joined(separator: " · "), place)
        let rows =
            plan.notes.map { (tr("Left out or changed"), $0, "dialog-warning-symbolic") }
            + plan.added.map { ($0, "", "list-add-symbolic") }
            + plan.updated.map { ($0, tr("Is updated; earlier values are kept"), "emblem-synchronizing-symbolic") }
            + plan.duplicates.map { ($0, tr("Is there already"), "emblem-ok-symbolic") }
        for (title, subtitle, icon) in rows.prefix(ImportForm.most) {
            list.append(Row(title: title, subtitle: subtitle, icon: icon))
        }
        if rows.count > ImportForm.most {
            list.append(Row(title: trn("and %d more", "and %d more", rows.count - ImportForm.most)))
        }
        place.isVisible = !rows.isEmpty
        if plan.isEmpty { cancel.label = tr("Close") } else { offer(tr("Import")) }
    }

    private static func text(_ failure: ImportModel.Failure) -> String {
        switch failure {
        case .unknownFormat:
            tr("This is no file of a password manager, an authenticator or a browser that is known.")
        case .noCode: tr("There is no QR code in the image.")
        case .damaged(let place):
            place.isEmpty ? tr("The file is damaged.") : tr("The file is damaged (%s).", place)
        case .unsupported(let what): tr("The file needs something that is not known here: %s.", what)
        case .unknownColumns:
            tr("The columns of this table are not known. holdfast import --column says what they are.")
        case .tooLarge: tr("The file is too large to be imported.")
        case .other(let problem): ProblemText.of(problem)
        }
    }
}
