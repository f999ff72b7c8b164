#if !canImport(Security)
package import DeviceOwner
#endif

extension Examination {
    /// What is looked at.
    package struct Request: Sendable {
        /// Whether what can be made to work is made to work, and taken back.
        package var isDeep: Bool
        /// The vault's folder; there need be none.
        package var home: String
        #if !canImport(Security)
        /// Where the parts that ask the owner are.
        package var places = OwnerAuthenticator.Places()
        /// Where the session is listened to.
        package var watch = SessionWatch.Places()
        #endif

        /// - Parameters:
        ///   - home: The vault's folder; there need be none.
        ///   - isDeep: Whether what can be made to work is made to work, and taken back.
        package init(home: String, isDeep: Bool = false) {
            self.home = home
            self.isDeep = isDeep
        }
    }
}
