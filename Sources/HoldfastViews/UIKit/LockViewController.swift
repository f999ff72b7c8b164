#if canImport(UIKit)
internal import AppLockCore
public import HoldfastUI
internal import SwiftUI
public import UIKit

/// The lock screen for apps without SwiftUI.
public final class LockViewController: UIViewController {
    private let model: LockModel

    /// The screen of this lock.
    public init(_ model: LockModel) {
        self.model = model
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
        let content = UIHostingController(rootView: LockView(model))
        addChild(content)
        content.view.frame = view.bounds
        content.view.autoresizingMask = [.flexibleWidth, .flexibleHeight]
        view.addSubview(content.view)
        content.didMove(toParent: self)
        view.accessibilityViewIsModal = true
    }

    /// Tells the screen reader that this is another screen.
    public override func viewDidAppear(_ animated: Bool) {
        super.viewDidAppear(animated)
        UIAccessibility.post(notification: .screenChanged, argument: view)
    }
}
#endif
