internal import Cryptography
package import FaceMessages
package import SecretMemory
internal import VaultCore
internal import VaultFormat
package import VaultStorage

/// A private key of SSH that can sign. Its seed or scalar is in locked memory and goes with it.
package final class SSHKey: Sendable {
    package let kind: SSHKeyKind
    /// The public key as SSH writes it.
    package let blob: [UInt8]
    package let comment: String
    private let secret: SecretBytes

    /// Takes a key out of the bytes that it was found in, and makes sure that its halves belong together: a signature under another
    /// public key would give the private one away.
    /// - Throws: `invalidItem`; `outOfMemory`.
    package init(
        _ layout: SSHPrivateLayout, in bytes: RawSpan, comment: String? = nil, lifetime: SecretLifetime = .transient
    ) throws(VaultError) {
        kind = layout.kind
        self.comment = comment ?? layout.comment
        var secret: SecretBytes
        do throws(SecretMemoryError) {
            secret = try SecretBytes(zeroed: SSHKeyKind.secretSize, lifetime: lifetime)
        } catch { throw VaultError(error) }
        let start = SSHKeyKind.secretSize - layout.secret.count
        secret.withMutableBytes { $0.store(bytes.extracting(layout.secret), at: start) }
        let point = try SSHKey.point(layout.kind, secret)
        let told = layout.point.map { bytes.integer(at: $0, as: UInt8.self) ?? 0 }
        guard point == told else {
            throw VaultError(.invalidItem, "the public half of this SSH key does not belong to its private half")
        }
        blob = layout.kind.blob(point)
        self.secret = secret
    }

    /// - Returns: 64 bytes.
    /// - Throws: `cryptography`, `outOfMemory`.
    package func sign(_ data: RawSpan) throws(VaultError) -> [UInt8] {
        do throws(CryptographyError) {
            switch kind {
            case .ed25519:
                return try secret.withBytes { seed throws(CryptographyError) in
                    try Ed25519PrivateKey(seed: seed).sign(data)
                }
            case .p256: return try P256PrivateKey(scalar: secret).sign(data)
            }
        } catch { throw VaultError(any: error) }
    }

    private static func point(_ kind: SSHKeyKind, _ secret: borrowing SecretBytes) throws(VaultError) -> [UInt8] {
        do throws(CryptographyError) {
            switch kind {
            case .ed25519:
                return try secret.withBytes { seed throws(CryptographyError) in
                    try Ed25519PrivateKey(seed: seed).publicKey()
                }
            case .p256: return try P256PrivateKey(scalar: secret).publicKey.uncompressed()
            }
        } catch .scalarOutOfRange {
            throw VaultError(.invalidItem, "this SSH key is not valid")
        } catch { throw VaultError(any: error) }
    }

    /// The public key in one line, as in `authorized_keys`.
    package var line: String { "\(kind.rawValue) \(Base64.encoded(blob))\(comment.isEmpty ? "" : " \(comment)")" }
}
