#if canImport(UIKit)
internal import AppLockCore
public import HoldfastUI
internal import Observation
internal import SwiftUI
public import UIKit

/// The cover and the lock screen for apps without SwiftUI. One that was presented dismisses itself when content may be
/// seen.
public final class LockViewController: UIViewController {
    private let models: ReadyModels
    private let style: LockScreenStyle

    /// What stands in front of these models' content.
    /// - Parameter style: How the lock screen looks.
    public init(_ models: ReadyModels, style: LockScreenStyle = LockScreenStyle()) {
        self.models = models
        self.style = style
        Texts.fillReasons(models)
        super.init(nibName: nil, bundle: nil)
        modalPresentationStyle = .overFullScreen
        isModalInPresentation = true
    }

    /// Not from a storyboard: it needs its model.
    @available(*, unavailable)
    public required init?(coder: NSCoder) { nil }

    /// Puts the lock view in.
    public override func viewDidLoad() {
        super.viewDidLoad()
        let content = UIHostingController(rootView: FrontView(models: models).lockScreen(style))
        addChild(content)
        content.view.frame = view.bounds
        content.view.autoresizingMask = [.flexibleWidth, .flexibleHeight]
        // What is below shows through the cover's material.
        view.backgroundColor = .clear
        content.view.backgroundColor = .clear
        view.addSubview(content.view)
        content.didMove(toParent: self)
        view.accessibilityViewIsModal = true
        follow()
    }

    /// What it covers gives the keyboard back.
    public override func viewWillAppear(_ animated: Bool) {
        super.viewWillAppear(animated)
        presentingViewController?.view.window?.endEditing(true)
    }

    /// Where keys go that nothing here takes: not to the controller that presents it, which would act on them below the
    /// lock screen.
    public override var next: UIResponder? { presentingViewController == nil ? super.next : viewIfLoaded?.window }

    private func follow() {
        withObservationTracking {
            leave()
        } onChange: { [weak self] in
            Task { @MainActor in self?.follow() }
        }
    }

    private func leave() {
        if models.cover.shown == .nothing, presentingViewController != nil { dismiss(animated: true) }
    }

    /// Tells the screen reader that this is another screen. Leaves where the lock was opened while it was still coming:
    /// UIKit dismisses nothing then.
    public override func viewDidAppear(_ animated: Bool) {
        super.viewDidAppear(animated)
        UIAccessibility.post(notification: .screenChanged, argument: view)
        leave()
    }
}

/// The cover alone for a mere interruption; the lock screen when it is locked.
private struct FrontView: View {
    let models: ReadyModels
    @Environment(\.isCaptured) private var isCaptured

    var body: some View {
        switch models.cover.shown {
        case .nothing, .cover: CoverView(models.cover, isCaptured: isCaptured)
        case .lockScreen: LockView(models.lock)
        }
    }
}
#endif
