#if canImport(SwiftUI)
internal import AppLockCore
public import HoldfastUI
public import SwiftUI

/// *Lock Now* in the menu of the app, for a Mac and for an iPad with a keyboard.
public struct LockCommands: Commands {
    private let appModel: AppModel

    /// The command for this app.
    public init(_ appModel: AppModel) { self.appModel = appModel }

    /// The command, below the settings.
    public var body: some Commands {
        CommandGroup(after: .appSettings) {
            LockNowButton(appModel: appModel).keyboardShortcut("l", modifiers: [.control, .command])
        }
    }
}

#if canImport(AppKit) && !targetEnvironment(macCatalyst)
/// A lock in the bar of menus, from which the app is locked while another one is in front.
public struct LockMenuBarExtra: Scene {
    private let appModel: AppModel

    /// The item for this app.
    public init(_ appModel: AppModel) { self.appModel = appModel }

    /// The item and its menu.
    public var body: some Scene {
        MenuBarExtra {
            LockNowButton(appModel: appModel)
        } label: {
            Image(systemName: appModel.isLocked ? "lock.fill" : "lock.open")
                .accessibilityLabel(Text(appModel.isLocked ? "lock.title" : "lock.now", bundle: .texts))
        }
    }
}
#endif

/// Locks at once; disabled where there is nothing to lock.
struct LockNowButton: View {
    let appModel: AppModel

    var body: some View {
        Button(text: "lock.now") { if case .ready(let models) = appModel.phase { models.lock.lock() } }
            .disabled(!canLock)
    }

    private var canLock: Bool {
        guard case .ready(let models) = appModel.phase else { return false }
        return models.lock.isEnabled && !models.lock.isLocked
    }
}

extension AppModel {
    fileprivate var isLocked: Bool { if case .ready(let models) = phase { models.lock.isLocked } else { true } }
}
#endif
