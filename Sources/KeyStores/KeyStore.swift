internal import Cryptography
package import DeviceOwner
package import SecretMemory
package import VaultFormat

/// Somewhere a share of a key rests, to be had back with the release of a confirmed owner.
package protocol KeyStore: Sendable {
    /// Which one; kept with the item, so that it is found again.
    var kind: KeyStoreKind { get }
    /// The assurance of a share that is kept there.
    var assurance: Assurance { get }

    /// Stores a share of 32 bytes in the place of what had this name.
    /// - Parameters:
    ///   - share: The share.
    ///   - name: 1 to 64 letters, digits, hyphens and dots.
    ///   - secret: What a release will bring: 32 bytes.
    /// - Throws: ``KeyStoreError``; nothing is left behind then.
    func put(
        _ share: borrowing SecretBytes, as name: String, releasedBy secret: borrowing SecretBytes
    ) throws(KeyStoreError) -> KeyStoreItem

    /// As ``put(_:as:releasedBy:)``, where the store can tie the share to ways in which the owner is confirmed.
    /// - Parameter steps: Those that the rules take; one or more.
    func put(
        _ share: borrowing SecretBytes, as name: String, releasedBy secret: borrowing SecretBytes,
        after steps: Set<OwnerStep>
    ) throws(KeyStoreError) -> KeyStoreItem

    /// Gives the share back.
    /// - Throws: ``KeyStoreError``: `notFound`, `destroyed` and `foreign` when no release gets it any more.
    func redeem(_ item: KeyStoreItem, _ release: borrowing OwnerRelease) throws(KeyStoreError) -> SecretBytes

    /// Forgets an item; one that is gone already is fine.
    /// - Throws: ``KeyStoreError``.
    func delete(_ item: KeyStoreItem) throws(KeyStoreError)

    /// Makes sure that it works, without asking anybody.
    /// - Throws: ``KeyStoreError`` that says what is missing.
    func probe() throws(KeyStoreError)

    /// Stores a share that opens nothing, has it back, and forgets it.
    /// - Throws: ``KeyStoreError`` that says what does not work.
    func roundTrip() throws(KeyStoreError)
}

extension KeyStore {
    /// For a store that knows nothing of owners.
    package func put(
        _ share: borrowing SecretBytes, as name: String, releasedBy secret: borrowing SecretBytes,
        after steps: Set<OwnerStep>
    ) throws(KeyStoreError) -> KeyStoreItem { try put(share, as: name, releasedBy: secret) }

    /// As ``roundTrip()``, with what the store itself has to take a share back.
    func roundTrip(
        _ take: (KeyStoreItem, borrowing SecretBytes) throws(KeyStoreError) -> SecretBytes
    ) throws(KeyStoreError) {
        try keyStoreErrors {
            let share = try SecureRandom.secret(32)
            let secret = try SecureRandom.secret(32)
            let item = try put(share, as: "doctor", releasedBy: secret)
            defer { try? delete(item) }
            guard try take(item, secret).isEqual(to: share) else {
                throw KeyStoreError(.damaged, "what was stored did not come back")
            }
        }
    }
}

/// What is needed to find a share again. No secret.
package struct KeyStoreItem: Sendable, Hashable {
    package let kind: KeyStoreKind
    /// At most 896 bytes.
    package let data: [UInt8]

    package init(_ kind: KeyStoreKind, data: [UInt8]) {
        self.kind = kind
        self.data = data
    }

    static let maximumSize = 896
}

extension KeyStoreError {
    static func checkName(_ name: String) throws(KeyStoreError) {
        let isGood = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."):
                true
            default: false
            }
        }
        guard isGood, (1...64).contains(name.utf8.count), name.first != "." else {
            throw KeyStoreError(.failure, "this name is not valid in a key store")
        }
    }
}
