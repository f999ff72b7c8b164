package import VaultFormat

/// What the user chose about the app lock.
public struct LockSettings: Sendable, Hashable {
    /// Whether the app lock is on (settings key `padlock`). Off until the user switches it on.
    public var isEnabled: Bool
    /// How long the app may be away before it locks.
    package var timing: LockTiming
    /// What locks at once, whatever the timing.
    package var triggers: LockTriggers

    /// Settings as chosen; the triggers are those that every app should have, unless it says otherwise.
    package init(isEnabled: Bool, timing: LockTiming, triggers: LockTriggers = .standard) {
        self.isEnabled = isEnabled
        self.timing = timing
        self.triggers = triggers
    }
}

/// Events of the system that lock at once. An event that is left out is treated as leaving the foreground.
public struct LockTriggers: OptionSet, Sendable, Hashable {
    /// One bit for each trigger.
    public let rawValue: UInt8

    /// The triggers whose bits are set.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The device or the session is locked.
    public static let systemLock = LockTriggers(rawValue: 1)
    /// Another user of the machine comes to the front.
    public static let userSwitch = LockTriggers(rawValue: 2)
    /// The machine goes to sleep.
    public static let suspend = LockTriggers(rawValue: 4)
    /// The lid is closed.
    public static let lidClosed = LockTriggers(rawValue: 8)
    /// The window is minimised.
    public static let minimised = LockTriggers(rawValue: 16)

    /// All but minimising, which on a desktop is part of working.
    public static let standard: LockTriggers = [.systemLock, .userSwitch, .suspend, .lidClosed]
}
