#if canImport(SwiftUI)
internal import AppLockCore
internal import SwiftUI

#if canImport(UIKit)
internal import UIKit
#endif
// Catalyst finds an AppKit, too; what it runs in tells by UIKit.
#if canImport(AppKit) && !targetEnvironment(macCatalyst)
internal import AppKit
#endif

/// A notification of the system's, and what a lock makes of it. The tables are all that a lock hears from a system,
/// beside what scenes tell.
struct SystemSignal: Sendable {
    /// Who posts it.
    enum Source: Sendable { case app, workspace, session }

    /// What it tells.
    enum Meaning: Sendable, Hashable {
        case event(LockEvent)
        /// The display went to sleep, and woke up: a locked screen is still locked then.
        case displaySlept, displayWoke
        /// The screen was locked, and unlocked.
        case screenLocked, screenUnlocked
        /// The app is used: so nothing is between its user and the screen.
        case isUsed
        /// A window went to the Dock.
        case windowMinimised
    }

    let source: Source
    let name: NSNotification.Name
    let meaning: Meaning
}

extension SystemSignal {
    /// What this system tells.
    static var ofSystem: [SystemSignal] {
        var signals: [SystemSignal] = []
        #if canImport(UIKit)
        signals += uiKit
        #endif
        #if canImport(AppKit) && !targetEnvironment(macCatalyst)
        signals += appKit
        #endif
        return signals
    }
}

/// What keeps a Mac's screen from its user. Each reason has its own end: a lock that is told of one only is told once
/// all are over.
struct ScreenAbsence: Sendable, Hashable {
    private var isAsleep = false
    private var isLocked = false

    /// What a lock is told then; nil where nothing changes for it.
    mutating func event(for meaning: SystemSignal.Meaning) -> LockEvent? {
        switch meaning {
        case .event(let event): return event
        case .displaySlept:
            isAsleep = true
            return .systemLocked
        case .screenLocked:
            isLocked = true
            return .systemLocked
        case .displayWoke: return ends { $0.isAsleep = false }
        // Whoever unlocks it sees it, and so does whoever uses the app: also where a notification was lost.
        case .screenUnlocked, .isUsed: return ends { $0 = ScreenAbsence() }
        case .windowMinimised: return .minimised
        }
    }

    private mutating func ends(_ end: (inout ScreenAbsence) -> Void) -> LockEvent? {
        let before = self
        end(&self)
        return before != ScreenAbsence() && self == ScreenAbsence() ? .systemUnlocked : nil
    }
}

#if canImport(UIKit)
extension SystemSignal {
    /// Said of devices with a passcode, some seconds after they were locked.
    static let uiKit = [
        SystemSignal(
            source: .app, name: UIApplication.protectedDataWillBecomeUnavailableNotification,
            meaning: .event(.systemLocked)),
        SystemSignal(
            source: .app, name: UIApplication.protectedDataDidBecomeAvailableNotification,
            meaning: .event(.systemUnlocked)),
    ]
}
#endif

#if canImport(AppKit) && !targetEnvironment(macCatalyst)
extension SystemSignal {
    static let appKit: [SystemSignal] = [
        .init(source: .workspace, name: NSWorkspace.willSleepNotification, meaning: .event(.suspended)),
        .init(source: .workspace, name: NSWorkspace.didWakeNotification, meaning: .event(.resumed)),
        .init(source: .workspace, name: NSWorkspace.screensDidSleepNotification, meaning: .displaySlept),
        .init(source: .workspace, name: NSWorkspace.screensDidWakeNotification, meaning: .displayWoke),
        .init(
            source: .workspace, name: NSWorkspace.sessionDidResignActiveNotification, meaning: .event(.userSwitchedAway)
        ),
        .init(
            source: .workspace, name: NSWorkspace.sessionDidBecomeActiveNotification, meaning: .event(.userSwitchedBack)
        ),
        // The screen's own lock, which neither sleep nor another user tells. The names are in no manual, so the end of
        // one is seen by another sign, too.
        .init(source: .session, name: .init("com.apple.screenIsLocked"), meaning: .screenLocked),
        .init(source: .session, name: .init("com.apple.screenIsUnlocked"), meaning: .screenUnlocked),
        .init(source: .app, name: NSApplication.didBecomeActiveNotification, meaning: .isUsed),
        .init(source: .app, name: NSWindow.didMiniaturizeNotification, meaning: .windowMinimised),
    ]
}
#endif
#endif
