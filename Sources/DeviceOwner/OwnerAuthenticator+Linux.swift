#if !canImport(LocalAuthentication)
extension OwnerAuthenticator {
    /// Where the parts of a machine are; tests name private ones. Never read from the environment: otherwise anyone who
    /// sets a variable could answer for a sensor.
    package struct Places: Sendable, Hashable {
        /// The bus that fprintd is on.
        package var systemBus = BusAddress.system
        /// The user that fprintd runs as.
        package var daemonUser: UInt32 = 0
        /// The folder of PAM's service files; nil for the system's.
        package var passcodeRules: String?
        /// Whose passcode is checked; nil for the user of this process.
        package var passcodeUser: String?

        package init() {}
    }

    /// What this machine has.
    package static let standard = OwnerAuthenticator(Places())

    package init(_ places: Places) {
        self.init([
            FingerprintReader(at: places.systemBus, daemonUser: places.daemonUser),
            DevicePasscode(folder: places.passcodeRules, user: places.passcodeUser),
        ])
    }
}
#endif
