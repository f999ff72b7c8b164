#if canImport(SwiftUI)
public import HoldfastUI
public import SwiftUI

/// The vault's items: found by their names, tags and open fields, opened, made, imported from a file, and thrown away
/// to the trash.
public struct VaultView: View {
    private enum Page: Identifiable {
        case item(VaultItem)
        case new
        case file

        var id: String {
            switch self {
            case .item(let item): "item \(item.collection) \(item.name)"
            case .new: "new"
            case .file: "file"
            }
        }
    }

    private let models: ReadyModels
    @State private var page: Page?

    /// The items of an open app.
    public init(_ models: ReadyModels) { self.models = models }

    private var model: VaultModel { models.vault }

    /// What is shown.
    public var body: some View {
        List {
            Section {
                TextField(text: search, prompt: nil) { Text("item.search", bundle: .texts) }
                    .autocorrectionDisabled()
                Button(text: "item.new") { page = .new }
                Button(text: "import.title") { page = .file }
            }
            Section {
                ForEach(model.items) { item in row(item) }
            } footer: {
                if let problem = model.problem {
                    Text(problem)
                } else if model.isLoaded, model.items.isEmpty {
                    Text(model.search.isEmpty ? "item.none" : "item.notFound", bundle: .texts)
                }
            }
        }
        .navigationTitle(VaultView.title)
        .sheet(item: $page) { page in
            Group {
                switch page {
                case .item(let item): ItemView(item, models)
                case .new: NewItemView(models)
                case .file: ImportView(models)
                }
            }
            // A Mac's sheet is as large as what is in it.
            .frame(idealWidth: 480, idealHeight: 560)
            .covered(by: models)
        }
        .onChange(of: models.lock.isLocked) { _, isLocked in if isLocked { page = nil } }
    }

    private func row(_ item: VaultItem) -> some View {
        Button {
            page = .item(item)
        } label: {
            VStack(alignment: .leading, spacing: 4) {
                Text(verbatim: item.name).multilineTextAlignment(.leading)
                if let kind = item.kind {
                    Text(ItemText.kind(kind), bundle: .texts).font(.caption).foregroundStyle(.secondary)
                }
            }
        }
        .accessibilityElement(children: .combine)
    }

    private var search: Binding<String> {
        Binding(get: { @MainActor in model.search }, set: { @MainActor words in model.search = words })
    }
}
#endif
