/// What the system or the app's face tells the lock (``AppLock/handle(_:)``). Each is acted on; none opens a lock.
public enum LockEvent: Sendable, Hashable, CaseIterable {
    // The app's life.

    /// The process started.
    case launch
    /// About to be interrupted: content must be covered before the system takes its picture.
    case willResignActive
    /// In front and usable again.
    case didBecomeActive
    /// Out of sight.
    case didEnterBackground
    /// About to come back.
    case willEnterForeground
    /// The window was minimised.
    case minimised

    // The device.

    /// The device or the session was locked.
    case systemLocked
    /// The device or the session was unlocked. That opens nothing here.
    case systemUnlocked
    /// Another user of the machine came to the front.
    case userSwitchedAway
    /// This user is in front again.
    case userSwitchedBack
    /// The machine goes to sleep.
    case suspended
    /// The machine woke up.
    case resumed
    /// The lid was closed.
    case lidClosed

    // The face.

    /// The app was idle for as long as it allows.
    case idleTimeout
}
