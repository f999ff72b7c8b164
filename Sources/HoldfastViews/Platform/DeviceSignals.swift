#if canImport(SwiftUI)
internal import AppLockCore
public import HoldfastUI
internal import SwiftUI

// Catalyst finds an AppKit, too; what it runs in tells by UIKit.
#if canImport(AppKit) && !targetEnvironment(macCatalyst)
internal import AppKit
#endif

/// Tells a lock what the device does, beside what scenes tell: that it was locked, that it goes to sleep, that another
/// user came to the front. Keep it as long as the lock; nothing that it hears opens anything.
@MainActor
public final class DeviceSignals {
    private let observers = Observers()
    private var screen = ScreenAbsence()
    private weak var lock: LockModel?

    /// Begins to listen.
    public convenience init(_ lock: LockModel) { self.init(lock, SystemSignal.ofSystem) }

    init(_ lock: LockModel, _ signals: [SystemSignal]) {
        self.lock = lock
        for signal in signals {
            let center = DeviceSignals.center(signal.source)
            let token = center.addObserver(forName: signal.name, object: nil, queue: .main) { [weak self] _ in
                MainActor.assumeIsolated { self?.handle(signal.meaning) }
            }
            observers.tokens.append((center, token))
        }
    }

    private func handle(_ meaning: SystemSignal.Meaning) {
        // One of several windows leaves the app in front.
        if meaning == .windowMinimised, DeviceSignals.hasWindowInFront { return }
        if let event = screen.event(for: meaning) { lock?.send(event) }
    }

    private static func center(_ source: SystemSignal.Source) -> NotificationCenter {
        #if canImport(AppKit) && !targetEnvironment(macCatalyst)
        switch source {
        case .app: .default
        case .workspace: NSWorkspace.shared.notificationCenter
        case .session: DistributedNotificationCenter.default()
        }
        #else
        .default
        #endif
    }

    private static var hasWindowInFront: Bool {
        #if canImport(AppKit) && !targetEnvironment(macCatalyst)
        NSApplication.shared.windows.contains { $0.isVisible && $0.canBecomeMain }
        #else
        false
        #endif
    }
}

/// Stops listening when it goes.
final class Observers {
    var tokens: [(center: NotificationCenter, token: any NSObjectProtocol)] = []

    deinit { for (center, token) in tokens { center.removeObserver(token) } }
}
#endif
