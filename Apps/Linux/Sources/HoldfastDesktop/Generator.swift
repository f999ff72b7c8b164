import CAdw
import GtkKit
import Holdfast
import HoldfastUI

/// A button in the entry of a secret that opens what makes new ones: their rules, one that is made by them with its
/// strength, and *Use*. What was made and not used is wiped when it closes.
final class Generator {
    let button: MenuButton
    private let words = Toggle(gtk_switch_new()!), capitals = Toggle(gtk_switch_new()!)
    private let signs = Toggle(gtk_switch_new()!), digits = Toggle(gtk_switch_new()!)
    private let readable = Toggle(gtk_switch_new()!)
    private let length: SpinButton
    private let text = Label.wrapping("made"), bar = LevelBar.steps(4, tr("Strength"))
    private let said = Label.wrapping("caption")
    private let forPasswords: [Row], forWords: [Row]
    private let use: (RawSpan) -> Void
    private var made: SecretBytes?

    /// - Parameters:
    ///   - name: Of the entry.
    ///   - use: Takes what was made.
    init(_ name: String, use: @escaping (RawSpan) -> Void) {
        self.use = use
        length = SpinButton(PasswordRules.lengths)
        length.value = PasswordRules().length
        (signs.isOn, digits.isOn) = (true, true)
        let size = Row(title: tr("Length"))
        size.addSuffix(length)
        length.accessibleLabel(tr("Length"))
        forPasswords = [
            Generator.row(tr("Digits"), digits), Generator.row(tr("Signs"), signs),
            Generator.row(tr("No Look-Alikes"), readable),
        ]
        forWords = [Generator.row(tr("Capitals"), capitals)]
        let rules = ListBox.card(tr("New Passwords"))
        rules.append(size)
        rules.append(Generator.row(tr("Words"), words))
        for row in forPasswords + forWords { rules.append(row) }
        let content = Column(spacing: 10, margin: 6)
        content.width(270)
        let another = Button(label: tr("Another")), take = Button(label: tr("Use"))
        take.setClass("suggested-action", true)
        let buttons = Widget(gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6)!)
        gtk_box_set_homogeneous(buttons.pointer(), 1)
        for child in [another, take] { gtk_box_append(buttons.pointer(), child.widget) }
        for child in [text, bar, said, rules, buttons] { content.append(child) }
        button = MenuButton(icon: "view-refresh-symbolic", label: tr("Generate %s", name), content: content)
        another.onClick { [weak self] in self?.make() }
        take.onClick { [weak self] in self?.finish() }
        button.onChange { [weak self] isOpen in if isOpen { self?.make() } else { self?.clear() } }
        words.onChange { [weak self] isOn in
            guard let self else { return }
            length.range = isOn ? WordRules.counts : PasswordRules.lengths
            length.value = isOn ? WordRules().count : PasswordRules().length
            changed()
        }
        for toggle in [signs, digits, readable, capitals] { toggle.onChange { [weak self] _ in self?.changed() } }
        length.onChange { [weak self] in self?.changed() }
        showRules()
    }

    /// Nothing of what was made stays.
    func clear() {
        made = nil
        text.text = ""
        bar.value = 0
    }

    private func finish() {
        switch made {
        case .none: break
        case .some(let secret): secret.withBytes { use($0) }
        }
        button.close()
    }

    private func changed() {
        showRules()
        if button.isOpen { make() }
    }

    private func make() {
        clear()
        guard let secret = words.isOn ? try? PasswordGenerator.words(phrase) : try? PasswordGenerator.password(rules)
        else { return said.text = ProblemText.of(.outOfMemory) }
        secret.withBytes { bytes in
            text.show(bytes)
            bar.value = Double(PasscodeStrength(of: bytes).level.rawValue)
        }
        made = consume secret
        let bits = Int(words.isOn ? phrase.entropy : rules.entropy)
        said.text = trn("%d bit that nobody knows", "%d bits that nobody knows", bits)
    }

    private var rules: PasswordRules {
        var characters: PasswordRules.Characters = [.lower, .upper]
        if digits.isOn { characters.insert(.digits) }
        if signs.isOn { characters.insert(.signs) }
        return PasswordRules(length: length.value, characters: characters, avoidsLookalikes: readable.isOn)
    }

    private var phrase: WordRules { WordRules(count: length.value, capitalizes: capitals.isOn) }

    private func showRules() {
        for row in forPasswords { row.isVisible = !words.isOn }
        for row in forWords { row.isVisible = words.isOn }
    }

    private static func row(_ title: String, _ toggle: Toggle) -> Row {
        let row = Row(title: title)
        gtk_widget_set_valign(toggle.widget, GTK_ALIGN_CENTER)
        row.addSuffix(toggle)
        adw_action_row_set_activatable_widget(row.pointer(), toggle.widget)
        return row
    }
}

/// The entry of a secret: a new one can be made in it, and how strong it is is said below it while it is typed.
final class SecretEntry {
    let entry: Editable
    /// The row below it; it comes where what was typed is long enough to be a password: a PIN cannot be strong.
    let strength = LevelRow(label: tr("Strength"))
    private let generator: Generator

    private static let longestPIN = 6

    init(_ name: String) {
        let entry = Editable.row(name, isSecret: true)
        self.entry = entry
        generator = Generator(name) { [weak entry] in entry?.setSecret($0) }
        entry.addSuffix(generator.button)
        entry.onChange { [weak self] in self?.showStrength() }
    }

    /// Nothing that was typed or made stays.
    func clear() {
        generator.button.close()
        generator.clear()
        entry.clear()
    }

    private func showStrength() {
        let strength = entry.withBytes { $0.byteCount > SecretEntry.longestPIN ? PasscodeStrength(of: $0) : nil }
        self.strength.show(strength?.level.rawValue, strength.map(StrengthText.of) ?? "")
    }
}
