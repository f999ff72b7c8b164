#if canImport(SwiftUI)
import Holdfast
import HoldfastUI
import HoldfastViews
import SwiftUI

/// The example app: notes, logins and other items that are made, found, shown, copied and edited, the identity and the security
/// settings, from the first start on. Its user turns on the lock.
@main
struct ExampleApp: App {
    @State private var face = FaceModel(at: ExampleApp.folder, face: "ios", ExampleApp.options)

    var body: some Scene {
        WindowGroup {
            FaceView(face) { models in Content(models: models) }
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

    var body: some View {
        TabView {
            NavigationStack { VaultView(models) }
                .tabItem { Label("Items", systemImage: "key") }
            NavigationStack { IdentityView(models) }.tabItem { Label("Identity", systemImage: "person.badge.key") }
            NavigationStack { SecuritySettings(models) }.tabItem { Label("Security", systemImage: "gearshape") }
        }
    }
}
#endif
