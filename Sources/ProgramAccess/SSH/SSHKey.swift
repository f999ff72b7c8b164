internal import Cryptography
package import ProgramProtocols
internal import KeyStores
package import SecretMemory
internal import VaultCore
internal import VaultFormat
package import VaultStorage

/// A private key of SSH that can sign. Its seed, scalar or numbers, or what a chip wants to hear before it signs, are
/// in locked memory and go with it.
package final class SSHKey: Sendable {
    package let kind: SSHKeyKind
    /// The public key as SSH writes it.
    package let blob: [UInt8]
    /// The certificate that it comes with.
    package let certificate: [UInt8]?
    package let comment: String
    /// Of RSA, as in ``SSHPrivateLayout/secrets``, one behind another.
    private let secret: SecretBytes
    /// Where RSA's numbers lie in it.
    private let numbers: [Range<Int>]
    /// The key in a chip; the secret is its authorisation then.
    private let inChip: SigningKeyObject?
    /// Whether it signs in a chip, which takes long.
    package var isInChip: Bool { inChip != nil }
    /// What an agent lists: an added certificate is listed alone, its key is another one that is added.
    package var listed: [UInt8] { certificate ?? blob }

    /// Takes a key out of the bytes that it was found in, and makes sure that its halves belong together: a signature
    /// under another public key would give the private one away.
    /// - Parameter wanted: The one public key that is looked for: for any other one nothing is computed.
    /// - Throws: `invalidItem`, also for another key than is looked for; `outOfMemory`.
    package init(
        _ layout: SSHPrivateLayout, in bytes: RawSpan, comment: String? = nil, wanted: [UInt8]? = nil,
        lifetime: SecretLifetime = .transient
    ) throws(VaultError) {
        kind = layout.kind
        self.comment = comment ?? layout.comment
        let blob = layout.publicKey.blob(in: bytes)
        if let wanted, wanted != blob { throw .otherSSHKey }
        self.blob = blob
        certificate = layout.certificate.map { bytes.array($0) }
        if kind == .rsa {
            var secret: SecretBytes
            let size = layout.secrets.reduce(0) { $0 + $1.count }
            do throws(SecretMemoryError) { secret = try SecretBytes(zeroed: size, lifetime: lifetime) } catch {
                throw VaultError(error)
            }
            var (ranges, end) = ([Range<Int>](), 0)
            for part in layout.secrets {
                secret.withMutableBytes { $0.store(bytes.extracting(part), at: end) }
                ranges.append(end..<end + part.count)
                end += part.count
            }
            numbers = ranges
            // What it needs to sign shows whether its numbers belong together.
            do throws(CryptographyError) { _ = try SSHKey.rsa(blob, secret, ranges) } catch {
                throw error == .authenticationFailed ? .mixedSSHKey : VaultError(any: error)
            }
            self.secret = secret
        } else {
            numbers = []
            let secret = try SSHKey.padded(bytes.extracting(layout.secrets[0]), layout.kind, lifetime)
            guard try SSHKey.point(layout.kind, secret) == bytes.array(layout.publicKey.number) else {
                throw .mixedSSHKey
            }
            self.secret = secret
        }
        inChip = nil
    }

    /// A key in a chip.
    /// - Throws: `invalidItem` for what is none; `outOfMemory`.
    init(_ key: borrowing SSHChipKey, comment: String) throws(VaultError) {
        kind = .p256
        self.comment = comment
        certificate = nil
        numbers = []
        do throws(CryptographyError) {
            let point = try unsafe P256PublicKey(compressed: key.object.publicKey.span.bytes)
            blob = SSHKeyKind.p256.blob(point.uncompressed)
        } catch { throw .noSSHKey }
        secret = try key.secret()
        inChip = key.object
    }

    /// - Parameter name: One of its kind's.
    /// - Returns: As ``SSHAgentReply/signature(_:_:)`` takes it.
    /// - Throws: `cryptography`, `outOfMemory`; for a key in a chip what the chip answers.
    package func sign(_ data: RawSpan, as name: SSHSignatureName) throws(VaultError) -> [UInt8] {
        if let inChip { return try SSHChipKey.sign(data, with: inChip, secret) }
        do throws(CryptographyError) {
            switch name {
            case .ed25519:
                return try secret.withBytes { seed throws(CryptographyError) in
                    try Ed25519PrivateKey(seed: seed).sign(data)
                }
            case .p256: return try P256PrivateKey(scalar: secret).sign(data)
            case .p384: return try ECDSAPrivateKey(.p384, scalar: secret).sign(data)
            case .p521: return try ECDSAPrivateKey(.p521, scalar: secret).sign(data)
            case .rsaSHA256: return try SSHKey.rsa(blob, secret, numbers).sign(data, .sha256)
            case .rsaSHA512: return try SSHKey.rsa(blob, secret, numbers).sign(data, .sha512)
            }
        } catch { throw VaultError(any: error) }
    }

    /// - Throws: ``CryptographyError/authenticationFailed`` where the numbers do not belong together.
    private static func rsa(
        _ blob: [UInt8], _ secret: borrowing SecretBytes, _ numbers: [Range<Int>]
    ) throws(CryptographyError) -> RSAPrivateKey {
        let bytes = unsafe blob.span.bytes
        guard let key = try? SSHPublicKey(parsing: 0..<blob.count, in: bytes), let exponent = key.exponent,
            numbers.count == 4
        else { throw .authenticationFailed }
        let made = try secret.withBytes { secret throws(CryptographyError) in
            try RSAPrivateKey(
                modulus: bytes.extracting(key.number), exponent: bytes.extracting(exponent),
                privateExponent: secret.extracting(numbers[0]), inverse: secret.extracting(numbers[1]),
                first: secret.extracting(numbers[2]), second: secret.extracting(numbers[3]))
        }
        switch consume made {
        case .some(let made): return made
        case .none: throw .authenticationFailed
        }
    }

    /// A seed or a scalar, with zeros before it, as long as its kind has them.
    static func padded(
        _ secret: RawSpan, _ kind: SSHKeyKind, _ lifetime: SecretLifetime = .transient
    ) throws(VaultError) -> SecretBytes {
        var padded: SecretBytes
        do throws(SecretMemoryError) { padded = try SecretBytes(zeroed: kind.secretSize, lifetime: lifetime) } catch {
            throw VaultError(error)
        }
        padded.withMutableBytes { $0.store(secret, at: kind.secretSize - secret.byteCount) }
        return padded
    }

    /// The public point of a seed or a scalar; of any kind but RSA.
    static func point(_ kind: SSHKeyKind, _ secret: borrowing SecretBytes) throws(VaultError) -> [UInt8] {
        do throws(CryptographyError) {
            switch kind {
            case .ed25519:
                return try secret.withBytes { seed throws(CryptographyError) in
                    try Ed25519PrivateKey(seed: seed).publicKey()
                }
            case .p256: return try P256PrivateKey(scalar: secret).publicKey.uncompressed
            case .p384: return try ECDSAPrivateKey(.p384, scalar: secret).publicPoint
            case .p521: return try ECDSAPrivateKey(.p521, scalar: secret).publicPoint
            case .rsa: throw .invalidSize
            }
        } catch .scalarOutOfRange {
            throw .noSSHKey
        } catch { throw VaultError(any: error) }
    }

    /// The public key in one line, as in `authorized_keys`.
    package var line: String { "\(kind.rawValue) \(Base64.text(blob))\(comment.isEmpty ? "" : " \(comment)")" }
}

extension RawSpan {
    /// A copy of a part that is no secret.
    func array(_ range: Range<Int>) -> [UInt8] {
        unsafe extracting(range).withUnsafeBytes { unsafe Array($0) }
    }
}
