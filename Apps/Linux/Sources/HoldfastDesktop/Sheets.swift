import CAdw
import GtkKit
import Holdfast
import HoldfastUI

/// The tray that comes up from the bottom edge: asks for a passcode or a yes, an item, a new passcode. It is a part of the
/// window, so that the cover hides it too.
final class Sheets {
    private let window: Window
    private let main: Widget
    private let sheet: Revealer, scrim: Revealer
    private let forms: Stack
    private let ask: AskForm
    let edit: EditForm
    let change: ChangeForm
    private var onCancel: (() -> Void)?
    /// Called when a sheet comes or goes.
    var onChange: () -> Void = {}
    private(set) var isUp = false

    init(_ ui: Builder, _ window: Window) {
        self.window = window
        main = ui.widget("main")
        sheet = ui.widget("sheet")
        scrim = ui.widget("scrim")
        forms = ui.widget("forms")
        let parts = Builder(PackageResources.sheets_ui)
        ask = AskForm(parts)
        edit = EditForm(parts)
        change = ChangeForm(parts)
        for (form, name) in [(ask.root, "ask"), (edit.root, "edit"), (change.root, "change")] {
            forms.add(form, named: name)
            form.isVisible = false
        }
        ask.cancel.onClick { [unowned self] in cancel() }
        edit.cancel.onClick { [unowned self] in cancel() }
        change.cancel.onClick { [unowned self] in cancel() }
        // A sheet that is down must be gone for the keyboard and screen readers too.
        sheet.on("notify::child-revealed") { [unowned self] in if !sheet.isRevealed { sheet.isVisible = false } }
        sheet.isVisible = false
        scrim.isVisible = false
    }

    /// Asks for the passcode.
    func askPasscode(
        _ title: String, _ text: String, confirm: String, _ onConfirm: @escaping (consuming SecretBytes) -> Void,
        onCancel: @escaping () -> Void
    ) {
        ask.prepare(title, text, confirm: confirm, isDestructive: false, wantsPasscode: true)
        ask.onConfirm = { [unowned self] in
            guard let passcode = ask.takePasscode() else { return }
            self.onCancel = nil
            dismiss()
            onConfirm(passcode)
        }
        show("ask", ask.root, ask.passcode, onCancel)
    }

    /// Asks for a yes.
    func askConfirmation(
        _ title: String, _ text: String, confirm: String, _ onConfirm: @escaping () -> Void,
        onCancel: @escaping () -> Void = {}
    ) {
        ask.prepare(title, text, confirm: confirm, isDestructive: true, wantsPasscode: false)
        ask.onConfirm = { [unowned self] in
            self.onCancel = nil
            dismiss()
            onConfirm()
        }
        show("ask", ask.root, ask.cancel, onCancel)
    }

    func showEdit() { show("edit", edit.root, edit.first) {} }
    func showChange() { show("change", change.root, change.old) {} }

    func cancel() {
        let onCancel = onCancel
        self.onCancel = nil
        dismiss()
        onCancel?()
    }

    /// Puts it away; nothing that was typed stays in it.
    func dismiss() {
        guard isUp else { return }
        isUp = false
        window.dropFocus()
        sheet.isRevealed = false
        scrim.isRevealed = false
        scrim.set("can-target", false)
        scrim.isVisible = false
        main.isSensitive = true
        ask.clear()
        edit.clear()
        change.clear()
        let onCancel = onCancel
        self.onCancel = nil
        onCancel?()
        onChange()
    }

    private func show(_ name: String, _ form: Widget, _ first: Widget, _ onCancel: @escaping () -> Void) {
        for other in [ask.root, edit.root, change.root] { other.isVisible = other === form }
        forms.page = name
        self.onCancel = onCancel
        isUp = true
        main.isSensitive = false
        scrim.isVisible = true
        sheet.isVisible = true
        sheet.isRevealed = true
        scrim.isRevealed = true
        scrim.set("can-target", true)
        first.focus()
        onChange()
    }
}
