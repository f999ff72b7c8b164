#if canImport(SwiftUI)
public import HoldfastUI
public import SwiftUI
internal import UniformTypeIdentifiers
internal import VaultCore

/// The import of one file of another password manager: it is chosen, opened with its own password, shown as a plan, and
/// stored when its user has seen that.
public struct ImportView: View {
    private enum Choice { case file, key }

    private let models: ReadyModels
    /// Made when the view comes, and once: it is told when the lock falls.
    @State private var model: ImportModel?
    /// One picker for both: of two on one view only one works.
    @State private var isChoosing = false
    @State private var choice = Choice.file
    @State private var key: URL?
    @State private var typed = ""
    @State private var isUnreadable = false
    @Environment(\.dismiss) private var dismiss

    /// The import into the vault of an open app.
    public init(_ models: ReadyModels) { self.models = models }

    /// What is shown.
    public var body: some View {
        ScrollView {
            VStack(alignment: .leading, spacing: 16) {
                Text("import.title", bundle: .texts).font(.title2).accessibilityAddTraits(.isHeader)
                if let model { step(of: model) }
                if isUnreadable { Text("problem.file", bundle: .texts).foregroundStyle(.red) }
                Button(role: .cancel) {
                    dismiss()
                } label: {
                    Text(isOver ? "item.done" : "settings.cancel", bundle: .texts)
                }
                .disabled(isStoring)
            }
            .padding()
        }
        .presentationDetents([.medium, .large])
        .presentationDragIndicator(.visible)
        .interactiveDismissDisabled(isStoring)
        .fileImporter(isPresented: $isChoosing, allowedContentTypes: [.data]) { chosen in handle(chosen) }
        .onAppear { if model == nil { model = models.vault.importer() } }
        .onDisappear { leave() }
        .onChange(of: models.lock.isLocked) { _, isLocked in if isLocked { dismiss() } }
    }

    private var isStoring: Bool { if case .storing = model?.step { true } else { false } }

    private var isOver: Bool { if case .stored = model?.step { true } else { false } }

    @ViewBuilder private func step(of model: ImportModel) -> some View {
        switch model.step {
        case .none:
            Text("import.advice", bundle: .texts)
            choosing("import.choose", .file)
        case .reading:
            ProgressView()
            Text("import.reading", bundle: .texts)
        case .password(let wasWrong): password(of: model, wasWrong: wasWrong)
        case .planned(let plan):
            ImportPlanView(plan: plan)
            if plan.isEmpty {
                choosing("import.choose", .file)
            } else {
                Button(text: "import.store") { Task { await model.store() } }
                    .buttonStyle(.borderedProminent)
            }
        case .storing(let done, let total):
            ProgressView(value: Double(done), total: Double(max(total, 1)))
            Text("import.storing", bundle: .texts)
        case .stored(let plan):
            Text("import.stored \(plan.added.count)", bundle: .texts)
            Text("import.remove", bundle: .texts)
        case .failed(let failure):
            Text("import.failed", bundle: .texts).font(.headline)
            why(failure)
            choosing("import.choose", .file)
        }
    }

    @ViewBuilder private func password(of model: ImportModel, wasWrong: Bool) -> some View {
        if wasWrong {
            Text("import.wrongPassword", bundle: .texts).foregroundStyle(.red)
        } else {
            Text("import.encrypted", bundle: .texts)
        }
        SecureField(text: $typed, prompt: nil) { Text("import.password", bundle: .texts) }.onSubmit { open() }
        if model.takesKeyFile {
            choosing("import.keyFile", .key)
            if let key { Text(verbatim: key.lastPathComponent).font(.caption) }
        }
        Button(text: "import.open") { open() }
            .buttonStyle(.borderedProminent)
            .disabled(typed.isEmpty && key == nil)
    }

    private func choosing(_ title: LocalizedStringKey, _ what: Choice) -> some View {
        Button {
            (choice, isUnreadable, isChoosing) = (what, false, true)
        } label: {
            Text(title, bundle: .texts)
        }
        .buttonStyle(.bordered)
    }

    /// Places in a file are said in English.
    @ViewBuilder private func why(_ failure: ImportModel.Failure) -> some View {
        switch failure {
        case .unknownFormat: Text("import.unknownFormat", bundle: .texts)
        case .damaged(let place):
            Text("import.damaged", bundle: .texts)
            if !place.isEmpty { Text(verbatim: place).font(.caption) }
        case .unsupported(let what):
            Text("import.unsupported", bundle: .texts)
            Text(verbatim: what).font(.caption)
        case .unknownColumns: Text("import.unknownColumns", bundle: .texts)
        case .noCode: Text("import.noCode", bundle: .texts)
        case .tooLarge: Text("import.tooLarge", bundle: .texts)
        case .other(let problem): Text(problem)
        }
    }

    // MARK: what is done

    private func handle(_ chosen: Result<URL, any Error>) {
        guard let model else { return }
        switch chosen {
        case .failure: isUnreadable = true
        case .success(let url) where choice == .key: key = url
        case .success(let url):
            key = nil
            let collection = models.vault.collection ?? Vault.defaultCollection
            Task {
                await ImportView.accessing(url) {
                    await model.open(url.path(percentEncoded: false), into: collection)
                }
            }
        }
    }

    private func open() {
        guard let model, !typed.isEmpty || key != nil, let secret = SecretCarrier(typed: typed) else { return }
        typed = ""
        Task { [key] in
            await ImportView.accessing(key) {
                await model.open(with: secret.take(), keyFile: key?.path(percentEncoded: false))
            }
        }
    }

    /// The system lets an app read what was chosen only between these two calls, and counts them.
    private static func accessing(_ file: URL?, _ work: @MainActor () async -> Void) async {
        let isOutside = file?.startAccessingSecurityScopedResource() ?? false
        await work()
        if isOutside { file?.stopAccessingSecurityScopedResource() }
    }

    private func leave() {
        typed = ""
        key = nil
        model?.drop()
    }
}

/// What an import will do, before it does it.
private struct ImportPlanView: View {
    let plan: ImportModel.Plan

    /// Rows that are shown of each kind; a file may have many thousands.
    private static let most = 50

    var body: some View {
        Text("import.added \(plan.added.count)", bundle: .texts).font(.headline)
        rows(plan.added)
        if !plan.updated.isEmpty {
            Text("import.updated \(plan.updated.count)", bundle: .texts).font(.headline)
            rows(plan.updated)
        }
        if !plan.duplicates.isEmpty {
            Text("import.duplicates \(plan.duplicates.count)", bundle: .texts).font(.headline)
            rows(plan.duplicates)
        }
        if !plan.notes.isEmpty {
            Text("import.notes \(plan.notes.count)", bundle: .texts).font(.headline)
            rows(plan.notes)
        }
    }

    /// Two rows may have the same words.
    @ViewBuilder private func rows(_ lines: [String]) -> some View {
        let shown = Array(lines.prefix(ImportPlanView.most).enumerated())
        ForEach(shown, id: \.offset) { line in Text(verbatim: line.element).font(.callout) }
        if lines.count > shown.count {
            Text("import.more \(lines.count - shown.count)", bundle: .texts).foregroundStyle(.secondary)
        }
    }
}
#endif
