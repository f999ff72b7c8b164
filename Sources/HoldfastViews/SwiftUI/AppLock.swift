#if canImport(SwiftUI)
public import HoldfastUI
public import SwiftUI
internal import AppLockCore

extension View {
    /// Keeps this view's content covered while its scene is inactive, and behind the lock screen until its owner is there.
    ///
    /// Put it on the root of each scene. Sheets and alerts stand above an overlay: a sheet of the app's own takes
    /// ``SwiftUICore/View/covered(by:)``, and an app that shows alerts puts a ``LockWindow`` above everything as well.
    public func appLock(_ models: AppModels) -> some View { modifier(AppLockModifier(models: models)) }

    /// Covers what this view shows while its scene is inactive or the app is locked. For sheets, which stand above the cover
    /// of the view that presents them.
    public func covered(by models: AppModels) -> some View { modifier(CoverModifier(models: models)) }
}

struct AppLockModifier: ViewModifier {
    let models: AppModels
    /// Stands for this scene.
    @State private var scene = SceneMark()
    @Environment(\.scenePhase) private var phase
    @Environment(\.accessibilityReduceMotion) private var reducesMotion

    func body(content: Content) -> some View {
        let shown = models.cover.shown(in: ScenePresence.Phase(phase))
        content
            .accessibilityHidden(shown != .nothing)
            .allowsHitTesting(shown == .nothing)
            .overlay {
                switch shown {
                case .nothing: EmptyView()
                case .cover: CoverView(style: models.cover.style)
                case .lockScreen: LockView(models.lock)
                }
            }
            // The system takes its picture in the moment of the change: only what uncovers may take its time.
            .animation(reducesMotion || shown != .nothing ? nil : .easeOut, value: shown)
            .onChange(of: phase, initial: true) { _, now in
                models.scenes.report(ScenePresence.Phase(now), of: scene)
            }
            .onDisappear { models.scenes.remove(scene) }
            .onChange(of: models.lock.state) { _, now in
                if now == .unlocked { Task { await models.load() } }
            }
    }
}

struct CoverModifier: ViewModifier {
    let models: AppModels
    @Environment(\.scenePhase) private var phase

    func body(content: Content) -> some View {
        let isHidden = models.cover.shown(in: ScenePresence.Phase(phase)) != .nothing
        content
            .accessibilityHidden(isHidden)
            .overlay { if isHidden { CoverView(style: models.cover.style) } }
    }
}

/// What stands in front of content that must not be seen.
struct CoverView: View {
    let style: PrivacyCover.Style

    var body: some View {
        switch style {
        case .blurred: Rectangle().fill(.ultraThickMaterial).ignoresSafeArea().accessibilityHidden(true)
        case .plain: Rectangle().fill(Color.black).ignoresSafeArea().accessibilityHidden(true)
        }
    }
}

/// An object for a scene, which has none of its own in SwiftUI.
final class SceneMark {}

extension ScenePresence.Phase {
    init(_ phase: ScenePhase) {
        self =
            switch phase {
            case .active: .active
            case .inactive: .inactive
            case .background: .background
            @unknown default: .inactive
            }
    }
}
#endif
