#if canImport(SwiftUI)
public import HoldfastUI
public import SwiftUI

/// The identity of this device, in its states: Ready (no account), Created, Authenticated; with every action, and what
/// needs more than a tap in a sheet from below.
public struct IdentityView: View {
    private let models: AppModels
    @State private var sheet: IdentitySheet?
    @State private var presence = SheetPresence()

    /// The identity of an open app.
    public init(_ models: AppModels) { self.models = models }

    private var model: IdentityModel { models.identity }

    /// What is shown.
    public var body: some View {
        List {
            facts
            switch model.facts.state {
            case .ready, .unconfirmed: ready
            case .linking: linking
            case .created: created
            case .authenticated: authenticated
            }
        }
        .disabled(model.running != nil)
        .overlay { if model.running != nil { ProgressView() } }
        .navigationTitle(Text("identity.title", bundle: .module))
        .task { await model.load() }
        .sheet(item: $sheet, onDismiss: { presence.hasGone() }) {
            IdentitySheetView($0, models).noted(in: presence).covered(by: models)
        }
        .alert(Text("identity.failed", bundle: .module), isPresented: hasFailed) {
            Button {
                model.outcome = nil
            } label: {
                Text("settings.ok", bundle: .module)
            }
        } message: {
            if let problem = model.outcome?.problem { Text(IdentityText.key(problem), bundle: .module) }
        }
    }

    private var facts: some View {
        Section {
            LabeledContent {
                Text(IdentityText.key(model.facts.state), bundle: .module)
            } label: {
                Text("identity.state", bundle: .module)
            }
            if let identity = model.facts.identity { CopyRow(title: "identity.identity", text: identity) }
            if let device = model.facts.device { CopyRow(title: "identity.device", text: device) }
            if let server = model.facts.server {
                LabeledContent {
                    Text(verbatim: server)
                } label: {
                    Text("identity.server", bundle: .module)
                }
            }
            // Something was sent, and no server has answered.
            if model.facts.isUndecided { row("identity.settle") { Task { await model.settle() } } }
        }
    }

    private var ready: some View {
        Section {
            row("identity.create") { sheet = .create }
            row("identity.recover") { sheet = .recover }
            row("identity.join") { sheet = .join }
        } footer: {
            Text("identity.ready.footer", bundle: .module)
        }
    }

    private var linking: some View {
        Section {
            row("identity.join.again") { sheet = .join }
            row("identity.openSession") { Task { await model.openSession() } }
            row("identity.erase", role: .destructive) { sheet = .erase }
        } footer: {
            Text("identity.linking.footer", bundle: .module)
        }
    }

    @ViewBuilder private var created: some View {
        Section { row("identity.openSession") { Task { await model.openSession() } } }
        account
    }

    @ViewBuilder private var authenticated: some View {
        Section {
            row("identity.refreshSession") { Task { await model.refreshSession() } }
            row("identity.request") { sheet = .request }
            row("identity.endSession") { Task { await model.endSession() } }
        }
        account
    }

    @ViewBuilder private var account: some View {
        Section {
            row("identity.link") { sheet = .link }
            row("identity.unlink") { sheet = .unlink }
            row("identity.rotate") { Task { await model.rotate() } }
            row("identity.changeRecovery") { sheet = .changeRecovery }
            if model.facts.drill != nil { row("identity.drill") { sheet = .drill } }
        } header: {
            Text("identity.account", bundle: .module)
        } footer: {
            if model.facts.drill?.isDue == true { Text("identity.drill.due", bundle: .module) }
        }
        Section {
            row("identity.erase", role: .destructive) { sheet = .erase }
            row("identity.delete", role: .destructive) { sheet = .delete }
        }
    }

    private func row(
        _ title: LocalizedStringKey, role: ButtonRole? = nil, _ action: @escaping @MainActor () -> Void
    ) -> some View {
        Button(role: role, action: action) { Text(title, bundle: .module) }
    }

    /// While a sheet is up, it says itself what went wrong.
    private var hasFailed: Binding<Bool> {
        Binding(
            get: { @MainActor in sheet == nil && !presence.isThere && model.outcome?.problem != nil },
            set: { @MainActor isShown in if !isShown { model.outcome = nil } })
    }
}
#endif
