#if canImport(SwiftUI)
import Holdfast
import HoldfastUI
import HoldfastViews
import SwiftUI

/// The example app: the first run, then the vault's items, the identity and the security settings behind the lock.
@main
struct ExampleApp: App {
    @State private var face = FaceModel(at: ExampleApp.folder, face: "ios", ExampleApp.options)

    var body: some Scene {
        WindowGroup {
            switch face.phase {
            case .ready(let models): Content(models: models)
            case .setup(let setup): SetupView(setup) { Task { await face.finishSetup() } }
            case .destroyed(let receipt): Text(verbatim: "Destroyed: \(receipt)")
            case .failed(let problem): Text(verbatim: "\(problem)")
            }
        }
    }

    /// The app's own settings go with the vault, and the process ends with it.
    private static var options: FaceModel.Options {
        var options = FaceModel.Options()
        if let suite = Bundle.main.bundleIdentifier {
            options.wipeTargets = [SettingsWipeTarget("org.holdfast.example.settings", suite: suite)]
        }
        options.ending = .exit
        return options
    }

    /// In the app's container, where the system's file protection holds too.
    private static let folder = NSHomeDirectory() + "/Library/Application Support/holdfast"
}

/// What lies behind the lock.
struct Content: View {
    let models: AppModels
    @State private var signals: DeviceSignals?

    var body: some View {
        TabView {
            NavigationStack {
                List {
                    ForEach(models.vault.items) { item in Text(verbatim: item.name) }
                }
            }
            .tabItem { Label("Items", systemImage: "key") }
            NavigationStack { IdentityView(models) }.tabItem { Label("Identity", systemImage: "person.badge.key") }
            NavigationStack { SecuritySettings(models) }.tabItem { Label("Security", systemImage: "gearshape") }
        }
        .appLock(models)
        .onAppear { signals = DeviceSignals(models.lock) }
    }
}
#endif
