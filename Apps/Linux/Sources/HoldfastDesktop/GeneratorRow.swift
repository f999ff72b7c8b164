import CAdw
import GtkKit
import Holdfast

/// The rules of new passwords, folded away below the entries that get them.
final class GeneratorRow {
    let root: ExpanderRow
    private let words = Toggle(gtk_switch_new()!), capitals = Toggle(gtk_switch_new()!)
    private let signs = Toggle(gtk_switch_new()!), digits = Toggle(gtk_switch_new()!)
    private let readable = Toggle(gtk_switch_new()!)
    private let length: SpinButton
    private var forPasswords: [Row] = [], forWords: [Row] = []

    init() {
        root = ExpanderRow(title: tr("New Passwords"))
        length = SpinButton(PasswordRules.lengths)
        length.value = PasswordRules().length
        (signs.isOn, digits.isOn) = (true, true)
        let size = Row(title: tr("Length"))
        size.addSuffix(length)
        length.accessibleLabel(tr("Length"))
        root.add(size)
        root.add(GeneratorRow.row(tr("Words instead of characters"), words))
        forPasswords = [
            GeneratorRow.row(tr("Digits"), digits), GeneratorRow.row(tr("Signs"), signs),
            GeneratorRow.row(tr("Without characters that look alike"), readable),
        ]
        forWords = [GeneratorRow.row(tr("Begin words with capitals"), capitals)]
        for row in forPasswords + forWords { root.add(row) }
        words.onChange { [unowned self] isOn in
            length.range = isOn ? WordRules.counts : PasswordRules.lengths
            length.value = isOn ? WordRules().count : PasswordRules().length
            show()
        }
        for toggle in [signs, digits, readable, capitals] { toggle.onChange { [unowned self] _ in show() } }
        length.onChange { [unowned self] in show() }
        show()
    }

    /// A new password by these rules; nil where there is no memory for one.
    func make() -> SecretBytes? {
        words.isOn ? try? PasswordGenerator.words(phrase) : try? PasswordGenerator.password(rules)
    }

    private var rules: PasswordRules {
        var characters: PasswordRules.Characters = [.lower, .upper]
        if digits.isOn { characters.insert(.digits) }
        if signs.isOn { characters.insert(.signs) }
        return PasswordRules(length: length.value, characters: characters, avoidsLookalikes: readable.isOn)
    }

    private var phrase: WordRules { WordRules(count: length.value, capitalizes: capitals.isOn) }

    private func show() {
        for row in forPasswords { row.isVisible = !words.isOn }
        for row in forWords { row.isVisible = words.isOn }
        let bits = Int(words.isOn ? phrase.entropy : rules.entropy)
        root.subtitle = trn("%d bit that nobody knows", "%d bits that nobody knows", bits)
    }

    private static func row(_ title: String, _ toggle: Toggle) -> Row {
        let row = Row(title: title)
        gtk_widget_set_valign(toggle.widget, GTK_ALIGN_CENTER)
        row.addSuffix(toggle)
        adw_action_row_set_activatable_widget(row.pointer(), toggle.widget)
        return row
    }
}
