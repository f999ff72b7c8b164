#if canImport(SwiftUI)
internal import Cryptography
internal import HoldfastUI
internal import SecretMemory
internal import SwiftUI
internal import VaultCore
internal import VaultFormat

/// A new item: what it is, its name, and the fields of its kind.
struct NewItemView: View {
    private let models: ReadyModels
    @State private var kind = ItemKind.login
    @State private var name = ""
    @State private var typed: [String: String] = [:]
    @State private var notes = ""
    @State private var refusal: LocalizedStringKey?
    @State private var isBusy = false
    @Environment(\.dismiss) private var dismiss

    init(_ models: ReadyModels) { self.models = models }

    var body: some View {
        ScrollView {
            VStack(alignment: .leading, spacing: 16) {
                Text("item.new", bundle: .texts).font(.title2).accessibilityAddTraits(.isHeader)
                Picker(selection: $kind) {
                    ForEach(ItemTemplate.all, id: \.self) { template in
                        Text(ItemText.kind(template.kind), bundle: .texts).tag(template.kind)
                    }
                } label: {
                    Text("item.kind", bundle: .texts)
                }
                TextField(text: $name, prompt: nil) { Text("item.name", bundle: .texts) }
                ForEach(fields, id: \.self) { field in entry(field) }
                TextField(text: $notes, axis: .vertical) { Text("item.notes", bundle: .texts) }.onlyInFront()
                if let refusal { Text(refusal, bundle: .texts).foregroundStyle(.red) }
                HStack {
                    Button(text: "settings.cancel", role: .cancel) { dismiss() }
                    Spacer()
                    Button(text: "item.save") { save() }
                        .buttonStyle(.borderedProminent)
                        .disabled(name.isEmpty || isBusy)
                }
            }
            .padding()
        }
        .presentationDetents([.large])
        .presentationDragIndicator(.visible)
        .onDisappear { clear() }
        .onChange(of: models.lock.isLocked) { _, isLocked in if isLocked { dismiss() } }
    }

    private var fields: [ItemTemplate.Field] {
        guard let template = ItemTemplate.all.first(where: { $0.kind == kind }) else { return [] }
        return template.fields + [template.lines].compactMap(\.self)
    }

    @ViewBuilder private func entry(_ field: ItemTemplate.Field) -> some View {
        let title = ItemText.label(field.label) ?? LocalizedStringKey(field.label)
        if field.kind == .secret || field.kind == .oneTimeCode {
            SecureField(text: text(field.label), prompt: nil) { Text(title, bundle: .texts) }
            if field.label == "password" { GenerateButton { password in typed[field.label] = password } }
        } else {
            TextField(text: text(field.label), prompt: nil) { Text(title, bundle: .texts) }.autocorrectionDisabled()
        }
    }

    private func text(_ label: String) -> Binding<String> {
        Binding(get: { @MainActor in typed[label] ?? "" }, set: { @MainActor text in typed[label] = text })
    }

    private func save() {
        let draft: ItemDraft
        do throws(ItemDraft.Refusal) { draft = try made() } catch { return refusal = ItemText.key(error) }
        let place = VaultItem.ID(collection: models.vault.collection ?? Vault.defaultCollection, name: name)
        isBusy = true
        Task {
            let problem = await models.vault.add(draft, at: place)
            isBusy = false
            refusal = problem.map(ProblemText.key)
            if problem == nil { dismiss() }
        }
    }

    private func made() throws(ItemDraft.Refusal) -> ItemDraft {
        let draft = try ItemDraft(kind)
        for field in fields {
            try draft.add(field.kind, field.label, NewItemView.secret(typed[field.label] ?? ""))
        }
        try draft.setNotes(NewItemView.secret(notes))
        return draft
    }

    private static func secret(_ text: String) throws(ItemDraft.Refusal) -> SecretBytes {
        do throws(SecretMemoryError) { return try SecretBytes(utf8: text) } catch { throw .other(.outOfMemory) }
    }

    private func clear() { (name, notes, typed) = ("", "", [:]) }
}

/// Fills in a new password of the standard rules.
struct GenerateButton: View {
    let take: @MainActor (String) -> Void

    var body: some View {
        Button(text: "item.generate") {
            guard let password = try? PasswordGenerator.password() else { return }
            take(password.withBytes { ItemView.text($0) })
        }
        .buttonStyle(.bordered)
    }
}
#endif
