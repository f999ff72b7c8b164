#if canImport(SwiftUI)
internal import HoldfastUI
internal import Observation
internal import SwiftUI

/// Whether a sheet is there or still on its way out. What comes after it waits: an alert or a dialog that is asked for
/// meanwhile is never shown.
@MainActor @Observable
final class SheetPresence {
    private(set) var isThere = false

    fileprivate func comes() { isThere = true }

    /// From the sheet's `onDismiss`, which is called when it is gone.
    func hasGone() { isThere = false }
}

extension AppModels {
    /// Whether an alert can be answered. What presents it is disabled while the app is locked, and so would its buttons be: above
    /// the lock screen, it would keep its user from unlocking. It waits until the app is open.
    var takesAlerts: Bool { !lock.isLocked }
}

extension View {
    /// The content of a sheet whose presence is known.
    func noted(in presence: SheetPresence) -> some View { onAppear { presence.comes() } }
}
#endif
