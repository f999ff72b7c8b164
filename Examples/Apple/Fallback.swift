#if canImport(SwiftUI)
import Holdfast
import HoldfastUI
import HoldfastViews
import SwiftUI

/// A token behind a face, then the device's passcode, then a lesser store, with the level of protection shown. After one prompt
/// the key is there until the lock falls: no read asks again.
@main
struct FallbackApp: App {
    @State private var face = FaceModel(at: NSHomeDirectory() + "/Library/Application Support/holdfast", face: "ios")

    var body: some Scene {
        WindowGroup { FaceView(face) { models in Token(models: models) } }
    }
}

struct Token: View {
    let models: AppModels
    @State private var status = ""
    private var app: HoldfastApp { models.lock.app }

    var body: some View {
        Form {
            Text(verbatim: level)
            Button("Store the token") {
                attempt { try app.vault.put(SecretBytes(utf8: "token"), for: "api token", replacing: true) }
            }
            Button("Read it") { attempt { try app.vault.withValue(for: "api token") { _ in } } }
            Button("Allow the lesser store") { Task { await allowLesserStore() } }
            Text(verbatim: status)
        }
    }

    private var level: String {
        switch models.protection.level {
        case .device, nil: "Protected by this device"
        case .owner: "Protected by your face, your finger or the device's passcode"
        case .secret: "Protected by a passcode"
        }
    }

    /// Where neither a face nor the passcode can be asked, the app may write to `vault.open`; the vault stays locked.
    private func allowLesserStore() async {
        do {
            try await app.lock.changePolicy(proving: app.lock.prove()) { policy throws(VaultError) in
                let rule = FallbackPolicy.Rule(.openCompartment, assurance: .none, when: [.unavailable, .failed])
                policy.fallback = (try? FallbackPolicy(policy.fallback.rules + [rule])) ?? policy.fallback
            }
        } catch { status = "\(error)" }
    }

    private func attempt(_ work: () throws -> Void) {
        do { try work(); status = "Done" } catch { status = "\(error)" }
    }
}
#endif
