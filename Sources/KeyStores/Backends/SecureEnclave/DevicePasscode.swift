#if canImport(CryptoKit)
internal import LocalAuthentication

/// The passcode of the device itself.
enum DevicePasscode {
    /// Whether there is one. It asks nobody.
    static var isSet: Bool { unsafe LAContext().canEvaluatePolicy(.deviceOwnerAuthentication, error: nil) }
}
#endif
