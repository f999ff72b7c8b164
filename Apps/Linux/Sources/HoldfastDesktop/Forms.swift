import CAdw
import GtkKit
import Holdfast
import HoldfastUI

/// A question, with or without a passcode.
final class AskForm: SheetForm {
    let root: Widget, passcode: Editable, cancel: Button
    var onConfirm: () -> Void = {}
    private let title: Label, text: Label, list: Widget, problem: Label, confirm: Button, phrase: Editable

    init(_ ui: Builder) {
        root = ui.widget("ask")
        passcode = ui.widget("ask-passcode")
        phrase = ui.widget("ask-phrase")
        cancel = ui.widget("ask-cancel")
        title = ui.widget("ask-title")
        text = ui.widget("ask-text")
        list = ui.widget("ask-list")
        problem = ui.widget("ask-problem")
        confirm = ui.widget("ask-confirm")
        confirm.onClick { [unowned self] in onConfirm() }
        passcode.onEntryActivate { [unowned self] in if phrase.isVisible { phrase.focus() } else { onConfirm() } }
        phrase.onEntryActivate { [unowned self] in onConfirm() }
    }

    func prepare(
        _ title: String, _ text: String, confirm: String, isDestructive: Bool, wantsPasscode: Bool,
        wantsPhrase: Bool = false
    ) {
        phrase.isVisible = wantsPhrase
        phrase.clear()
        self.title.text = title
        self.text.text = text
        self.text.isVisible = !text.isEmpty
        self.confirm.label = confirm
        self.confirm.setClass("destructive-action", isDestructive)
        self.confirm.setClass("suggested-action", !isDestructive)
        list.isVisible = wantsPasscode
        problem.isVisible = false
        passcode.clear()
    }

    /// What was typed; nil until everything that is asked for was.
    func takePasscode() -> SecretBytes? {
        guard !passcode.isEmpty else { return nil }
        guard !phrase.isVisible || !phrase.isEmpty else {
            phrase.focus()
            return nil
        }
        return try? passcode.takeSecret()
    }

    /// The phrase, where it is asked for.
    func takePhrase() -> SecretCarrier? {
        guard phrase.isVisible, let words = try? phrase.takeSecret() else { return nil }
        return SecretCarrier(words)
    }

    func clear() {
        passcode.clear()
        phrase.clear()
        onConfirm = {}
    }
}

/// The system asks its owner.
final class OwnerForm: SheetForm {
    let root: Widget, cancel: Button
    private let title: Label, text: Label, said: Label, answer: Editable, confirm: Button
    private var talk: OwnerTalk?

    init(_ ui: Builder) {
        root = ui.widget("owner")
        cancel = ui.widget("owner-cancel")
        title = ui.widget("owner-title")
        text = ui.widget("owner-text")
        said = ui.widget("owner-said")
        answer = ui.widget("owner-answer")
        confirm = ui.widget("owner-confirm")
    }

    func prepare(_ dialog: OwnerDialog, _ title: String, _ text: String) {
        self.title.text = title
        self.text.text = text
        // One dialog for the whole time of a window.
        talk = talk ?? OwnerTalk(dialog, said: said, answer: answer, confirm: confirm)
    }

    func clear() { answer.clear() }
}

/// A new item, another value for one, or the place of a file.
final class EditForm: SheetForm {
    /// What is asked for.
    enum Purpose: Equatable { case new, value, file }

    let root: Widget, cancel: Button
    var onConfirm: (VaultItem.ID) -> Void = { _ in }
    private(set) var purpose = Purpose.new
    private let generator: Generator
    private let title: Label, name: Editable, collection: Editable, value: Editable, linesRow: Widget, lines: Toggle
    private let textPlace: Widget, text: TextView, problem: Label, confirm: Button

    /// What gets the keyboard first.
    var first: Widget { purpose == .value ? (lines.isOn ? text : value) : name }

    init(_ ui: Builder) {
        root = ui.widget("edit")
        cancel = ui.widget("edit-cancel")
        title = ui.widget("edit-title")
        name = ui.widget("edit-name")
        collection = ui.widget("edit-collection")
        value = ui.widget("edit-value")
        linesRow = ui.widget("edit-lines-row")
        lines = ui.widget("edit-lines")
        textPlace = ui.widget("edit-text-place")
        text = ui.widget("edit-text")
        problem = ui.widget("edit-problem")
        confirm = ui.widget("edit-confirm")
        generator = Generator(tr("Value")) { [value] in value.setSecret($0) }
        value.addSuffix(generator.button)
        confirm.onClick { [unowned self] in finish() }
        for entry in [name, collection, value] { entry.onEntryActivate { [unowned self] in finish() } }
        lines.onChange { [unowned self] in show(severalLines: $0) }
    }

    func prepare(_ purpose: Purpose, name: String, collection: String) {
        self.purpose = purpose
        title.text =
            switch purpose {
            case .new: tr("New Item")
            case .value: tr("Change the Value")
            case .file: tr("Add a File")
            }
        self.name.text = name
        self.collection.text = collection
        // A value is changed where it is.
        self.name.isVisible = purpose != .value
        self.collection.isVisible = purpose != .value
        value.clear()
        text.clear()
        lines.isOn = false
        show(severalLines: false)
        problem.isVisible = false
        confirm.isSensitive = true
    }

    /// Puts the present value into the form.
    func fill(_ bytes: RawSpan, hasSeveralLines: Bool) {
        lines.isOn = hasSeveralLines
        show(severalLines: hasSeveralLines)
        if hasSeveralLines { text.setSecret(bytes) } else { value.setSecret(bytes) }
    }

    /// Whether something was typed that would be lost.
    var isTyped: Bool { purpose == .new && (!name.isEmpty || !value.isEmpty) }

    func takeValue() -> SecretBytes? { lines.isOn ? try? text.takeSecret() : try? value.takeSecret() }

    func show(_ wrong: VaultProblem) { show(text: ProblemText.of(wrong)) }

    func show(text: String) {
        problem.text = text
        problem.isVisible = true
        confirm.isSensitive = true
    }

    func clear() {
        name.clear()
        collection.clear()
        value.clear()
        text.clear()
        generator.button.close()
        generator.clear()
        onConfirm = { _ in }
    }

    private func finish() {
        guard !name.isEmpty else { return show(text: tr("Enter a name.")) }
        problem.isVisible = false
        onConfirm(VaultItem.ID(folder: collection.text, title: name.text))
    }

    private func show(severalLines: Bool) {
        value.isVisible = purpose != .file && !severalLines
        linesRow.isVisible = purpose != .file
        textPlace.isVisible = purpose != .file && severalLines
    }
}

/// Another passcode, or a PIN under the security chip: a new secret, typed twice, and the passcode as it is.
final class ChangeForm: SheetForm {
    /// What is set, and what its widgets' names begin with.
    enum Secret: String {
        case passcode = "change"
        case pin
    }

    let root: Widget, old: Editable, cancel: Button
    var onConfirm: (consuming SecretBytes, consuming SecretBytes) -> Void = { _, _ in }
    /// Takes a first passcode, as it was typed and typed again: there is no present one to be asked for.
    var onChoose: ((consuming SecretBytes, consuming SecretBytes) -> Void)? {
        didSet { show(isFirst: onChoose != nil) }
    }
    private let confirm: Button, title: Label?, text: Label?
    private let secret: Secret, new: Editable, repeated: Editable, problem: Label
    private var meter: StrengthMeter?

    /// Whether the user insists on a passcode that is guessed at once.
    var takesWeak: Bool { meter?.takesWeak ?? false }

    init(_ ui: Builder, _ secret: Secret) {
        self.secret = secret
        let name = secret.rawValue
        root = ui.widget(name)
        old = ui.widget("\(name)-old")
        new = ui.widget("\(name)-new")
        repeated = ui.widget("\(name)-repeat")
        cancel = ui.widget("\(name)-cancel")
        problem = ui.widget("\(name)-problem")
        confirm = ui.widget("\(name)-confirm")
        title = secret == .passcode ? ui.widget("change-title") : nil
        text = secret == .passcode ? ui.widget("change-text") : nil
        confirm.onClick { [unowned self] in finish() }
        repeated.onEntryActivate { [unowned self] in finish() }
        if secret == .passcode {
            let meter = StrengthMeter(
                ui.widget("change-level"), ui.widget("change-strength"), ui.widget("change-weak"))
            self.meter = meter
            new.onChange { [unowned self] in meter.show(new.withBytes { PasscodeStrength(of: $0) }) }
        }
        clear()
    }

    func show(_ wrong: VaultProblem?) {
        problem.text = wrong.map(ProblemText.of) ?? ""
        problem.isVisible = wrong != nil
        root.isSensitive = true
    }

    func clear() {
        for entry in [old, new, repeated] { entry.clear() }
        onConfirm = { _, _ in }
        if onChoose != nil { onChoose = nil }
        show(nil)
    }

    /// What gets the keyboard first.
    var entry: Editable { onChoose == nil ? old : new }

    private func show(isFirst: Bool) {
        old.isVisible = !isFirst
        title?.text = isFirst ? tr("Set a Passcode") : tr("Change the Passcode")
        text?.text =
            isFirst
            ? tr(
                "You will enter it each time you open the vault. Several unrelated words are easy to remember and hard to guess."
            )
            : tr("Older copies of the vault still open with the old passcode.")
        confirm.label = isFirst ? tr("Set") : tr("Change")
    }

    private func finish() {
        guard let first = try? new.copySecret(), let second = try? repeated.copySecret() else {
            return show(.outOfMemory)
        }
        guard first.isEqual(to: second) else { return show(secret == .pin ? .pinsDiffer : .passcodesDiffer) }
        guard first.count > 0 else { return show(secret == .pin ? .invalidPIN : .invalidPasscode) }
        if meter?.isRefused == true { return show(.weakPasscode) }
        if let onChoose {
            show(nil)
            root.isSensitive = false
            return onChoose(first, second)
        }
        guard let present = try? old.takeSecret() else { return show(.outOfMemory) }
        show(nil)
        root.isSensitive = false
        onConfirm(present, first)
    }
}

/// The bar and the words under a passcode that is being chosen. What is guessed at once is taken only where the user
/// insists.
final class StrengthMeter {
    private let bar: LevelBar?, label: Label?, weak: ToggleButton

    init(_ bar: LevelBar?, _ label: Label?, _ weak: ToggleButton) {
        (self.bar, self.label, self.weak) = (bar, label, weak)
        show(nil)
    }

    /// Whether the user insists on what is guessed at once.
    var takesWeak: Bool { weak.isVisible && weak.isOn }

    /// Whether it would be refused: said before anything that was typed is taken away.
    var isRefused: Bool { weak.isVisible && !weak.isOn }

    func show(_ strength: PasscodeStrength?) {
        bar?.value = Double(strength?.level.rawValue ?? 0)
        label?.text = strength.map(StrengthText.of) ?? ""
        weak.isVisible = strength?.level == .veryWeak
        if !weak.isVisible { weak.isOn = false }
    }
}
