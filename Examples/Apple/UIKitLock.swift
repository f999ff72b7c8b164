#if canImport(UIKit)
import HoldfastUI
import HoldfastViews
import SwiftUI
import UIKit

/// An app lock for UIKit: a window above everything, alerts too, with a blur at the first sign of leaving and the lock screen
/// once the time is over. Named as the scene delegate in Info.plist.
final class SceneDelegate: UIResponder, UIWindowSceneDelegate {
    var window: UIWindow?
    private let face = FaceModel(at: NSHomeDirectory() + "/Library/Application Support/holdfast", face: "ios")
    private var lock: LockWindow?
    private var signals: DeviceSignals?

    func scene(
        _ scene: UIScene, willConnectTo session: UISceneSession, options connectionOptions: UIScene.ConnectionOptions
    ) {
        guard let scene = scene as? UIWindowScene else { return }
        let window = UIWindow(windowScene: scene)
        self.window = window
        window.rootViewController = UIViewController()
        window.makeKeyAndVisible()
        Task {
            await face.opened()
            guard case .ready(let models) = face.phase else {
                // Something stands in the way: it is said, with what to do.
                window.rootViewController = UIHostingController(rootView: FaceView(face) { _ in EmptyView() })
                return
            }
            window.rootViewController = SettingsViewController(models)
            signals = DeviceSignals(models.lock)
            lock = LockWindow(models)
            lock?.connect(to: scene)
            lock?.sceneDidBecomeActive()
            await models.load()
        }
    }

    func sceneWillResignActive(_ scene: UIScene) { lock?.sceneWillResignActive() }
    func sceneDidEnterBackground(_ scene: UIScene) { lock?.sceneDidEnterBackground() }
    func sceneWillEnterForeground(_ scene: UIScene) { lock?.sceneWillEnterForeground() }
    func sceneDidBecomeActive(_ scene: UIScene) { lock?.sceneDidBecomeActive() }
    func sceneDidDisconnect(_ scene: UIScene) { lock?.sceneDidDisconnect() }
}

/// The ready settings, pushed as any other screen of the app.
final class SettingsViewController: UIHostingController<SecuritySettings> {
    init(_ models: AppModels) { super.init(rootView: SecuritySettings(models)) }

    @available(*, unavailable)
    required init?(coder: NSCoder) { nil }
}
#endif
