#if canImport(SwiftUI)
import HoldfastUI
import HoldfastViews
import SwiftUI

/// A client of an identity server with its three states: ready, created, authenticated. There is no vault to set up:
/// the keys of this device are kept from the first start on, and its owner is asked only for what cannot be taken back.
@main
struct AccountClientApp: App {
    @State private var appModel = AppModel(
        at: NSHomeDirectory() + "/Library/Application Support/holdfast", interface: "ios")

    var body: some Scene {
        WindowGroup { AppView(appModel) { models in Account(model: models.identity) } }
    }

    static func text(_ words: RawSpan) -> String {
        String(decoding: unsafe words.withUnsafeBytes { unsafe Array($0) }, as: UTF8.self)
    }
}

struct Account: View {
    let model: IdentityModel
    private let server = "https://auth.example.org"

    var body: some View {
        Form {
            switch model.facts.state {
            case .ready: creation
            case .created: button("Open a session") { await model.openSession() }
            case .authenticated:
                button("Ask the server") { await model.request("/foo/bar", #"{"a":1}"#) }
                button("End the session") { await model.endSession() }
            case .unconfirmed, .linking: button("Find out what happened") { await model.settle() }
            }
            if model.facts.identity != nil { button("Delete the account") { await model.delete() } }
            if let answer = model.answer { Text(verbatim: answer) }
            if let problem = model.problemText { problem }
            if model.isBusy { ProgressView() }
        }
    }

    /// The words are shown before anything is sent: they alone bring the account back.
    @ViewBuilder private var creation: some View {
        if model.isAccountPrepared, let words = model.withPhrase(AccountClientApp.text) {
            Text(verbatim: words).onlyInFront()
            button("I wrote them down") { await model.create(at: server) }
        } else {
            button("Create an account") { model.prepareAccount() }
        }
    }

    private func button(_ title: String, _ action: @escaping @MainActor () async -> Void) -> some View {
        Button(LocalizedStringKey(title)) { Task { await action() } }.disabled(model.isBusy)
    }
}
#endif
