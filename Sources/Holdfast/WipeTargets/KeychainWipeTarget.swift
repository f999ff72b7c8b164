#if canImport(Security)
internal import Foundation
internal import Security
public import VaultHeader

/// Items of an app in the keychain that go with its vault: passwords and tokens under one service.
///
/// The vault's own items are not among them; a wipe removes those by name.
public struct KeychainWipeTarget: WipeTarget {
    /// Names the target for good, as `org.example.notes.tokens`.
    public let identifier: String
    private let service: String
    private let accessGroup: String?

    /// - Parameters:
    ///   - identifier: Names the target for good.
    ///   - service: `kSecAttrService` of the items.
    ///   - accessGroup: `kSecAttrAccessGroup` of the items; nil for every group of the app.
    public init(_ identifier: String, service: String, accessGroup: String? = nil) {
        self.identifier = identifier
        self.service = service
        self.accessGroup = accessGroup
    }

    /// What the keychain says, as a number of `Security`.
    public struct Failure: Error, Sendable, CustomStringConvertible {
        /// An `OSStatus`.
        public let status: Int32
        /// The number, in words.
        public var description: String { "the keychain answers \(status)" }
    }

    /// Removes the items.
    /// - Returns: 1 when there were some; the keychain does not count them.
    /// - Throws: ``Failure``.
    public func erase() throws -> Int {
        switch SecItemDelete(query as CFDictionary) {
        case errSecSuccess: 1
        case errSecItemNotFound: 0
        case let status: throw Failure(status: status)
        }
    }

    /// Whether none is left.
    /// - Throws: ``Failure``.
    public func isErased() throws -> Bool {
        var nothing: CFTypeRef?
        switch unsafe SecItemCopyMatching(query as CFDictionary, &nothing) {
        case errSecItemNotFound: return true
        // There is one, and it would be given only to its owner.
        case errSecSuccess, errSecInteractionNotAllowed: return false
        case let status: throw Failure(status: status)
        }
    }

    private var query: [String: Any] {
        var query: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service,
            // Those that travel by iCloud too.
            kSecAttrSynchronizable as String: kSecAttrSynchronizableAny,
            // Else a Mac looks into the old keychain.
            kSecUseDataProtectionKeychain as String: true,
        ]
        if let accessGroup { query[kSecAttrAccessGroup as String] = accessGroup }
        return query
    }
}
#endif
