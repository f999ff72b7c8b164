/// What opened the lock.
public enum UnlockMethod: String, Sendable, Hashable, CaseIterable {
    /// The app's own passcode.
    case passcode
    /// A PIN under a chip that counts its tries.
    case pin
    /// The vault's recovery phrase.
    case recoveryPhrase
    /// A fingerprint or a face that released a key.
    case biometrics
    /// The device's passcode that released a key.
    case devicePasscode
}
