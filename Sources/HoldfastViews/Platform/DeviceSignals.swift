#if canImport(SwiftUI)
internal import AppLockCore
public import HoldfastUI
internal import SwiftUI

#if canImport(UIKit)
internal import UIKit
#elseif canImport(AppKit)
internal import AppKit
#endif

/// Tells a lock what the device does, beside what scenes tell: that it was locked, that it goes to sleep, that another
/// user came to the front. Keep it as long as the lock; nothing that it hears opens anything.
@MainActor
public final class DeviceSignals {
    private let observers = Observers()

    /// Begins to listen.
    public init(_ lock: LockModel) {
        #if canImport(UIKit)
        // Said of devices with a passcode, some seconds after they were locked.
        observe(.default, UIApplication.protectedDataWillBecomeUnavailableNotification, lock, .systemLocked)
        observe(.default, UIApplication.protectedDataDidBecomeAvailableNotification, lock, .systemUnlocked)
        #elseif canImport(AppKit)
        let center = NSWorkspace.shared.notificationCenter
        observe(center, NSWorkspace.willSleepNotification, lock, .suspended)
        observe(center, NSWorkspace.didWakeNotification, lock, .resumed)
        observe(center, NSWorkspace.screensDidSleepNotification, lock, .systemLocked)
        observe(center, NSWorkspace.sessionDidResignActiveNotification, lock, .userSwitchedAway)
        observe(center, NSWorkspace.sessionDidBecomeActiveNotification, lock, .userSwitchedBack)
        // The screen's own lock, which neither sleep nor another user tells. The names are in no manual; what they would tell besides
        // is told above.
        let session = DistributedNotificationCenter.default()
        observe(session, NSNotification.Name("com.apple.screenIsLocked"), lock, .systemLocked)
        observe(session, NSNotification.Name("com.apple.screenIsUnlocked"), lock, .systemUnlocked)
        let token = NotificationCenter.default.addObserver(
            forName: NSWindow.didMiniaturizeNotification, object: nil, queue: .main
        ) { [weak lock] _ in
            MainActor.assumeIsolated {
                // One of several windows leaves the app in front.
                guard !NSApplication.shared.windows.contains(where: { $0.isVisible && $0.canBecomeMain }) else {
                    return
                }
                lock?.send(.minimised)
            }
        }
        observers.tokens.append((.default, token))
        #endif
    }

    private func observe(
        _ center: NotificationCenter, _ name: NSNotification.Name, _ lock: LockModel, _ event: LockEvent
    ) {
        let token = center.addObserver(forName: name, object: nil, queue: .main) { [weak lock] _ in
            MainActor.assumeIsolated { lock?.send(event) }
        }
        observers.tokens.append((center, token))
    }
}

/// Stops listening when it goes.
private final class Observers {
    var tokens: [(center: NotificationCenter, token: any NSObjectProtocol)] = []

    deinit { for (center, token) in tokens { center.removeObserver(token) } }
}
#endif
