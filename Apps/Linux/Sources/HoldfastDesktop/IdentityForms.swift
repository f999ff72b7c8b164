import CAdw
import GtkKit
import Holdfast
import HoldfastUI

/// What an action of the identity needs: an address, a name, a container.
final class FieldsForm: SheetForm {
    /// What can be asked for.
    enum Field: String, CaseIterable {
        case server, identity, phrase, words, container, device, folder, tags, path, json
    }

    /// What is asked for, and with which words.
    struct Question {
        let title: String, text: String, confirm: String
        var isDestructive = false
        var fields: [Field] = []
        /// What stands in the fields already.
        var given: [Field: String] = [:]
    }

    /// What was answered, without the space that copying brings along; the phrase only as a secret.
    final class Answer {
        private let texts: [Field: String]
        /// The phrase that was typed, or the words of it.
        let phrase: SecretCarrier?

        init(_ texts: [Field: String], _ phrase: SecretCarrier?) { (self.texts, self.phrase) = (texts, phrase) }

        subscript(_ field: Field) -> String { texts[field] ?? "" }
    }

    let root: Widget, cancel: Button
    var onConfirm: (Answer) -> Void = { _ in }
    private let title: Label, text: Label, confirm: Button
    private let entries: [(Field, Editable)]
    private var asked: [Field] = []

    /// What gets the keyboard first: what is not answered yet.
    var first: Widget {
        let shown = entries.filter { asked.contains($0.0) }
        return shown.first { $0.1.isEmpty }?.1 ?? shown.first?.1 ?? cancel
    }

    init(_ ui: Builder) {
        root = ui.widget("fields")
        cancel = ui.widget("fields-cancel")
        title = ui.widget("fields-title")
        text = ui.widget("fields-text")
        confirm = ui.widget("fields-confirm")
        entries = Field.allCases.map { ($0, ui.widget("fields-\($0.rawValue)")) }
        confirm.onClick { [unowned self] in finish() }
        for (_, entry) in entries { entry.onEntryActivate { [unowned self] in finish() } }
    }

    func prepare(_ question: Question) {
        title.text = question.title
        text.text = question.text
        text.isVisible = !question.text.isEmpty
        confirm.label = question.confirm
        confirm.setClass("destructive-action", question.isDestructive)
        confirm.setClass("suggested-action", !question.isDestructive)
        asked = question.fields
        for (field, entry) in entries {
            entry.isVisible = asked.contains(field)
            entry.text = question.given[field] ?? ""
        }
    }

    func clear() {
        for (_, entry) in entries { entry.clear() }
        onConfirm = { _ in }
    }

    private func finish() {
        // No folder is an answer too.
        if let empty = entries.first(where: { asked.contains($0.0) && $0.0 != .folder && $0.1.isEmpty }) {
            return empty.1.focus()
        }
        var texts: [Field: String] = [:]
        var phrase: SecretCarrier?
        for (field, entry) in entries where asked.contains(field) {
            if field == .phrase || field == .words {
                guard let secret = try? entry.takeSecret() else { return }
                phrase = SecretCarrier(secret)
            } else {
                texts[field] = Place.trimmed(entry.text)
            }
        }
        onConfirm(Answer(texts, phrase))
    }
}

/// The words of a new recovery phrase, for as long as the sheet is up.
final class WordsForm: SheetForm {
    let root: Widget, cancel: Button
    var onConfirm: () -> Void = {}
    /// Which phrase it is.
    enum Purpose { case identity, vault }

    private var purpose = Purpose.identity
    private let title: Label, text: Label
    private let window: Window, list: FlowBox, confirm: Button, print: Button
    private var withPhrase: ((RawSpan) -> Void) -> Void = { _ in }
    private var job: PrintJob?

    var isPrinting: Bool { job != nil }

    init(_ ui: Builder, _ window: Window) {
        self.window = window
        root = ui.widget("words")
        cancel = ui.widget("words-cancel")
        title = ui.widget("words-title")
        text = ui.widget("words-text")
        list = ui.widget("words-list")
        confirm = ui.widget("words-confirm")
        print = ui.widget("words-print")
        confirm.onClick { [unowned self] in onConfirm() }
        print.onClick { [unowned self] in printSheet() }
    }

    func prepare(_ purpose: Purpose, _ withPhrase: @escaping ((RawSpan) -> Void) -> Void) {
        self.purpose = purpose
        self.withPhrase = withPhrase
        title.text = heading
        switch purpose {
        case .identity:
            text.text = tr(
                "It recovers the identity if you lose every device. It differs from the vault's phrase, and is shown only now. Write it down, or print it."
            )
        case .vault:
            text.text = tr(
                "It opens the vault if you forget the passcode. It is shown only now; write it down, or print it. The old one works until you confirm this one."
            )
        }
        list.removeAll()
        withPhrase { [list] text in
            PhraseWords.each(of: text) { word, number in
                let label = Label("")
                label.show(word, behind: "\(number). ")
                label.setClass("word", true)
                gtk_label_set_xalign(label.opaque, 0)
                list.append(label)
            }
        }
    }

    /// Nothing of the phrase stays on the screen, and nothing more is printed.
    func clear() {
        list.removeAll()
        withPhrase = { _ in }
        onConfirm = {}
        job?.cancel()
        job = nil
    }

    private var heading: String {
        purpose == .identity ? tr("Identity Recovery Phrase") : tr("Vault Recovery Phrase")
    }

    private func printSheet() {
        guard job == nil else { return }
        let made = PrintJob(tr("Recovery phrase"), window) { [unowned self] page in
            draw(page)
        } onEnd: { [weak self] in
            self?.job = nil
        }
        job = made
        if !made.run() { job = nil }
    }

    private func draw(_ page: PrintedPage) {
        var y = page.write(
            heading, "Sans Bold 18", x: 0, y: 0, width: page.width)
        y += page.write(
            purpose == .vault
                ? tr(
                    "Holdfast. Anyone who has these words and the vault's files can open it. Keep this sheet away from the machine; a printer may store what it printed."
                )
                : tr(
                    "Holdfast. Anyone who has these words can take over the identity. Keep this sheet away from the devices; a printer may store what it printed."
                ), "Sans 10", x: 0, y: y + 8, width: page.width)
        let column = page.width / 3
        withPhrase { text in
            PhraseWords.each(of: text) { word, number in
                let (line, place) = (Double((number - 1) % 8), Double((number - 1) / 8))
                page.write(
                    word, behind: "\(number). ", "Monospace 14", x: column * place, y: y + 32 + line * 28,
                    width: column)
            }
        }
    }
}

/// The words of a phrase, where it lies.
enum PhraseWords {
    /// Calls `body` with each word and its number, from 1 on.
    static func each(of text: RawSpan, _ body: (RawSpan, Int) -> Void) {
        var (start, number) = (0, 1)
        for offset in 0...text.byteCount
        where offset == text.byteCount || text.unsafeLoad(fromByteOffset: offset, as: UInt8.self) == 0x20 {
            body(text.extracting(start..<offset), number)
            start = offset + 1
            number += 1
        }
    }
}
