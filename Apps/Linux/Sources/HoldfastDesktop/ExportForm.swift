import CAdw
import GtkKit
import Holdfast
import HoldfastUI

/// The export: what the file is and who can read it, the proof that its user is there, and what was written.
final class ExportForm: SheetForm {
    let root: Widget, cancel: Button, format: ComboRow
    private let title: Label, text: Label, list: ListBox, bar: ProgressBar, problem: Label
    private let password: Editable, repeated: Editable, passcode: Editable
    private let said: Label, answer: Editable, give: Button, confirm: Button, confirmPlace: Widget
    private var model: ExportModel?
    private var talk: OwnerTalk?
    private var ids: [VaultItem.ID]?
    /// Whether it is on the screen; the model outlives that.
    private var isShown = false
    /// Asks for a file, which is to be called so.
    private var choose: (String, @escaping (String) -> Void) -> Void = { _, _ in }

    private static let formats = ExportModel.Format.allCases

    init(_ ui: Builder) {
        root = ui.widget("export")
        cancel = ui.widget("export-cancel")
        format = ui.widget("export-format")
        title = ui.widget("export-title")
        text = ui.widget("export-text")
        list = ui.widget("export-list")
        bar = ui.widget("export-bar")
        problem = ui.widget("export-problem")
        password = ui.widget("export-password")
        repeated = ui.widget("export-repeat")
        passcode = ui.widget("export-passcode")
        said = ui.widget("export-said")
        answer = ui.widget("export-answer")
        give = ui.widget("export-give")
        confirm = ui.widget("export-confirm")
        confirmPlace = ui.widget("export-confirm-place")
        format.setChoices(ExportForm.formats.map { $0 == .plain ? tr("Plain text (JSON)") : tr("KeePass (encrypted)") })
        format.onChange { [unowned self] _ in if isShown { show(model?.step ?? .none) } }
        confirm.onClick { [unowned self] in advance() }
        for entry in [password, repeated, passcode] { entry.onEntryActivate { [unowned self] in advance() } }
    }

    /// Begins.
    /// - Parameters:
    ///   - ids: Which entries; nil for all.
    ///   - choose: Asks for a file, which is to be called so.
    func prepare(
        _ model: ExportModel, _ ids: [VaultItem.ID]?,
        choosing choose: @escaping (String, @escaping (String) -> Void) -> Void
    ) {
        model.drop()
        self.choose = choose
        self.ids = ids
        isShown = true
        confirm.isVisible = true
        format.selected = 0
        if self.model == nil {
            self.model = model
            talk = OwnerTalk(model.dialog, said: said, answer: answer, confirm: give)
            talk?.onQuestion = { [unowned self] isAsked in
                confirm.isVisible = !isAsked
                confirmPlace.isVisible = true
            }
            bind(self, { [weak model] in model?.step ?? .none }) { [unowned self] step in
                guard isShown else { return }
                show(step)
                if step == .proven { chooseFile() }
            }
        }
        show(model.step)
    }

    /// Nothing that was typed stays, nor a part of a file.
    func clear() {
        guard isShown else { return }
        isShown = false
        ids = nil
        choose = { _, _ in }
        model?.drop()
        for entry in [password, repeated, passcode, answer] { entry.clear() }
        text.text = ""
    }

    private var chosen: ExportModel.Format { ExportForm.formats[format.selected] }

    private func advance() {
        guard let model, confirmPlace.isVisible, confirm.isVisible, confirm.isSensitive else { return }
        switch model.step {
        case .none, .refused: prove(model)
        case .proven: chooseFile()
        case .proving, .writing, .written, .failed: break
        }
    }

    private func prove(_ model: ExportModel) {
        if chosen == .database {
            guard !password.isEmpty else { return refuse(tr("The new file needs a password."), password) }
            guard let first = try? password.copySecret(), let second = try? repeated.copySecret() else {
                return refuse(ProblemText.of(.outOfMemory), password)
            }
            guard first.isEqual(to: second) else { return refuse(tr("The two passwords differ."), repeated) }
        }
        guard model.takesPasscode else {
            Task { await model.prove(passcode: nil) }
            return
        }
        guard !passcode.isEmpty, let secret = try? passcode.takeSecret() else { return passcode.focus() }
        let carried = SecretCarrier(secret)
        Task { await model.prove(passcode: carried.take()) }
    }

    private func refuse(_ text: String, _ entry: Editable) {
        problem.text = text
        problem.isVisible = true
        entry.focus()
    }

    private func chooseFile() {
        choose(chosen == .plain ? "Holdfast.json" : "Holdfast.kdbx") { [unowned self] path in
            guard isShown, let model else { return }
            var carried: SecretCarrier?
            if chosen == .database {
                guard let secret = try? password.copySecret() else { return }
                carried = SecretCarrier(secret)
            }
            let (ids, format) = (ids, chosen)
            Task { await model.write(ids, as: format, password: carried?.take(), to: path) }
        }
    }

    private func show(_ step: ExportModel.Step) {
        for widget in [list, bar, problem, confirmPlace] as [Widget] { widget.isVisible = false }
        list.isSensitive = true
        cancel.label = tr("Cancel")
        let isPlain = chosen == .plain
        let heading = ids.map { trn("Export %d Item", "Export %d Items", $0.count) } ?? tr("Export All Items")
        switch step {
        case .none, .refused, .proving:
            say(heading, warning)
            list.isVisible = true
            list.isSensitive = step != .proving
            for entry in [password, repeated] { entry.isVisible = !isPlain }
            passcode.isVisible = model?.takesPasscode ?? true
            confirmPlace.isVisible = true
            confirm.isSensitive = step != .proving
            confirm.setClass("destructive-action", isPlain)
            confirm.setClass("suggested-action", !isPlain)
            confirm.label = tr("Continue")
            if case .refused(let reason) = step { refuse(ProblemText.of(reason), passcode) }
        case .proven:
            say(heading, tr("Choose where the file goes."))
            confirmPlace.isVisible = true
            confirm.isSensitive = true
            confirm.label = tr("Choose a File…")
        case .writing(let done, let total):
            say(tr("Exporting"), "")
            bar.isVisible = true
            bar.fraction = total > 0 ? Double(done) / Double(total) : 0
        case .written(let report):
            say(tr("Exported"), ExportForm.text(report, isPlain: isPlain))
            for entry in [password, repeated] { entry.clear() }
            cancel.label = tr("Close")
            cancel.focus()
        case .failed(let reason):
            say(tr("Nothing Was Exported"), ProblemText.of(reason))
            cancel.label = tr("Close")
        }
    }

    private var warning: String {
        chosen == .plain
            ? tr("Anyone who gets this file can read everything in it.")
            : tr("Anyone who gets this file and its password can read everything in it.")
    }

    private func say(_ title: String, _ text: String) {
        self.title.text = title
        self.text.text = text
        self.text.isVisible = !text.isEmpty
    }

    private static func text(_ report: ExportModel.Report, isPlain: Bool) -> String {
        var lines = [trn("%d item is in this file:", "%d items are in this file:", report.entries), report.path]
        if isPlain { lines.append(tr("It is not encrypted: delete it as soon as it was imported elsewhere.")) }
        if !report.left.isEmpty {
            lines.append(tr("Too large, and left out: %s", several(report.left)))
        }
        if !report.shut.isEmpty {
            lines.append(tr("Left out, because they need a stronger unlock: %s", several(report.shut)))
        }
        return lines.joined(separator: "\n")
    }

    /// The first ones; there may be thousands.
    private static func several(_ names: [String]) -> String {
        let shown = names.prefix(5).joined(separator: ", ")
        return names.count > 5 ? shown + ", " + trn("and %d more", "and %d more", names.count - 5) : shown
    }
}
