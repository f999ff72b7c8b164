#if canImport(SwiftUI)
public import HoldfastUI
public import SwiftUI
internal import AppLockCore

extension View {
    /// Keeps this view's content covered while the app is inactive, and behind the lock screen until its owner is there.
    ///
    /// Put it on the root of each scene. Sheets and alerts stand above an overlay: an app that shows them puts a
    /// ``LockWindow`` above everything as well.
    public func appLock(_ models: AppModels) -> some View { modifier(AppLockModifier(models: models)) }
}

struct AppLockModifier: ViewModifier {
    let models: AppModels
    @Environment(\.scenePhase) private var phase
    @Environment(\.accessibilityReduceMotion) private var reducesMotion

    func body(content: Content) -> some View {
        let shown = models.cover.shown
        content
            .privacySensitive()
            .accessibilityHidden(shown != .nothing)
            .allowsHitTesting(shown == .nothing)
            .overlay {
                switch shown {
                case .nothing: EmptyView()
                case .cover: Rectangle().fill(.ultraThickMaterial).ignoresSafeArea().accessibilityHidden(true)
                case .lockScreen: LockView(models.lock)
                }
            }
            .animation(reducesMotion ? nil : .easeOut, value: shown)
            .onChange(of: phase, initial: true) { _, now in
                switch now {
                case .active: models.lock.send(.didBecomeActive)
                case .inactive: models.lock.send(.willResignActive)
                case .background: models.lock.send(.didEnterBackground)
                @unknown default: models.lock.send(.willResignActive)
                }
            }
            .onChange(of: models.lock.state) { _, now in
                if now == .unlocked { Task { await models.load() } }
            }
    }
}
#endif
