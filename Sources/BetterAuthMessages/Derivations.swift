/// How identifiers follow from keys (protocol.md 1.2): digests of texts, joined without anything between them.
package struct Derivations: Sendable {
    private let hash: @Sendable (RawSpan) -> DigestText

    /// - Parameter hash: BLAKE3-256, which this target does not have.
    package init(hash: @escaping @Sendable (RawSpan) -> DigestText) { self.hash = hash }

    /// Commits to a key that comes into use later.
    package func rotationHash(of next: PublicKeyText) -> RotationHash { RotationHash(next.withText(hash)) }

    /// Commits to a recovery key.
    package func recoveryHash(of key: PublicKeyText) -> RecoveryHash { RecoveryHash(key.withText(hash)) }

    /// What a device that unlinks itself commits to: no key ever matches it, and the owner can still prove whose it is.
    package func farewellHash(of future: PublicKeyText) -> RotationHash {
        RotationHash(rotationHash(of: future).withText(hash))
    }

    /// The name of a device with these first keys.
    package func device(_ publicKey: PublicKeyText, _ rotationHash: RotationHash) -> DeviceID {
        DeviceID(joined([publicKey.textBytes, rotationHash.textBytes]))
    }

    /// The name of an account whose first device has these keys.
    package func identity(
        _ publicKey: PublicKeyText, _ rotationHash: RotationHash, _ recoveryHash: RecoveryHash
    ) -> IdentityID {
        let parts = [
            publicKey.textBytes, rotationHash.textBytes, recoveryHash.textBytes,
        ]
        return IdentityID(joined(parts))
    }

    private func joined(_ parts: [[UInt8]]) -> DigestText {
        let text = Array(parts.joined())
        return unsafe hash(text.span.bytes)
    }
}

extension Derivations {
    /// Recomputes the device of an authentication.
    /// - Throws: ``ProtocolError/invalidDevice(_:calculated:)`` (BA103).
    package func check(
        device: DeviceID, _ publicKey: PublicKeyText, _ rotationHash: RotationHash
    ) throws(ProtocolError) {
        let calculated = self.device(publicKey, rotationHash)
        guard calculated == device else { throw .invalidDevice(device, calculated: calculated) }
    }

    /// Recomputes identity and device of a new account.
    /// - Throws: ``ProtocolError/invalidIdentity(_:)`` (BA102), then ``ProtocolError/invalidDevice(_:calculated:)``
    ///   (BA103): the order in which servers check.
    package func check(newAccount account: AccountAuthentication) throws(ProtocolError) {
        guard identity(account.publicKey, account.rotationHash, account.recoveryHash) == account.identity else {
            throw .invalidIdentity(account.identity)
        }
        try check(device: account.device, account.publicKey, account.rotationHash)
    }
}
