#if canImport(AppKit) && !targetEnvironment(macCatalyst)
import HoldfastUI
import HoldfastViews
import SwiftUI

/// An app lock on a Mac: it falls with the screen's own lock, sleep and another user, at once from the menu
/// (control-command-L) or the bar of menus, and no window comes back with its content.
@main
struct MacLockApp: App {
    @State private var appModel = AppModel(
        at: NSHomeDirectory() + "/Library/Application Support/holdfast", interface: "mac")

    var body: some Scene {
        WindowGroup { AppView(appModel) { models in Form { SecuritySettings(models) } } }
            .restorationBehavior(.disabled)
            .commands { LockCommands(appModel) }
        LockMenuBarExtra(appModel)
    }
}
#endif
