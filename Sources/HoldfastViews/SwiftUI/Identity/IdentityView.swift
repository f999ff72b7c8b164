#if canImport(SwiftUI)
public import HoldfastUI
public import SwiftUI

/// The identity of this device, in its states: Ready (no account), Created, Authenticated; with every action, and what
/// needs more than a tap in a sheet from below.
public struct IdentityView: View {
    private let models: ReadyModels
    @State private var sheet: IdentitySheet?
    @State private var presence = SheetPresence()
    /// How the last action ended well, or what became known on its way.
    @State private var said: LocalizedStringKey?

    /// The identity of an open app.
    public init(_ models: ReadyModels) {
        self.models = models
        Texts.fillReasons(models)
    }

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
        .navigationTitle(IdentityView.title)
        .task { await model.load() }
        .onChange(of: model.running) { _, now in if now != nil { said = nil } }
        .onChange(of: model.outcome) { _, outcome in
            guard let outcome else { return }
            said = IdentityText.said(outcome, model.news)
            model.news = []
        }
        .onChange(of: models.lock.isLocked) { _, isLocked in if isLocked { said = nil } }
        .sheet(item: $sheet, onDismiss: { presence.hasGone() }) {
            IdentitySheetView($0, models).noted(in: presence).covered(by: models)
        }
        // While a sheet is up, it says itself what went wrong.
        .notice("identity.failed", model.outcome?.problem.map { Text(IdentityText.key($0), bundle: .texts) }) {
            sheet == nil && !presence.isThere && model.outcome?.problem != nil && models.takesAlerts
        } clear: {
            model.outcome = nil
        }
    }

    private var facts: some View {
        Section {
            if let said { Text(said, bundle: .texts).accessibilityAddTraits(.isHeader) }
            LabeledContent {
                Text(IdentityText.key(model.facts.state), bundle: .texts)
            } label: {
                Text("identity.state", bundle: .texts)
            }
            if let identity = model.facts.identity { CopyRow(title: "identity.identity", text: identity) }
            if let device = model.facts.device { CopyRow(title: "identity.device", text: device) }
            if let server = model.facts.server {
                LabeledContent {
                    Text(verbatim: server)
                } label: {
                    Text("identity.server", bundle: .texts)
                }
            }
            // For as long as nobody has vouched for it.
            if let key = model.facts.firstKey {
                CopyRow(title: "identity.firstKey", text: key)
                Text("identity.firstKey.advice", bundle: .texts).font(.callout)
            }
            // Something was sent, and no server has answered.
            if model.facts.isUndecided { Button(text: "identity.settle") { Task { await model.settle() } } }
        }
    }

    private var ready: some View {
        Section {
            Button(text: "identity.create") { sheet = .create }
            Button(text: "identity.recover") { sheet = .recover }
            Button(text: "identity.join") { sheet = .join }
        } footer: {
            Text("identity.ready.footer", bundle: .texts)
        }
    }

    private var linking: some View {
        Section {
            Button(text: "identity.join.again") { sheet = .join }
            Button(text: "identity.openSession") { Task { await model.openSession() } }
            Button(text: "identity.erase", role: .destructive) { sheet = .erase }
        } footer: {
            Text("identity.linking.footer", bundle: .texts)
        }
    }

    @ViewBuilder private var created: some View {
        Section { Button(text: "identity.openSession") { Task { await model.openSession() } } }
        account
    }

    @ViewBuilder private var authenticated: some View {
        Section {
            Button(text: "identity.refreshSession") { Task { await model.refreshSession() } }
            Button(text: "identity.request") { sheet = .request }
            Button(text: "identity.endSession") { Task { await model.endSession() } }
        }
        account
    }

    @ViewBuilder private var account: some View {
        Section {
            Button(text: "identity.link") { sheet = .link }
            Button(text: "identity.unlink") { sheet = .unlink }
            Button(text: "identity.rotate") { Task { await model.rotate() } }
            Button(text: "identity.changeRecovery") { sheet = .changeRecovery }
            if model.facts.drill != nil { Button(text: "identity.drill") { sheet = .drill } }
        } header: {
            Text("identity.account", bundle: .texts)
        } footer: {
            if model.facts.drill?.isDue == true { Text("identity.drill.due", bundle: .texts) }
        }
        Section {
            Button(text: "identity.erase", role: .destructive) { sheet = .erase }
            Button(text: "identity.delete", role: .destructive) { sheet = .delete }
        }
    }
}
#endif
