internal import CTSS2
internal import Cryptography
package import DeviceOwner
package import SecretMemory
package import VaultFormat

/// Shares sealed by a TPM 2.0 under an authorisation that only a release brings. The chip keeps nothing: the item is the
/// sealed object, which no other chip opens.
package struct TPMKeyStore: KeyStore {
    package let kind = KeyStoreKind.tpm
    package let assurance = Assurance.hardwareBound
    private let location: TPMLocation

    package init(at location: TPMLocation) { self.location = location }

    private static func authorisation(_ secret: borrowing SecretBytes) throws(CryptographyError) -> SecretBytes {
        let salt = [UInt8]()
        return try unsafe HKDFSHA256.derive(secret, salt: salt.span.bytes, info: "holdfast/1/owner-auth", count: 32)
    }

    package func put(
        _ share: borrowing SecretBytes, as name: String, releasedBy secret: borrowing SecretBytes
    ) throws(KeyStoreError) -> KeyStoreItem {
        try KeyStoreError.checkName(name)
        return try keyStoreErrors {
            let authorisation = try TPMKeyStore.authorisation(secret)
            let chip = try TPMConnection(location)
            let parent = try chip.primary()
            let session = try chip.session(.hmac, saltedTo: parent.number)
            let blob = try chip.seal(share, under: parent, authorisation: authorisation, session: session)
            let data = TPMObjectData(parent: try chip.objectName(parent.number), blob: blob)
            return KeyStoreItem(.tpm, data: data.encoded)
        }
    }

    package func redeem(
        _ item: KeyStoreItem, _ release: borrowing OwnerRelease
    ) throws(KeyStoreError) -> SecretBytes { try take(item, release.secret) }

    package func roundTrip() throws(KeyStoreError) { try roundTrip(take) }

    private func take(_ item: KeyStoreItem, _ secret: borrowing SecretBytes) throws(KeyStoreError) -> SecretBytes {
        try keyStoreErrors {
            let data = try TPMObjectData(parsing: item.data)
            let authorisation = try TPMKeyStore.authorisation(secret)
            let chip = try TPMConnection(location)
            let parent = try chip.primary()
            try data.check(chip, parent)
            let session = try chip.session(.hmac, saltedTo: parent.number)
            let sealed = try chip.load(data.blob, under: parent)
            try chip.setAuthorisation(sealed.number, authorisation)
            do {
                return try chip.unseal(sealed, session: session)
            } catch let failure as TPMFailure where failure.isWrongAuthorisation {
                throw KeyStoreError(.wrongSecret, "this release does not belong to the share")
            }
        }
    }

    package func delete(_ item: KeyStoreItem) throws(KeyStoreError) {}

    package func probe() throws(KeyStoreError) {
        try keyStoreErrors {
            let chip = try TPMConnection(location)
            _ = try chip.primary()
        }
    }
}
