import CAdw
import GtkKit
import Holdfast
import HoldfastUI

/// What comes up in the tray.
protocol SheetForm: AnyObject {
    var root: Widget { get }
    var cancel: Button { get }
    /// Nothing that was typed stays in it.
    func clear()
}

/// The tray that comes up from the bottom edge: asks for a passcode or a yes, an item, a new passcode. It is a part of
/// the window, so that the cover hides it too.
final class Sheets {
    private let window: Window
    private let main: Widget
    private let sheet: Revealer, scrim: Revealer
    private let forms: Stack
    // Made when they first come up: together they cost a tenth of the time to the first frame.
    private lazy var parts = Builder(PackageResources.sheets_ui)
    private lazy var items = Builder(PackageResources.item_ui)
    private lazy var keeping = Builder(PackageResources.keeping_ui)
    private lazy var restore = made(RestoreForm(), "restore")
    private lazy var ask = made(AskForm(parts), "ask")
    private(set) lazy var edit = made(EditForm(parts), "edit")
    private(set) lazy var change = made(ChangeForm(parts, .passcode), "change")
    private(set) lazy var pin = made(ChangeForm(parts, .pin), "pin")
    private lazy var fields = made(FieldsForm(parts), "fields")
    private lazy var words = made(WordsForm(parts, window), "words")
    private lazy var owner = made(OwnerForm(parts), "owner")
    private(set) lazy var kinds = made(KindsForm(items), "kinds")
    private(set) lazy var item = made(ItemForm(items), "item")
    private(set) lazy var preview = made(PreviewForm(items), "preview")
    private lazy var importing = made(ImportForm(Builder(PackageResources.import_ui)), "import")
    private lazy var backup = made(BackupForm(keeping), "backup")
    private lazy var export = made(ExportForm(keeping), "export")
    private var everyForm: [any SheetForm] = []
    private var onCancel: (() -> Void)?
    /// Called when a sheet comes or goes.
    var onChange: () -> Void = {}
    private(set) var isUp = false
    private var isWarned = false

    init(_ ui: Builder, _ window: Window) {
        self.window = window
        main = ui.widget("main")
        sheet = ui.widget("sheet")
        scrim = ui.widget("scrim")
        forms = ui.widget("forms")
        // A sheet that is down must be gone for the keyboard and screen readers too.
        sheet.on("notify::child-revealed") { [unowned self] in if !sheet.isRevealed { sheet.isVisible = false } }
        sheet.isVisible = false
        scrim.isVisible = false
    }

    /// Asks for the passcode, and for the recovery phrase where it is wanted.
    func askPasscode(
        _ title: String, _ text: String, confirm: String, isDestructive: Bool = false, wantsPhrase: Bool = false,
        _ onConfirm: @escaping (consuming SecretBytes, SecretCarrier?) -> Void, onCancel: @escaping () -> Void
    ) {
        ask.prepare(
            title, text, confirm: confirm, isDestructive: isDestructive, wantsPasscode: true, wantsPhrase: wantsPhrase)
        ask.onConfirm = { [unowned self] in
            guard let passcode = ask.takePasscode() else { return }
            let phrase = ask.takePhrase()
            self.onCancel = nil
            dismiss()
            onConfirm(passcode, phrase)
        }
        show("ask", ask.root, ask.passcode, onCancel)
    }

    /// Shows what the system says while it asks its owner.
    func showOwner(_ dialog: OwnerDialog, _ title: String, _ text: String, onCancel: @escaping () -> Void) {
        owner.prepare(dialog, title, text)
        show("owner", owner.root, owner.cancel, onCancel)
    }

    /// Puts that sheet away, if it is up: the system asks no more.
    func dismissOwner() {
        guard isUp, forms.page == "owner" else { return }
        onCancel = nil
        dismiss()
    }

    /// Restores a backup.
    /// - Parameters:
    ///   - ways: What the form does.
    ///   - onEnd: Called when it goes.
    func showRestore(_ model: RestoreModel, _ ways: RestoreForm.Ways, onEnd: @escaping () -> Void) {
        restore.prepare(model, ways)
        show("restore", restore.root, restore.first, onEnd)
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

    /// Asks for what an action of the identity needs.
    func askFields(_ question: FieldsForm.Question, _ onConfirm: @escaping (FieldsForm.Answer) -> Void) {
        fields.prepare(question)
        fields.onConfirm = { [unowned self] answer in
            dismiss()
            onConfirm(answer)
        }
        show("fields", fields.root, fields.first) {}
    }

    /// Shows the words of a new phrase until their owner says that they are on paper.
    /// - Parameter withPhrase: Lends the text while there is one.
    func showWords(
        _ purpose: WordsForm.Purpose = .identity, _ withPhrase: @escaping ((RawSpan) -> Void) -> Void,
        _ onConfirm: @escaping () -> Void,
        onCancel: @escaping () -> Void
    ) {
        words.prepare(purpose, withPhrase)
        words.onConfirm = { [unowned self] in
            self.onCancel = nil
            dismiss()
            onConfirm()
        }
        show("words", words.root, words.cancel, onCancel)
    }

    /// Whether a dialog of the system is open that belongs to a sheet.
    var hasDialog: Bool { isUp && forms.page == "words" && words.isPrinting }

    func showEdit() { show("edit", edit.root, edit.first) {} }
    func showChange() { show("change", change.root, change.entry) {} }
    func showKinds() { show("kinds", kinds.root, kinds.first) {} }
    /// Imports a file: nothing is stored before its user has seen what would be.
    func showImport(
        _ model: ImportModel, _ open: @escaping (ImportModel) async -> Void,
        choosing choose: @escaping (@escaping (String) -> Void) -> Void
    ) {
        importing.prepare(model, open, choosing: choose)
        show("import", importing.root, importing.cancel) {}
    }

    /// Makes a backup.
    /// - Parameter choose: Asks for a folder.
    func showBackup(_ model: BackupModel, choosing choose: @escaping (@escaping (String) -> Void) -> Void) {
        backup.prepare(model, choosing: choose)
        show("backup", backup.root, backup.confirm) {}
    }

    /// Exports entries.
    /// - Parameters:
    ///   - ids: Which ones; nil for all.
    ///   - choose: Asks for a file, which is to be called so.
    func showExport(
        _ model: ExportModel, _ ids: [VaultItem.ID]?,
        choosing choose: @escaping (String, @escaping (String) -> Void) -> Void
    ) {
        export.prepare(model, ids, choosing: choose)
        show("export", export.root, export.format) {}
    }

    func showPreview() { show("preview", preview.root, preview.cancel) {} }
    func showItem() { show("item", item.root, item.first) {} }
    func showPIN() { show("pin", pin.root, pin.old) {} }

    /// Escape was pressed: it puts the sheet away, but what was typed for a new item only when pressed again.
    func escape() {
        let isTyped = forms.page == "item" && item.isTyped || forms.page == "edit" && edit.isTyped
        guard isTyped, !isWarned else { return cancel() }
        isWarned = true
        let text = tr("Press Escape again to throw away what you typed.")
        if forms.page == "item" { item.show(text) } else { edit.show(text: text) }
    }

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
        for form in everyForm { form.clear() }
        let onCancel = onCancel
        self.onCancel = nil
        onCancel?()
        onChange()
    }

    private func made<Form: SheetForm>(_ form: Form, _ name: String) -> Form {
        forms.add(form.root, named: name)
        form.root.isVisible = false
        form.cancel.onClick { [unowned self] in cancel() }
        everyForm.append(form)
        return form
    }

    private func show(_ name: String, _ form: Widget, _ first: Widget, _ onCancel: @escaping () -> Void) {
        for other in everyForm { other.root.isVisible = other.root === form }
        forms.page = name
        self.onCancel = onCancel
        isUp = true
        isWarned = false
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
