#if canImport(SwiftUI)
import Holdfast
import HoldfastUI
import HoldfastViews
import SwiftUI

/// Auto-destruct: off by default, a prompt, a confirmation, thirty seconds to cancel, and a prompt again. At the limit
/// of prompts that did not recognise the user the vault is gone with all that is named here, and the process ends.
@main
struct AutoDestructApp: App {
    @State private var appModel = AppModel(
        at: AutoDestructApp.support + "/holdfast", interface: "ios", AutoDestructApp.options)

    var body: some Scene { WindowGroup { AppView(appModel) { AutoDestructSettings(models: $0) } } }
    private static let support = NSHomeDirectory() + "/Library/Application Support"
    private static var options: AppModel.Options {
        var options = AppModel.Options()
        options.wipeTargets = [
            SettingsWipeTarget("org.example.settings", suite: "org.example.autodestruct"),
            KeychainWipeTarget("org.example.tokens", service: "org.example.autodestruct"),
            FilesWipeTarget.database("org.example.notes", at: support + "/Notes.sqlite"),
            FilesWipeTarget.folder("org.example.pictures", at: support + "/Pictures"),
        ]
        options.ending = .exit
        return options
    }
}

struct AutoDestructSettings: View {
    let models: ReadyModels
    private var model: SelfDestructModel { models.selfDestruct }
    var body: some View {
        Form {
            Toggle("Destroy everything", isOn: isOn).disabled(!model.isPossible || model.isBusy)
            if !model.isPossible { Text("Turn on the lock first.") }
            ForEach([3, 5, 10], id: \.self) { limit in
                Button("After \(limit) failures") { set(limit) }.disabled(model.attemptLimit == limit)
            }
            if case .confirming = model.step { Button("I understand: it is final") { Task { await model.confirm() } } }
            if case .counting(_, let left, _) = model.step { Text("In \(left) s") }
            if case .authenticatingAgain = model.step { Button("Confirm again") { Task { await model.finish() } } }
            if model.pending != nil { Button("Cancel") { Task { await model.cancel() } } }
            if model.hasChanged { Text("Changed.") }
            if model.isGivenUp { Text("Nothing was changed.") }
            if let problem = model.problemText { problem }
            if let failure = models.settings.failure { failure.problemText }
        }
        .onChange(of: model.step) { _, step in  // The device asks at both ends; in between the user can cancel.
            if case .authenticating = step { Task { await model.authenticate() } }
            if case .authenticatingAgain = step { Task { await model.finish() } }
        }
    }
    private func set(_ limit: Int) {
        models.settings.requestAttemptLimit(limit)
        Task { await models.settings.confirm() }
    }
    private var isOn: Binding<Bool> {
        Binding(get: { @MainActor in model.showsOn }, set: { @MainActor in model.request($0 ? .enable : .disable) })
    }
}
#endif
