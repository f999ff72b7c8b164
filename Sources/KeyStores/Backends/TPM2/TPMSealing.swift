internal import Cryptography
package import SecretMemory

/// Secrets of a service, sealed by a TPM 2.0: no other machine gets them from a copy of the disk. There is no prompt,
/// because a service must restart unattended; anyone who runs programs as its user on this machine can use them, too.
///
/// The chip keeps nothing: what comes back from ``seal(_:)`` is the object, encrypted under the chip's storage key.
package struct TPMSealing: Sendable {
    /// Bytes of a secret.
    package static let secretSize = 32
    private let location: TPMLocation

    package init(at location: TPMLocation) { self.location = location }

    /// Seals a secret of 32 bytes.
    /// - Returns: At most 896 bytes that are no secret.
    /// - Throws: ``KeyStoreError``.
    package func seal(_ secret: borrowing SecretBytes) throws(KeyStoreError) -> [UInt8] {
        guard secret.count == TPMSealing.secretSize else {
            throw KeyStoreError(.failure, "a TPM seals \(TPMSealing.secretSize) bytes")
        }
        return try keyStoreErrors {
            let chip = try TPMConnection(location)
            let parent = try chip.primary()
            let session = try chip.session(.hmac, saltedTo: parent.number)
            let nothing = try TPMSealing.nothing()
            let blob = try chip.seal(secret, under: parent, authorisation: nothing, session: session)
            return TPMObjectData(parent: try chip.objectName(parent.number), blob: blob).encoded
        }
    }

    /// Gives a secret back.
    /// - Throws: ``KeyStoreError``: `foreign` for another chip's object, `damaged` for what is none.
    package func unseal(_ object: [UInt8]) throws(KeyStoreError) -> SecretBytes {
        try keyStoreErrors {
            let data = try TPMObjectData(parsing: object)
            let chip = try TPMConnection(location)
            let parent = try chip.primary()
            try data.check(chip, parent)
            let session = try chip.session(.hmac, saltedTo: parent.number)
            let sealed = try chip.load(data.blob, under: parent)
            try chip.setAuthorisation(sealed.number, TPMSealing.nothing())
            let secret = try chip.unseal(sealed, session: session)
            guard secret.count == TPMSealing.secretSize else {
                throw KeyStoreError(.damaged, "the TPM gave a secret of another size")
            }
            return secret
        }
    }

    /// Makes sure that the chip answers and has our storage key.
    /// - Throws: ``KeyStoreError`` that says what is missing.
    package func probe() throws(KeyStoreError) {
        try keyStoreErrors {
            let chip = try TPMConnection(location)
            _ = try chip.primary()
        }
    }

    /// Seals a secret that opens nothing, and reads it back.
    /// - Throws: ``KeyStoreError`` that says what does not work.
    package func roundTrip() throws(KeyStoreError) {
        try keyStoreErrors {
            let secret = try SecureRandom.secret(TPMSealing.secretSize)
            guard try unseal(seal(secret)).isEqual(to: secret) else {
                throw KeyStoreError(.damaged, "what was sealed did not come back")
            }
        }
    }

    /// The authorisation that everybody knows.
    private static func nothing() throws -> SecretBytes { try SecretBytes(zeroed: secretSize) }
}

/// What is kept of an object that lies under our storage key: version, the key's name, and the object as it left the
/// chip.
struct TPMObjectData: Hashable {
    let parent: [UInt8]
    let blob: TPMConnection.Blob

    private static let version: UInt8 = 1

    init(parent: [UInt8], blob: TPMConnection.Blob) {
        self.parent = parent
        self.blob = blob
    }

    var encoded: [UInt8] {
        [TPMObjectData.version] + CountedParts.encode([parent, blob.privatePart, blob.publicPart])
    }

    /// - Throws: ``KeyStoreError`` (`damaged`).
    init(parsing bytes: [UInt8]) throws(KeyStoreError) {
        guard bytes.first == TPMObjectData.version, let parts = CountedParts.parse(bytes, from: 1, count: 3) else {
            throw KeyStoreError(.damaged, "what is kept of a TPM object is not what was written")
        }
        parent = parts[0]
        blob = TPMConnection.Blob(privatePart: parts[1], publicPart: parts[2])
    }

    /// - Throws: ``KeyStoreError`` (`foreign`) where the chip has another storage key.
    func check(_ chip: TPMConnection, _ parent: borrowing TPMHandle) throws {
        guard try chip.objectName(parent.number) == self.parent else {
            throw KeyStoreError(.foreign, "this was made by another TPM, or by this one before it was cleared")
        }
    }
}
