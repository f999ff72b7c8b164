#if canImport(Security)
internal import Foundation
internal import VaultFormat

/// Floors as items of the keychain that are there from the first unlock on, for app and extensions. Never sealed to the
/// Enclave: they are no secret, and have to be readable by all of them.
package struct KeychainFloors: FloorStore {
    private let kind = KeyStoreKind.keychain
    private let group: String?

    /// - Parameter group: As for ``KeychainShares``.
    package init(group: String? = nil) { self.group = group }

    private func item(_ place: FloorPlace) -> KeychainPlace {
        KeychainPlace(service: "org.holdfast.\(place.kind.rawValue)", account: place.hexadecimal, group: group)
    }

    package func content(of place: FloorPlace) throws(ShareFailure) -> [UInt8]? {
        try shareFailures(in: kind) {
            do {
                return Array(try item(place).read(context: nil))
            } catch let error as KeyStoreError where error.code == .notFound {
                guard try KeychainPlace.isProtectedDataThere(group: group) else {
                    throw ShareFailure.unavailable(.locked)
                }
                return nil
            }
        }
    }

    package func set(_ content: [UInt8], in place: FloorPlace) throws(ShareFailure) {
        try shareFailures(in: kind) {
            let item = item(place)
            let content = Data(content)
            if try !item.replace(with: content), try !item.add(content, .afterFirstUnlock) {
                guard try item.replace(with: content) else {
                    throw KeyStoreError(.busy, "another program of this app writes the same floor")
                }
            }
            guard try item.read(context: nil) == content else {
                throw KeyStoreError(.failure, "the keychain does not give back what was stored")
            }
        }
    }

    package func remove(_ place: FloorPlace) throws(ShareFailure) {
        try shareFailures(in: kind) { try item(place).delete() }
    }
}
#endif
