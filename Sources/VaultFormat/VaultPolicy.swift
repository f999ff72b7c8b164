/// The policy in the authenticated header: if a byte of it is changed, even the correct passcode fails.
public struct VaultPolicy: Sendable, Hashable {
    /// Wrong passcodes before the last consequence; 3 to 10.
    public var attemptLimit: Int
    /// Seconds to wait after failure 1, 2, 3 ...; the last one repeats. At most one hour each.
    package var delays: [UInt32]
    /// Whether reaching the limit destroys the vault. Off unless the owner asked for it.
    public var selfDestruct: Bool
    /// When an unlocked vault locks automatically after the app left the foreground.
    public var lockTiming: LockTiming
    /// Collections that need at least this assurance; others need none.
    public var collectionMinima: [String: Assurance]
    /// Whether the app lock is on (settings key `padlock`).
    public var isLockEnabled = false
    /// Whether a fingerprint or a face may be asked for (settings key `useFaceID`).
    public var usesBiometrics = false
    /// Whether a biometric prompt that ended without a match counts as an attempt while self-destruct is on.
    public var countsBiometricFailures = true
    /// Whether the passcode that a command asks for may leave the vault open in its agent. Where it may not, the user's
    /// settings cannot allow it.
    package var remembersPasscode = true
    /// Seconds between asking for a change of ``selfDestruct`` and the change; 30 to 86,400.
    package var selfDestructCountdown: UInt32 = 30
    /// Ways to unlock, in order, and when each may be used.
    public var fallback = FallbackPolicy.strict

    /// The rules of a new vault, and those installed when a header's own cannot be trusted any more.
    package static let standard = VaultPolicy(
        attemptLimit: 5, delays: [0, 0, 30, 60, 300, 900, 1800, 3600], selfDestruct: false,
        lockTiming: .immediately, collectionMinima: [:])

    /// What ``attemptLimit`` may be.
    package static let attemptLimits = 3...10
    /// Seconds that a countdown may last.
    package static let countdownRange: ClosedRange<UInt32> = 30...86_400
}

extension VaultPolicy {
    /// How long to wait after failure 1, 2, 3 ...; the last one repeats. Whole seconds, rounded up, at most one hour
    /// each.
    public var attemptDelays: [Duration] {
        get { delays.map { .seconds($0) } }
        set { delays = newValue.map(VaultPolicy.seconds) }
    }

    /// The time between asking for a change of ``selfDestruct`` and the change: whole seconds, rounded up, 30 seconds
    /// to one day.
    public var countdown: Duration {
        get { .seconds(selfDestructCountdown) }
        set { selfDestructCountdown = VaultPolicy.seconds(newValue) }
    }

    /// What is below zero is beyond every bound too, and is refused with the rules.
    private static func seconds(_ duration: Duration) -> UInt32 {
        let (seconds, attoseconds) = duration.components
        guard seconds >= 0, attoseconds >= 0, seconds < UInt32.max else { return .max }
        return UInt32(seconds) + (attoseconds > 0 ? 1 : 0)
    }
}

extension LockTiming {
    /// After 5 seconds in the background.
    package static let fiveSeconds = LockTiming.after(seconds: 5)
    /// After 15 seconds in the background.
    package static let fifteenSeconds = LockTiming.after(seconds: 15)
    /// After a minute in the background.
    package static let oneMinute = LockTiming.after(seconds: 60)
    /// After five minutes in the background.
    public static let fiveMinutes = LockTiming.after(seconds: 5 * 60)
    /// After half an hour in the background.
    package static let thirtyMinutes = LockTiming.after(seconds: 30 * 60)

    /// What a settings screen offers, strictest first.
    package static let presets: [LockTiming] = [
        .immediately, .fiveSeconds, .fifteenSeconds, .oneMinute, .fiveMinutes, .thirtyMinutes, .onRelaunch, .never,
    ]
}

/// When an unlocked vault locks automatically: seconds in the background, or one of two words.
public struct LockTiming: Sendable, Hashable {
    /// Seconds; the two largest values stand for the words below.
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// As soon as the app leaves the foreground.
    public static let immediately = LockTiming(rawValue: 0)
    /// Only when the app is started again.
    public static let onRelaunch = LockTiming(rawValue: .max - 1)
    /// Never automatically while the process runs.
    public static let never = LockTiming(rawValue: .max)
    /// After so long in the background, in whole seconds; as soon as the app leaves the foreground for less than one.
    public static func after(_ duration: Duration) -> LockTiming {
        let seconds = duration.components.seconds
        return after(seconds: UInt32(clamping: seconds))
    }

    /// How long in the background until the vault locks; nil for relaunch and never.
    package var duration: Duration? { seconds.map { .seconds($0) } }

    package static func after(seconds: UInt32) -> LockTiming { LockTiming(rawValue: min(seconds, .max - 2)) }

    /// Seconds in the background after which the vault locks; nil for relaunch and never.
    package var seconds: UInt32? { rawValue >= .max - 1 ? nil : rawValue }
}
