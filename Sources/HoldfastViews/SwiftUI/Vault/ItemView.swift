#if canImport(SwiftUI)
internal import HoldfastUI
internal import SwiftUI

/// One item: its fields and notes. A secret is shown for a while when it is asked for, a one-time code by time when the
/// page is opened, and on no picture of the screen; each value can be copied for a while, and changed.
struct ItemView: View {
    /// What is being changed; nil for the notes.
    private struct Editing: Equatable { let field: ItemFieldsModel.Field? }

    private let item: VaultItem
    private let models: ReadyModels
    /// Made when the view comes, and once: each is told when the lock falls.
    @State private var fields: ItemFieldsModel?
    @State private var value: VaultItemModel?
    @State private var editing: Editing?
    @State private var typed = ""
    @State private var problem: VaultProblem?
    @State private var isCopied = false
    /// Counts seconds, for one-time codes.
    @State private var seconds = 0
    @Environment(\.dismiss) private var dismiss

    /// - Parameters:
    ///   - item: One of the items of the vault.
    ///   - models: Of the open app.
    init(_ item: VaultItem, _ models: ReadyModels) {
        self.item = item
        self.models = models
    }

    /// What is shown.
    var body: some View {
        ScrollView {
            VStack(alignment: .leading, spacing: 16) {
                Text(verbatim: item.name).font(.title2).accessibilityAddTraits(.isHeader)
                if let fields, fields.isItem {
                    ForEach(fields.fields) { field in row(field, of: fields) }
                    notes(of: fields)
                } else if let value {
                    plain(value)
                }
                if let problem = problem ?? fields?.problem ?? value?.problem {
                    Text(problem).foregroundStyle(.red)
                }
                if isCopied { Text("copy.done", bundle: .texts).font(.caption) }
                HStack {
                    Button(text: "item.done") { dismiss() }
                    Spacer()
                    Button(text: "item.delete", role: .destructive) { delete() }
                }
            }
            .padding()
        }
        .presentationDetents([.medium, .large])
        .presentationDragIndicator(.visible)
        .task { await load() }
        .task(id: fields?.revealed) { await count() }
        .onDisappear { leave() }
        .onChange(of: models.lock.isLocked) { _, isLocked in if isLocked { dismiss() } }
    }

    private func load() async {
        if fields == nil { fields = models.vault.fields(of: item.id, preferences: models.preferences) }
        await fields?.load()
        if let fields, fields.isItem { return await showCodes(of: fields) }
        value = models.vault.detail(of: item, preferences: models.preferences)
    }

    /// What the page is opened for, and good for half a minute. It is hidden as every secret is.
    private func showCodes(of model: ItemFieldsModel) async {
        for field in model.fields where field.kind == .oneTimeCode { await model.reveal(field) }
    }

    /// A code that is shown changes by itself.
    private func count() async {
        while fields?.revealed.isEmpty == false, !Task.isCancelled {
            try? await Task.sleep(for: .seconds(1))
            seconds += 1
        }
    }

    // MARK: an item

    @ViewBuilder private func row(_ field: ItemFieldsModel.Field, of model: ItemFieldsModel) -> some View {
        VStack(alignment: .leading, spacing: 4) {
            title(ItemText.label(field.label), field.label)
            if editing == Editing(field: field) {
                editor(isSecret: field.isSecret, generates: field.label == "password")
            } else {
                if field.isSecret, !model.revealed.contains(field.id) {
                    Text("item.hidden", bundle: .texts).foregroundStyle(.secondary)
                } else if let text = model.withValue(of: field, ItemView.text) {
                    if field.kind == .oneTimeCode {
                        CodeRow(digits: text, left: left(of: field, model)) { copy(text) }
                    } else {
                        shown(text, isSecret: field.isSecret)
                    }
                }
                HStack {
                    if field.isSecret { reveals(field, of: model) }
                    if let name = field.fileName {
                        Text(verbatim: name)
                    } else {
                        button("item.copy", field.label) { copy(await model.withCopy(of: field, ItemView.text)) }
                        button("item.edit", field.label) {
                            begin(
                                Editing(field: field),
                                field.isSecret ? "" : model.withValue(of: field, ItemView.text) ?? "")
                        }
                    }
                }
            }
        }
    }

    @ViewBuilder private func reveals(_ field: ItemFieldsModel.Field, of model: ItemFieldsModel) -> some View {
        if model.revealed.contains(field.id) { button("item.hide", field.label) { model.hide(field) } }
        if field.countsUp {
            button("item.nextCode", field.label) { problem = await model.revealNextCode(of: field) }
        } else if !model.revealed.contains(field.id) {
            button("item.show", field.label) { await model.reveal(field) }
        }
    }

    private func left(of field: ItemFieldsModel.Field, _ model: ItemFieldsModel) -> (Int, Double)? {
        guard seconds >= 0, let left = model.secondsLeft(of: field), let share = model.shareLeft(of: field) else {
            return nil
        }
        return (left, share)
    }

    @ViewBuilder private func notes(of model: ItemFieldsModel) -> some View {
        let name = Texts.text("item.notes")
        VStack(alignment: .leading, spacing: 4) {
            title("item.notes", name)
            if editing == Editing(field: nil) {
                editor(isSecret: false, generates: false)
            } else {
                if let text = model.withNotes(ItemView.text) { shown(text, isSecret: true) }
                HStack {
                    if model.hasNotes, !model.showsNotes {
                        button("item.show", name) { await model.revealNotes() }
                    } else if model.showsNotes {
                        button("item.hide", name) { model.hide() }
                    }
                    button("item.edit", name) {
                        begin(Editing(field: nil), await model.withNotesCopy(ItemView.text) ?? "")
                    }
                }
            }
        }
    }

    // MARK: a plain value

    @ViewBuilder private func plain(_ model: VaultItemModel) -> some View {
        switch model.content {
        case .hidden: Text("item.hidden", bundle: .texts).foregroundStyle(.secondary)
        case .text: if let text = model.withText(ItemView.text) { shown(text, isSecret: true) }
        case .binary: Text("item.binary", bundle: .texts)
        }
        HStack {
            if model.content == .hidden {
                button("item.show", item.name) { await model.reveal() }
            } else {
                button("item.hide", item.name) { model.hide() }
            }
            button("item.copy", item.name) { copy(await model.withCopy(ItemView.text)) }
        }
        .disabled(!model.canBeShown)
    }

    // MARK: parts

    private func title(_ key: LocalizedStringKey?, _ name: String) -> some View {
        Group { if let key { Text(key, bundle: .texts) } else { Text(verbatim: name) } }
            .font(.caption).foregroundStyle(.secondary)
    }

    @ViewBuilder private func shown(_ text: String, isSecret: Bool) -> some View {
        if isSecret {
            Text(verbatim: text).font(.body.monospaced()).onlyInFront()
        } else {
            Text(verbatim: text)
        }
    }

    /// - Parameter name: Of what it is about, for a screen reader: there are several of each.
    private func button(
        _ key: LocalizedStringKey, _ name: String, _ action: @escaping @MainActor () async -> Void
    ) -> some View {
        Button {
            Task { await action() }
        } label: {
            Text(key, bundle: .texts)
        }
        .buttonStyle(.bordered)
        .accessibilityHint(Text(verbatim: name))
    }

    /// A secret is not shown while it is replaced.
    @ViewBuilder private func editor(isSecret: Bool, generates: Bool) -> some View {
        if isSecret {
            SecureField(text: $typed, prompt: nil) { Text("item.newValue", bundle: .texts) }
            if generates { GenerateButton { password in typed = password } }
        } else {
            TextField(text: $typed, axis: .vertical) { Text("item.newValue", bundle: .texts) }.onlyInFront()
        }
        HStack {
            Button(text: "settings.cancel", role: .cancel) { stopEditing() }
            Button(text: "item.save") { save() }
                .buttonStyle(.borderedProminent)
        }
    }

    // MARK: what is done

    private func begin(_ what: Editing, _ text: String) { (editing, typed, problem) = (what, text, nil) }

    private func stopEditing() { (editing, typed) = (nil, "") }

    private func save() {
        guard let fields, let editing, let secret = SecretCarrier(typed: typed) else { return }
        stopEditing()
        Task {
            if let field = editing.field {
                problem = await fields.set(field, to: secret.take())
            } else {
                problem = await fields.setNotes(secret.take())
            }
        }
    }

    private func copy(_ text: String?) {
        guard let text else { return }
        Clipboard.copy(text, seconds: models.preferences.values.clipboardSeconds)
        isCopied = true
    }

    private func delete() {
        Task {
            problem = await models.vault.delete(item.id)
            if problem == nil { dismiss() }
        }
    }

    private func leave() {
        stopEditing()
        fields?.drop()
        value?.hide()
    }

    /// Text on a screen is a `String`, which nothing can wipe.
    static func text(_ value: RawSpan) -> String {
        unsafe value.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
    }
}

/// A one-time code while it is shown: a tap copies it, and a ring runs out with it.
struct CodeRow: View {
    let digits: String
    /// Seconds, and how much of its step they are; nil for a code by a counter.
    let left: (seconds: Int, share: Double)?
    let copy: @MainActor () -> Void

    var body: some View {
        HStack(spacing: 12) {
            Button {
                copy()
            } label: {
                Text(verbatim: digits).font(.title2.monospaced())
            }
            .accessibilityHint(Text("copy.hint", bundle: .texts))
            if let left {
                Gauge(value: left.share) {
                    Text("item.seconds \(left.seconds)", bundle: .texts)
                } currentValueLabel: {
                    Text(verbatim: "\(left.seconds)").monospacedDigit()
                }
                .gaugeStyle(.accessoryCircularCapacity)
            }
        }
        .onlyInFront()
    }
}
#endif
