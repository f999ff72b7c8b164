internal import Cryptography
package import ProgramProtocols
internal import KeyStores
package import SecretMemory
internal import VaultCore
internal import VaultFormat
package import VaultStorage

/// A private key of SSH that can sign. Its seed or scalar, or what a chip wants to hear before it signs, is in locked
/// memory and goes with it.
package final class SSHKey: Sendable {
    package let kind: SSHKeyKind
    /// The public key as SSH writes it.
    package let blob: [UInt8]
    package let comment: String
    private let secret: SecretBytes
    /// The key in a chip; the secret is its authorisation then.
    private let inChip: SigningKeyObject?
    /// Whether it signs in a chip, which takes long.
    package var isInChip: Bool { inChip != nil }

    /// Takes a key out of the bytes that it was found in, and makes sure that its halves belong together: a signature
    /// under another public key would give the private one away.
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
        let told = layout.point.map { bytes.present(at: $0, as: UInt8.self) }
        guard point == told else {
            throw VaultError(.invalidItem, "the public half of this SSH key does not belong to its private half")
        }
        blob = layout.kind.blob(point)
        self.secret = secret
        inChip = nil
    }

    /// A key in a chip.
    /// - Throws: `invalidItem` for what is none; `outOfMemory`.
    init(_ key: borrowing SSHChipKey, comment: String) throws(VaultError) {
        kind = .p256
        self.comment = comment
        do throws(CryptographyError) {
            let point = try unsafe P256PublicKey(compressed: key.object.publicKey.span.bytes)
            blob = SSHKeyKind.p256.blob(try point.uncompressed())
        } catch { throw .noSSHKey }
        secret = try key.secret()
        inChip = key.object
    }

    /// - Returns: 64 bytes.
    /// - Throws: `cryptography`, `outOfMemory`; for a key in a chip what the chip answers.
    package func sign(_ data: RawSpan) throws(VaultError) -> [UInt8] {
        if let inChip { return try SSHChipKey.sign(data, with: inChip, secret) }
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
    package var line: String { "\(kind.rawValue) \(Base64.text(blob))\(comment.isEmpty ? "" : " \(comment)")" }
}
