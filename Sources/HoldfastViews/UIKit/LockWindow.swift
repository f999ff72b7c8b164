#if canImport(UIKit)
internal import AppLockCore
public import HoldfastUI
internal import Observation
public import UIKit

/// Owns a window above everything of one scene, sheets and alerts included. Call it from the app's scene delegate,
/// which keeps it.
@MainActor
public final class LockWindow {
    private let models: ReadyModels
    private let style: LockScreenStyle
    private var window: UIWindow?
    private weak var covered: UIWindow?
    private weak var scene: UIWindowScene?
    private var capturing: (any UITraitChangeRegistration)?
    /// The scene's own; one that connects is on its way to the front.
    private var phase = ScenePresence.Phase.active

    /// The window over what these models keep shut.
    /// - Parameter style: How the lock screen looks.
    public init(_ models: ReadyModels, style: LockScreenStyle = LockScreenStyle()) {
        self.models = models
        self.style = style
        Texts.fillReasons(models)
    }

    /// From `scene(_:willConnectTo:options:)`: shows the lock before the first frame. Where the app waited for
    /// something meanwhile, the scene is taken as it is now.
    public func connect(to scene: UIScene) {
        self.scene = scene as? UIWindowScene
        if let now = ScenePresence.Phase(scene.activationState) {
            phase = now
            models.scenes.report(now, of: self)
        }
        capturing = self.scene?.registerForTraitChanges([UITraitSceneCaptureState.self]) {
            [weak self] (_: UIWindowScene, _: UITraitCollection) in
            self?.update()
        }
        follow()
    }

    /// From `sceneWillResignActive(_:)`: covers before the system takes its picture.
    public func sceneWillResignActive() {
        phase = .inactive
        models.scenes.report(.inactive, of: self)
        update()
    }

    /// From `sceneDidEnterBackground(_:)`.
    public func sceneDidEnterBackground() {
        phase = .background
        models.scenes.report(.background, of: self)
        update()
    }

    /// From `sceneWillEnterForeground(_:)`.
    public func sceneWillEnterForeground() {
        phase = .inactive
        models.scenes.report(.inactive, of: self)
    }

    /// From `sceneDidBecomeActive(_:)`.
    public func sceneDidBecomeActive() {
        phase = .active
        models.scenes.report(.active, of: self)
        update()
    }

    /// From `sceneDidDisconnect(_:)`: gives the window up.
    public func sceneDidDisconnect() {
        models.scenes.remove(self)
        if let capturing { scene?.unregisterForTraitChanges(capturing) }
        capturing = nil
        hide()
    }

    private func follow() {
        withObservationTracking {
            update()
        } onChange: { [weak self] in
            Task { @MainActor in self?.follow() }
        }
    }

    private func update() {
        let isCaptured = scene?.traitCollection.sceneCaptureState == .active
        if models.cover.shown(in: phase, isCaptured: isCaptured) == .nothing { hide() } else { show() }
    }

    private func show() {
        guard window == nil, let scene else { return }
        covered = scene.windows.first { $0.isKeyWindow }
        covered?.endEditing(true)
        let window = UIWindow(windowScene: scene)
        window.backgroundColor = .clear
        window.windowLevel = UIWindow.Level(rawValue: UIWindow.Level.alert.rawValue + 1)
        window.rootViewController = LockViewController(models, style: style)
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
