#if canImport(SwiftUI)
import Holdfast
import HoldfastUI
import HoldfastViews
import SwiftUI

/// Settings for auto-destruct: off by default, a prompt, a confirmation, thirty seconds to cancel, and a prompt again. After five
/// prompts that did not recognise the user the vault and the app's own settings are gone, and the process ends.
@main
struct AutoDestructApp: App {
    @State private var face = FaceModel(
        at: NSHomeDirectory() + "/Library/Application Support/holdfast", face: "ios", AutoDestructApp.options)

    var body: some Scene {
        WindowGroup { FaceView(face) { models in AutoDestructSettings(model: models.selfDestruct, lock: models.lock) } }
    }

    private static var options: FaceModel.Options {
        var options = FaceModel.Options()
        options.wipeTargets = [SettingsWipeTarget("org.example.settings", suite: "org.example.autodestruct")]
        options.ending = .exit
        return options
    }
}

struct AutoDestructSettings: View {
    let model: SelfDestructModel
    let lock: LockModel

    var body: some View {
        Form {
            Toggle("Destroy everything after \(model.attemptLimit) failures", isOn: isOn)
                .disabled(!model.isPossible || model.isBusy)
            if !model.isPossible { Text("Turn on the lock first.") }
            if let left = lock.remainingAttempts { Text("\(left) attempts left") }
            if case .confirming = model.step {
                Text("This cannot be undone. Only a backup brings your data back.")
                Button("I understand") { Task { await model.confirm() } }
            }
            if case .counting(_, let left, _) = model.step { Text("In \(left) s") }
            if model.pending != nil {
                Button("Cancel") { Task { await model.cancel() } }
            }
        }
        .onChange(of: model.step) { _, step in
            // The device asks at both ends; in between the user can cancel.
            if case .authenticating = step { Task { await model.authenticate() } }
            if case .authenticatingAgain = step { Task { await model.finish() } }
        }
    }

    private var isOn: Binding<Bool> {
        Binding(
            get: { @MainActor in model.showsOn },
            set: { @MainActor isOn in model.request(isOn ? SelfDestructChange.enable : .disable) })
    }
}
#endif
