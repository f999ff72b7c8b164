internal import Cryptography
internal import KeyStores
internal import SecretMemory
internal import VaultCore
internal import VaultFormat
internal import VaultStorage

/// A P-256 key that was made in this machine's TPM and never leaves it, as an item keeps it: in the field `TPM key`,
/// version, compressed point, authorisation, and the object that only that TPM can use. Without the vault nobody has
/// the authorisation, and without the TPM nobody has the key.
struct SSHChipKey: ~Copyable {
    static let label = "TPM key"
    private static let version: UInt8 = 1
    private static let pointSize = 33, secretSize = 32, longest = 1024

    let object: SigningKeyObject
    private let authorisation: SecretBytes

    /// Has the chip make one.
    /// - Throws: `hardwareUnavailable` where there is no TPM, and what it answers.
    init() throws(VaultError) {
        let store = try SSHChipKey.chip()
        let secret: SecretBytes
        do throws(CryptographyError) { secret = try SecureRandom.secret(SSHChipKey.secretSize) } catch {
            throw VaultError(error)
        }
        let made: SigningKeyObject
        do throws(KeyStoreError) { made = try store.makeKey(authorisation: secret) } catch { throw VaultError(error) }
        object = made
        authorisation = secret
    }

    /// - Throws: `invalidItem`; `outOfMemory`.
    init(parsing bytes: RawSpan) throws(VaultError) {
        let head = 1 + SSHChipKey.pointSize + SSHChipKey.secretSize
        guard bytes.byteCount > head, bytes.byteCount <= head + SSHChipKey.longest,
            bytes.integer(at: 0, as: UInt8.self) == SSHChipKey.version
        else { throw .noSSHKey }
        func array(_ range: Range<Int>) -> [UInt8] {
            unsafe bytes.extracting(range).withUnsafeBytes { unsafe Array($0) }
        }
        let secret: SecretBytes
        do throws(SecretMemoryError) {
            secret = try SecretBytes(copying: bytes.extracting(1 + SSHChipKey.pointSize..<head))
        } catch { throw VaultError(error) }
        object = SigningKeyObject(publicKey: array(1..<1 + SSHChipKey.pointSize), data: array(head..<bytes.byteCount))
        authorisation = secret
    }

    /// What ``init(parsing:)`` reads.
    borrowing func bytes() throws(VaultError) -> SecretBytes {
        var buffer = SecretBuffer()
        do throws(SecretMemoryError) {
            try buffer.append(SSHChipKey.version)
            try unsafe buffer.append(object.publicKey.span.bytes)
            try authorisation.withBytes { secret throws(SecretMemoryError) in try buffer.append(secret) }
            try unsafe buffer.append(object.data.span.bytes)
            return try buffer.bytes()
        } catch { throw VaultError(error) }
    }

    borrowing func secret() throws(VaultError) -> SecretBytes {
        do throws(SecretMemoryError) { return try authorisation.copy() } catch { throw VaultError(error) }
    }

    /// - Returns: r then s, 64 bytes.
    static func sign(
        _ data: RawSpan, with key: SigningKeyObject, _ authorisation: borrowing SecretBytes
    ) throws(VaultError) -> [UInt8] {
        let store = try chip()
        do throws(KeyStoreError) { return try store.sign(data, with: key, authorisation: authorisation) } catch {
            throw VaultError(any: error)
        }
    }

    private static func chip() throws(VaultError) -> TPMSigningKeys {
        guard let location = TPMLocation.standard else {
            throw VaultError(.hardwareUnavailable, "no TPM was found (/dev/tpmrm0, or $HOLDFAST_TPM)")
        }
        return TPMSigningKeys(at: location)
    }
}
