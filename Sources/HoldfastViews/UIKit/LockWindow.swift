#if canImport(UIKit)
internal import AppLockCore
public import HoldfastUI
internal import Observation
public import UIKit

/// Owns a window above everything of one scene, sheets and alerts included. Call it from the app's scene delegate, which
/// keeps it.
@MainActor
public final class LockWindow {
    private let models: AppModels
    private var window: UIWindow?
    private weak var covered: UIWindow?
    private weak var scene: UIWindowScene?

    /// The window over what these models keep shut.
    public init(_ models: AppModels) { self.models = models }

    /// From `scene(_:willConnectTo:options:)`: shows the lock before the first frame.
    public func connect(to scene: UIScene) {
        self.scene = scene as? UIWindowScene
        follow()
    }

    /// From `sceneWillResignActive(_:)`: covers before the system takes its picture.
    public func sceneWillResignActive() {
        models.lock.send(.willResignActive)
        update()
    }

    /// From `sceneDidEnterBackground(_:)`.
    public func sceneDidEnterBackground() { models.lock.send(.didEnterBackground) }

    /// From `sceneWillEnterForeground(_:)`.
    public func sceneWillEnterForeground() { models.lock.send(.willEnterForeground) }

    /// From `sceneDidBecomeActive(_:)`.
    public func sceneDidBecomeActive() { models.lock.send(.didBecomeActive) }

    /// From `sceneDidDisconnect(_:)`: gives the window up.
    public func sceneDidDisconnect() { hide() }

    private func follow() {
        withObservationTracking {
            update()
        } onChange: { [weak self] in
            Task { @MainActor in self?.follow() }
        }
    }

    private func update() { if models.cover.shown == .nothing { hide() } else { show() } }

    private func show() {
        guard window == nil, let scene else { return }
        covered = scene.windows.first { $0.isKeyWindow }
        covered?.endEditing(true)
        let window = UIWindow(windowScene: scene)
        window.windowLevel = UIWindow.Level(rawValue: UIWindow.Level.alert.rawValue + 1)
        window.rootViewController = LockViewController(models.lock)
        window.makeKeyAndVisible()
        self.window = window
    }

    private func hide() {
        guard let window else { return }
        window.isHidden = true
        self.window = nil
        covered?.makeKey()
    }
}
#endif
