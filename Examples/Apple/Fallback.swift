#if canImport(SwiftUI)
import Holdfast
import HoldfastUI
import HoldfastViews
import SwiftUI

/// A token behind a face, then the device's passcode, then a lesser store, with the level of protection shown. After
/// one prompt the key is there until the lock falls: no read asks again.
@main
struct FallbackApp: App {
    @State private var appModel = AppModel(
        at: NSHomeDirectory() + "/Library/Application Support/holdfast", interface: "ios")

    var body: some Scene { WindowGroup { AppView(appModel) { Token(models: $0) }.lockScreen(style) } }

    private var style: LockScreenStyle {
        var style = LockScreenStyle()
        style.lesser = { app in AnyView(Draft(app: app)) }
        return style
    }
}

/// On the lock screen where nobody could be asked: kept beside the vault, which takes it in when its owner opens it.
struct Draft: View {
    let app: HoldfastApp
    @State private var status = ""
    var body: some View {
        Button("Keep a draft without the lock") {
            do {
                try app.vault.open.put(SecretBytes(utf8: "draft"), for: "draft", replacing: true); status = "Kept."
            } catch { status = "\(error)" }
        }
        Text(verbatim: status)
    }
}

struct Token: View {
    let models: ReadyModels
    @State private var status = ""
    private var app: HoldfastApp { models.lock.app }
    var body: some View {
        Form {
            Text(verbatim: "Protection: \(models.protection.level.map { "\($0)" } ?? "unknown")")
            Button("Store the token") {
                attempt { try app.vault.put(SecretBytes(utf8: "token"), for: "api token", replacing: true) }
            }
            Button("Read it") { attempt { try app.vault.withValue(for: "api token") { _ in } } }
            Button("Allow the lesser store") { Task { await allowLesserStore() } }
            Text(verbatim: status)
        }
    }

    /// Where neither a face nor the passcode can be asked, the app may write to `vault.open`; the vault stays locked.
    private func allowLesserStore() async {
        let reasons: Set<FallbackCondition> = [.unavailable, .notEnrolled, .systemLockout, .failed]
        let rule = FallbackPolicy.Rule(.openCompartment, assurance: .none, when: reasons)
        do {
            try await app.lock.changePolicy(proving: app.lock.prove()) { policy throws(VaultError) in
                policy.fallback = (try? FallbackPolicy(policy.fallback.rules + [rule])) ?? policy.fallback
            }
            status = "Allowed."
        } catch { status = "\(error)" }
    }

    private func attempt(_ work: () throws -> Void) {
        do { try work(); status = "Done" } catch { status = "\(error)" }
    }
}
#endif
