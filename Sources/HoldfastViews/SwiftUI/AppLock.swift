#if canImport(SwiftUI)
public import HoldfastUI
public import SwiftUI
internal import AppLockCore

extension View {
    /// Keeps this view's content covered while its scene is inactive, and behind the lock screen until its owner is
    /// there.
    ///
    /// Put it on the root of each scene. Sheets and alerts stand above an overlay: a sheet of the app's own takes
    /// ``SwiftUICore/View/covered(by:)``, and an app that shows alerts puts a ``LockWindow`` above everything as well.
    public func appLock(_ models: ReadyModels) -> some View {
        // Before the first prompt, which may come with the first frame.
        Texts.fillReasons(models)
        return modifier(AppLockModifier(models: models))
    }

    /// Covers what this view shows while its scene is inactive, and shows the lock screen in its place while the app is
    /// locked. For sheets, which stand above the cover and the lock screen of the view that presents them.
    public func covered(by models: ReadyModels) -> some View { modifier(CoverModifier(models: models)) }

    /// Shows this view only while its scene is in front and not recorded, whether the app lock is on or off and
    /// whatever the settings allow. For what must be on no picture of the screen: the words of a recovery phrase.
    public func onlyInFront() -> some View { modifier(OnlyInFrontModifier()) }
}

struct AppLockModifier: ViewModifier {
    let models: ReadyModels
    /// Stands for this scene.
    @State private var scene = SceneMark()
    @Environment(\.scenePhase) private var phase

    func body(content: Content) -> some View {
        content
            .covered(by: models)
            .onScenePhase { now in models.scenes.report(now, of: scene) }
            .onDisappear { models.scenes.remove(scene) }
            .onChange(of: models.lock.state, initial: true) { _, now in
                if now == .unlocked { Task { await models.load() } }
                if now == .locked, models.lock.reason.endsCopies { Clipboard.clear() }
            }
    }
}

struct CoverModifier: ViewModifier {
    let models: ReadyModels
    @State private var surroundings = Surroundings()
    @Environment(\.scenePhase) private var phase
    @Environment(\.isCaptured) private var isCaptured
    @Environment(\.accessibilityReduceMotion) private var reducesMotion

    func body(content: Content) -> some View {
        let shown = models.cover.shown(
            in: surroundings.phase ?? ScenePresence.Phase(phase), isCaptured: isCaptured)
        content
            .unreachable(shown != .nothing, in: surroundings)
            .overlay {
                Group {
                    switch shown {
                    case .nothing: EmptyView()
                    case .cover: CoverView(models.cover, isCaptured: isCaptured)
                    // A sheet above it shows the lock screen too, where keys belong.
                    case .lockScreen: LockView(models.lock) { !surroundings.isBelowSheet }
                    }
                }
                // What presents this sheet is disabled, and a sheet has its environment.
                .environment(\.isEnabled, true)
            }
            // The system takes its picture in the moment of the change: only what uncovers may take its time.
            .animation(reducesMotion || shown != .nothing ? nil : .easeOut, value: shown)
    }
}

struct OnlyInFrontModifier: ViewModifier {
    @State private var surroundings = Surroundings()
    @Environment(\.scenePhase) private var phase
    @Environment(\.isCaptured) private var isCaptured

    func body(content: Content) -> some View {
        let isHidden = (surroundings.phase ?? ScenePresence.Phase(phase)) != .active || isCaptured
        content
            .privacySensitive()
            .unreachable(isHidden, in: surroundings)
            .overlay { if isHidden { CoverView(style: .plain, isCaptured: isCaptured) } }
    }
}

extension View {
    /// Keeps what is covered out of reach: of touches, screen readers, shortcuts and the keyboard. A shortcut works
    /// wherever its control is, unless the control is disabled; a field that has the keyboard when the cover comes
    /// would keep it.
    fileprivate func unreachable(_ isCovered: Bool, in surroundings: Surroundings) -> some View {
        disabled(isCovered)
            .accessibilityHidden(isCovered)
            .allowsHitTesting(!isCovered)
            .located(surroundings)
            .onChange(of: isCovered) { _, isCovered in if isCovered { surroundings.endEditing() } }
    }
}

/// What stands in front of content that must not be seen.
struct CoverView: View {
    private let style: PrivacyCover.Style
    private let isCaptured: Bool

    /// In front of what belongs to no lock yet.
    init(style: PrivacyCover.Style, isCaptured: Bool) { (self.style, self.isCaptured) = (style, isCaptured) }

    /// - Parameter isCaptured: Whether the scene is recorded or mirrored, which the cover then says.
    init(_ cover: PrivacyCover, isCaptured: Bool = false) {
        style = cover.style
        self.isCaptured = cover.hides(captured: isCaptured)
    }

    var body: some View {
        switch style {
        case .blurred: Rectangle().fill(.ultraThickMaterial).ignoresSafeArea().accessibilityHidden(true)
        case .plain: Rectangle().fill(Color.black).ignoresSafeArea().accessibilityHidden(true)
        }
        if isCaptured { Text("lock.captured", bundle: .texts).foregroundStyle(.secondary).padding() }
    }
}

extension EnvironmentValues {
    /// Whether the system says that this scene is recorded, mirrored or shown elsewhere. A Mac does not.
    var isCaptured: Bool {
        #if canImport(UIKit)
        isSceneCaptured
        #else
        false
        #endif
    }
}

/// An object for a scene, which has none of its own in SwiftUI.
final class SceneMark {}
#endif
