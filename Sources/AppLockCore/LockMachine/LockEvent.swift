package import VaultFormat

/// What the system or the app's user interface tells the lock (``AppLock/handle(_:)``). Each is acted on; none opens a
/// lock.
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

    // The user interface.

    /// The app was idle for as long as it allows.
    case idleTimeout
}

/// How an authentication ended. Only ``unlocked(by:)`` carries on; everything else leaves things as they are.
package enum AuthenticationOutcome: Sendable, Hashable {
    /// The secret was right and opened a key; nil where nobody was asked.
    case unlocked(by: UnlockMethod?)
    /// A secret was checked and is wrong. The next one is taken after so long, zero for at once; `remaining`
    /// attempts are left before the limit, nil where they are not counted.
    case wrongSecret(retryAfter: Duration, remaining: Int?)
    /// A biometric prompt ended without a match, after all of its own tries.
    case biometricFailed
    /// Nothing was checked: the delay after earlier failures has so long to go.
    case delayed(Duration)
    /// The owner turned away. Never a failure to count, never a way down.
    case cancelled
    /// Could not be asked, or failed for another reason. Never a yes.
    case unavailable
    /// The system refuses biometrics until the device's passcode was typed.
    case systemLockout
    /// The sensor or the key's hardware is in use by another program.
    case hardwareBusy
    /// A single try that did not count (a swipe too fast, a wet finger): the same prompt continues.
    case retry
    /// The limit is reached and self-destruct is on: the vault says that it has to be wiped.
    case wipeRequired

    /// Whether an attempt was definitely refused. Nothing else may ever be counted.
    package var isDefiniteRefusal: Bool {
        switch self {
        case .wrongSecret, .biometricFailed, .wipeRequired: true
        case .unlocked, .delayed, .cancelled, .unavailable, .systemLockout, .hardwareBusy, .retry: false
        }
    }
}

/// What shut the lock. It stays until the lock is opened again; a second reason does not replace the first.
public enum LockReason: String, Sendable, Hashable, CaseIterable {
    /// The app was just started.
    case launch = "launch"
    /// The app was away for as long as the lock timing allows.
    case background = "background"
    /// The app was idle for as long as it allows.
    case idle = "idle"
    /// The device or the session was locked.
    case systemLock = "systemLock"
    /// Another user of the machine is in front.
    case userSwitch = "userSwitch"
    /// The machine goes to sleep.
    case suspend = "suspend"
    /// The lid was closed.
    case lidClosed = "lidClosed"
    /// The window was minimised, and the settings ask for that to lock.
    case minimised = "minimised"
    /// The app asked for it, or the user pressed the button.
    case forced = "forced"
    /// The user triggered the emergency lock. Nothing is destroyed.
    case panic = "panic"
    /// The clock is that of another boot.
    case reboot = "reboot"
    /// The clock shows a time before the lock was opened.
    case clockWentBack = "clockWentBack"
    /// The keys went out of memory past the lock.
    case keysGone = "keysGone"

    /// Whether a secret that was copied goes with the lock. Who leaves the app may be on the way to where it is pasted.
    package var endsCopies: Bool { self != .background && self != .minimised }
}
