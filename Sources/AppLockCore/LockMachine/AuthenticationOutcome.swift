package import VaultFormat

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
