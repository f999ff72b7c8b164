#if canImport(SwiftUI)
import Holdfast
import HoldfastUI
import HoldfastViews
import SwiftUI

/// The example app: notes, logins and other items that are made, found, shown, copied and edited, or come from another
/// program's file, the identity and the security settings, from the first start on. Its user turns on the lock.
@main
struct ExampleApp: App {
    @State private var appModel = AppModel(at: ExampleApp.folder, interface: ExampleApp.name, ExampleApp.options)

    #if canImport(UIKit)
    private static let name = "ios"

    var body: some Scene {
        WindowGroup { AppView(appModel) { models in Content(models: models) } }
            .commands { LockCommands(appModel) }
    }
    #else
    private static let name = "mac"

    /// The settings have a window of their own, which the app's menu opens, and no window comes back with its content.
    var body: some Scene {
        WindowGroup { AppView(appModel) { models in Content(models: models) } }
            .restorationBehavior(.disabled)
            .commands { LockCommands(appModel) }
        Settings { AppView(appModel) { models in SecuritySettings(models) } }
        LockMenuBarExtra(appModel)
    }
    #endif

    /// The app's own settings go with the vault; after the end its user can begin a new one.
    private static var options: AppModel.Options {
        var options = AppModel.Options()
        if let suite = Bundle.main.bundleIdentifier {
            options.wipeTargets = [SettingsWipeTarget("org.holdfast.example.settings", suite: suite)]
        }
        options.ending = .startOver
        return options
    }

    /// In the app's container, where the system's file protection holds too.
    private static let folder = NSHomeDirectory() + "/Library/Application Support/holdfast"
}

/// What lies behind the lock.
struct Content: View {
    let models: ReadyModels

    var body: some View {
        TabView {
            NavigationStack { VaultView(models) }.tabItem { tab(VaultView.title, "key") }
            NavigationStack { IdentityView(models) }.tabItem { tab(IdentityView.title, "person.badge.key") }
            #if canImport(UIKit)
            NavigationStack { SecuritySettings(models) }.tabItem { tab(SecuritySettings.title, "gearshape") }
            #endif
        }
    }

    private func tab(_ title: Text, _ symbol: String) -> some View {
        Label {
            title
        } icon: {
            Image(systemName: symbol)
        }
    }
}
#endif
