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

    init(
        attemptLimit: Int, delays: [UInt32], selfDestruct: Bool, lockTiming: LockTiming,
        collectionMinima: [String: Assurance]
    ) {
        self.attemptLimit = attemptLimit
        self.delays = delays
        self.selfDestruct = selfDestruct
        self.lockTiming = lockTiming
        self.collectionMinima = collectionMinima
    }
}

extension VaultPolicy {
    /// How long to wait after failure 1, 2, 3 ...; the last one repeats. Whole seconds, rounded up, at most one hour each.
    public var attemptDelays: [Duration] {
        get { delays.map { .seconds($0) } }
        set { delays = newValue.map(VaultPolicy.seconds) }
    }

    /// The time between asking for a change of ``selfDestruct`` and the change: whole seconds, rounded up, 30 seconds to one
    /// day.
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
