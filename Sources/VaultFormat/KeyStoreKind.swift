/// The kinds of key stores, by the numbers that slots and notes have them under.
package enum KeyStoreKind: UInt8, Sendable, Hashable, CaseIterable {
    case tpm = 1
    case secretService = 2
    case file = 3
    case keychain = 4

    /// For people and JSON.
    package var name: String {
        switch self {
        case .tpm: "tpm"
        case .secretService: "secretService"
        case .file: "file"
        case .keychain: "keychain"
        }
    }

    /// Whether the store itself asks for the device's owner before it gives a share. Elsewhere only our own process stands in
    /// front of it.
    package var asksItsOwner: Bool { self == .keychain }
}
