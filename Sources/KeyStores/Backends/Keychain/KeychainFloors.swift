#if canImport(Security)
internal import Foundation
package import VaultFormat

/// Floors as items of the keychain that are there from the first unlock on, for app and extensions. Never sealed to the
/// Enclave: they are no secret, and have to be readable by all of them.
package struct KeychainFloors: FloorStore {
    package let kind = KeyStoreKind.keychain
    private let group: String?

    /// - Parameter group: As for ``KeychainShares``.
    package init(group: String? = nil) { self.group = group }

    private func place(_ profile: FloorProfile) -> KeychainPlace {
        KeychainPlace(service: "org.holdfast.floor", account: Hexadecimal.encode(profile.digest), group: group)
    }

    package func floor(of profile: FloorProfile) throws(ShareFailure) -> FloorAnswer {
        try shareFailures(in: kind) {
            do {
                return FloorAnswer(Array(try place(profile).read(context: nil)))
            } catch let error as KeyStoreError where error.code == .notFound {
                guard try KeychainPlace.isProtectedDataThere(group: group) else {
                    throw ShareFailure.unavailable(.locked)
                }
                return .none
            }
        }
    }

    package func set(_ floor: LevelFloor, of profile: FloorProfile) throws(ShareFailure) {
        try shareFailures(in: kind) {
            let place = place(profile)
            let content = Data(floor.encoded)
            if try !place.replace(with: content), try !place.add(content, .afterFirstUnlock) {
                guard try place.replace(with: content) else {
                    throw KeyStoreError(.busy, "another program of this app writes the same floor")
                }
            }
            guard try place.read(context: nil) == content else {
                throw KeyStoreError(.failure, "the keychain does not give back what was stored")
            }
        }
    }

    package func removeFloor(of profile: FloorProfile) throws(ShareFailure) {
        try shareFailures(in: kind) { try place(profile).delete() }
    }
}
#endif
