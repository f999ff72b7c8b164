#if canImport(UIKit)
import HoldfastUI
import HoldfastViews
import SwiftUI
import UIKit

/// An app lock for UIKit: a window above everything, alerts too, with a blur at the first sign of leaving and the lock
/// screen once the time is over.
@main
final class AppDelegate: UIResponder, UIApplicationDelegate {
    /// One vault and one lock for all scenes of the app.
    let appModel = AppModel(at: NSHomeDirectory() + "/Library/Application Support/holdfast", interface: "ios")
}

/// Named in Info.plist below UIApplicationSceneManifest. Each scene has a window of its own in front of it.
final class SceneDelegate: UIResponder, UIWindowSceneDelegate {
    var window: UIWindow?
    private var lock: LockWindow?
    private var signals: DeviceSignals?

    func scene(
        _ scene: UIScene, willConnectTo session: UISceneSession, options connectionOptions: UIScene.ConnectionOptions
    ) {
        guard let scene = scene as? UIWindowScene, let app = UIApplication.shared.delegate as? AppDelegate else {
            return
        }
        let window = UIWindow(windowScene: scene)
        self.window = window
        window.rootViewController = UIViewController()
        window.makeKeyAndVisible()
        Task {
            await app.appModel.opened()
            guard let models = app.appModel.models else {
                // Something stands in the way: it is said, with what to do; done, the settings are there.
                window.rootViewController = UIHostingController(
                    rootView: AppView(app.appModel) { SecuritySettings($0) })
                return
            }
            signals = DeviceSignals(models.lock)
            lock = LockWindow(models)
            lock?.connect(to: scene)
            window.rootViewController = SettingsViewController(models)
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
    init(_ models: ReadyModels) { super.init(rootView: SecuritySettings(models)) }

    @available(*, unavailable)
    required init?(coder: NSCoder) { nil }
}
#endif
