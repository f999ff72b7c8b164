package import SecretMemory
package import VaultFormat

/// Makes P-256 keys that sign and never leave it.
package protocol SigningKeyStore: Sendable {
    /// What such a key is worth.
    var assurance: Assurance { get }

    /// Makes a key that signs for `authorisation` only.
    /// - Parameter authorisation: 32 bytes that cannot be guessed; derived from the vault, so that nothing is signed
    ///   while it is locked (constructions.md 10.5).
    /// - Throws: ``KeyStoreError``; nothing is left behind then.
    func makeKey(authorisation: borrowing SecretBytes) throws(KeyStoreError) -> SigningKeyObject

    /// Signs the SHA-256 of a message with ECDSA.
    /// - Returns: r then s, 64 bytes.
    /// - Throws: ``KeyStoreError``: `wrongSecret`, `foreign` for another chip's key.
    func sign(
        _ message: RawSpan, with key: SigningKeyObject, authorisation: borrowing SecretBytes
    ) throws(KeyStoreError) -> [UInt8]

    /// Forgets a key; succeeds if it does not exist. If the store keeps nothing itself, like a TPM, the object is
    /// the key: anyone with a copy of it and the authorisation can still sign on this machine.
    /// - Throws: ``KeyStoreError``.
    func delete(_ key: SigningKeyObject) throws(KeyStoreError)
}

/// What is needed to use a key again. No secret: the private half in it is encrypted by the store.
package struct SigningKeyObject: Sendable, Hashable {
    /// The point: 02 or 03, then x; 33 bytes.
    package let publicKey: [UInt8]
    /// The store's own, at most 1,024 bytes.
    package let data: [UInt8]

    package init(publicKey: [UInt8], data: [UInt8]) {
        self.publicKey = publicKey
        self.data = data
    }
}
