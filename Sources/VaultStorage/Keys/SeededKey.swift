package import Cryptography
package import SecretMemory
package import VaultFormat

/// Private keys on P-256 that follow from a seed in the keybag.
package enum SeededKey {
    /// The first of HKDF's candidates that is a scalar: all but one in 2^32 seeds need one.
    /// - Parameter label: What the key is for; the number of the try follows it in HKDF's info.
    package static func make(
        from seed: borrowing SecretBytes, vault: VaultID, label: String
    ) throws(VaultError) -> P256PrivateKey {
        for attempt: UInt8 in 0...UInt8.max {
            let info = Array(label.utf8) + [attempt]
            do throws(CryptographyError) {
                let scalar = try unsafe HKDFSHA256.derive(
                    seed, salt: vault.bytes.span.bytes, info: info.span.bytes, count: P256PrivateKey.scalarSize)
                return try P256PrivateKey(scalar: scalar)
            } catch {
                guard error == .scalarOutOfRange else { throw VaultError(error) }
            }
        }
        throw VaultError(.cryptography, "no private key could be made from a seed")
    }
}
