#if canImport(SwiftUI)
public import Holdfast
public import SwiftUI

/// How the lock screen looks in an app: its name and its signs in place of ours. What it asks and says stays the same.
///
/// An app that wants another screen altogether makes one over `LockModel` and `PrivacyCover`, as the views here do.
public struct LockScreenStyle {
    /// Above the field; nil for "Locked" in the user's language.
    public var title: Text?
    /// Above the title; it is not read aloud.
    public var icon = Image(systemName: "lock.fill")
    /// Of buttons and the field; nil for the app's own.
    public var tint: Color?
    /// Behind all of it. Content must not be seen through it.
    public var background = AnyShapeStyle(.ultraThickMaterial)
    /// Below all of it, such as a way to write to you; nil for nothing. Anyone with the device sees it.
    public var footer: AnyView?
    /// What the app does meanwhile without its vault, above the footer, where the rules allow the open compartment
    /// (``FallbackPolicy/Step/openCompartment``) since nobody could be asked; nil for nothing. It gets the app, whose
    /// vault is locked and stays locked: `app.vault.open` takes what it keeps.
    public var lesser: (@MainActor (HoldfastApp) -> AnyView)?

    /// As it is without one.
    public init() {}
}

extension View {
    /// How the lock screen of this view looks. Put it behind ``SwiftUICore/View/appLock(_:)``.
    public func lockScreen(_ style: LockScreenStyle) -> some View { environment(\.lockScreenStyle, style) }
}

extension EnvironmentValues {
    var lockScreenStyle: LockScreenStyle {
        get { self[LockScreenStyleKey.self] }
        set { self[LockScreenStyleKey.self] = newValue }
    }
}

private struct LockScreenStyleKey: EnvironmentKey {
    static var defaultValue: LockScreenStyle { LockScreenStyle() }
}
#endif
