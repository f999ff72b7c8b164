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
