#if canImport(Darwin)
internal import SystemCalls

/// From when on Apple's systems let a vault's files be read.
enum FileProtection {
    /// `NSFileProtectionCompleteUntilFirstUserAuthentication`, whatever an app's entitlements say of its other files. A
    /// mapped file that became unreadable while the device is locked would end the app; the vault's own keys keep it
    /// shut.
    static let classC: Int32 = 3

    /// What is made in the folder from now on has the folder's class.
    static func set(on folder: Int32) {
        // A file system without classes, as a Mac's may be, knows nothing better.
        _ = fcntl(folder, F_SETPROTECTIONCLASS, classC)
    }
}
#endif
