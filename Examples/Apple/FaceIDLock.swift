#if canImport(SwiftUI)
import HoldfastUI
import HoldfastViews
import SwiftUI

/// A Face ID lock for an app in SwiftUI. It is off until its user turns it on; then a face, a finger or the device's
/// passcode is asked for at each cold launch and whenever the app comes back.
@main
struct FaceIDLockApp: App {
    @State private var appModel = AppModel(
        at: NSHomeDirectory() + "/Library/Application Support/holdfast", interface: "ios")

    var body: some Scene {
        WindowGroup { AppView(appModel) { models in Notes(models: models) } }
    }
}

/// What lies behind the lock.
struct Notes: View {
    let models: ReadyModels

    var body: some View {
        Form {
            Section { Text("Your notes") }
            LockToggle(models: models)
            Button("Lock now") { models.lock.lock() }.disabled(!models.lock.isEnabled)
        }
    }
}

/// The switch proves or goes back: the prompt comes first, and a refusal changes nothing.
struct LockToggle: View {
    let models: ReadyModels
    private var settings: SecuritySettingsModel { models.settings }

    var body: some View {
        Toggle("Face ID lock", isOn: isOn)
            .disabled(!settings.canSwitchLock || settings.isBusy)
            .task { await settings.look() }
            .alert(Text("Face ID lock was not changed"), isPresented: failed) {
                Button("OK") { settings.failure = nil }
            } message: {
                if let failure = settings.failure { failure.problemText }
            }
        if let obstacle = settings.lockObstacleText { obstacle }
    }

    private var isOn: Binding<Bool> {
        Binding(
            get: { @MainActor in settings.showsLockOn },
            set: { @MainActor isOn in
                settings.requestLock(isOn)
                Task { await settings.confirm() }
            })
    }

    /// Above the lock screen, an alert of what is locked would be in the way: its button is disabled with that.
    private var failed: Binding<Bool> {
        Binding(
            get: { @MainActor in settings.failure != nil && !models.lock.isLocked },
            set: { @MainActor _ in settings.failure = nil })
    }
}
#endif
