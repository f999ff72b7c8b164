#if canImport(SwiftUI)
internal import HoldfastUI
internal import Observation
internal import SwiftUI

#if canImport(UIKit)
internal import UIKit
#elseif canImport(AppKit)
internal import AppKit
#endif

/// Where a view is: its window, and how far from the user the scene of that window is.
///
/// SwiftUI's environment has the phase of a scene of SwiftUI's. In a hosting controller of an app in UIKit it keeps a
/// default, whatever the scene does, so the scene itself is asked, and its notifications are heard.
@MainActor @Observable
final class Surroundings {
    #if canImport(UIKit)
    /// Nil until the view is in a scene.
    private(set) var phase: ScenePresence.Phase?
    @ObservationIgnored private weak var scene: UIScene?
    @ObservationIgnored private var observers: Observers?
    /// As large as the view, at its place.
    @ObservationIgnored fileprivate(set) weak var view: UIView?
    static let hearsScene = true
    #else
    static let hearsScene = false
    /// On a Mac the environment alone tells.
    var phase: ScenePresence.Phase? { nil }
    @ObservationIgnored fileprivate weak var view: NSView?
    #endif

    /// Takes the keyboard from whatever has it in this window.
    func endEditing() {
        #if canImport(UIKit)
        view?.window?.endEditing(true)
        #else
        view?.window?.makeFirstResponder(nil)
        #endif
    }

    /// Whether something is presented above this view.
    var isBelowSheet: Bool {
        #if canImport(UIKit)
        var responder = view?.next
        while let here = responder, !(here is UIViewController) { responder = here.next }
        return (responder as? UIViewController)?.presentedViewController != nil
        #else
        view?.window?.attachedSheet != nil
        #endif
    }

    #if canImport(UIKit)
    fileprivate func moved() {
        guard let now = view?.window?.windowScene, now !== scene else { return }
        scene = now
        phase = nil
        let observers = Observers()
        self.observers = observers
        // By what happens, not by the state: during a notification of what will happen, the state is the one before.
        observe(UIScene.willDeactivateNotification, now, .inactive)
        observe(UIScene.didEnterBackgroundNotification, now, .background)
        observe(UIScene.willEnterForegroundNotification, now, .inactive)
        observe(UIScene.didActivateNotification, now, .active)
        // Not while SwiftUI puts its views there, which is when the window comes.
        Task { [weak self, weak now] in
            guard let self, let now, scene === now, phase == nil else { return }
            phase = ScenePresence.Phase(now.activationState)
        }
    }

    private func observe(_ name: NSNotification.Name, _ scene: UIScene, _ phase: ScenePresence.Phase) {
        // At once, on the thread that posts: a picture is taken soon after.
        let token = NotificationCenter.default.addObserver(forName: name, object: scene, queue: nil) { [weak self] _ in
            MainActor.assumeIsolated { self?.phase = phase }
        }
        observers?.tokens.append((.default, token))
    }
    #endif
}

extension View {
    /// Lets these surroundings know where this view is.
    func located(_ surroundings: Surroundings) -> some View { background { Place(surroundings: surroundings) } }

    /// Calls `act` when the scene of this view has another phase, and with the first one that is known.
    func onScenePhase(_ act: @escaping @MainActor (ScenePresence.Phase) -> Void) -> some View {
        modifier(PhaseModifier(act: act))
    }
}

private struct PhaseModifier: ViewModifier {
    let act: @MainActor (ScenePresence.Phase) -> Void
    @State private var surroundings = Surroundings()
    @Environment(\.scenePhase) private var phase

    func body(content: Content) -> some View {
        content
            .located(surroundings)
            .onChange(of: surroundings.phase, initial: true) { _, now in if let now { act(now) } }
            // Where it changes it is a scene of SwiftUI's; one that does not may be the default of a hosting
            // controller.
            .onChange(of: phase, initial: !Surroundings.hearsScene) { _, now in
                if surroundings.phase == nil { act(ScenePresence.Phase(now)) }
            }
    }
}

#if canImport(UIKit)
private struct Place: UIViewRepresentable {
    let surroundings: Surroundings

    func makeUIView(context: Context) -> PlaceView {
        let view = PlaceView(surroundings)
        surroundings.view = view
        return view
    }

    func updateUIView(_ view: PlaceView, context: Context) {}
}

private final class PlaceView: UIView {
    private let surroundings: Surroundings

    init(_ surroundings: Surroundings) {
        self.surroundings = surroundings
        super.init(frame: .zero)
        isUserInteractionEnabled = false
        accessibilityElementsHidden = true
    }

    @available(*, unavailable)
    required init?(coder: NSCoder) { nil }

    override func didMoveToWindow() {
        super.didMoveToWindow()
        surroundings.moved()
    }
}

extension ScenePresence.Phase {
    /// Nil for a scene that is on its way.
    init?(_ state: UIScene.ActivationState) {
        switch state {
        case .unattached: return nil
        case .foregroundActive: self = .active
        case .foregroundInactive: self = .inactive
        case .background: self = .background
        @unknown default: self = .inactive
        }
    }
}
#elseif canImport(AppKit)
private struct Place: NSViewRepresentable {
    let surroundings: Surroundings

    func makeNSView(context: Context) -> NSView {
        let view = NSView(frame: .zero)
        surroundings.view = view
        return view
    }

    func updateNSView(_ view: NSView, context: Context) {}
}
#endif

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
