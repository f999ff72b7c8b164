package import Cryptography
package import SecretMemory

/// What the audit log's identities and chains are keyed with. It lies with the server's keys.
package final class AuditKey: Sendable {
    static let size = 32
    private static let nameLabel = "holdfast/1/audit-name"
    private static let identityLabel = "holdfast/1/audit-identity"
    private static let chainLabel = "holdfast/1/audit-chain"

    private let secret: SecretBytes
    /// Tells keys apart and is no secret: 16 hexadecimal digits.
    package let name: String
    private let identities: SecretBytes

    /// - Throws: ``Cryptography/CryptographyError`` for another number than 32 bytes.
    package init(_ secret: consuming SecretBytes) throws(CryptographyError) {
        let name = try AuditKey.derived(from: secret, AuditKey.nameLabel)
        self.name = name.withBytes { AuditHex.text($0.extracting(0..<8)) }
        identities = try AuditKey.derived(from: secret, AuditKey.identityLabel)
        self.secret = secret
    }

    /// A new key.
    /// - Throws: ``Cryptography/CryptographyError``.
    package static func generate() throws(CryptographyError) -> AuditKey { try AuditKey(SecureRandom.secret(size)) }

    /// What the log has in the place of an identity, or of another text: 32 hexadecimal digits.
    package func digest(of text: String) throws(CryptographyError) -> String {
        let bytes = Array(text.utf8)
        let digest = try identities.withBytes { key throws(CryptographyError) in
            try unsafe BLAKE3.keyedHash(bytes.span.bytes, key: key)
        }
        return digest.withBytes { AuditHex.text($0.extracting(0..<16)) }
    }

    /// Lends the 32 bytes, to be kept in the file of keys.
    func withBytes<R>(_ body: (RawSpan) -> R) -> R { secret.withBytes(body) }

    /// The key of a chain's first line.
    func root(of chain: String) throws(CryptographyError) -> SecretBytes {
        try AuditKey.derived(from: secret, AuditKey.chainLabel + chain)
    }

    /// 32 bytes for one purpose.
    static func derived(
        from key: borrowing SecretBytes, _ label: String
    ) throws(CryptographyError) -> SecretBytes {
        let label = Array(label.utf8)
        var digest = try key.withBytes { key throws(CryptographyError) in
            try unsafe BLAKE3.keyedHash(label.span.bytes, key: key)
        }
        defer { digest.withMutableBytes { $0.wipe() } }
        do throws(SecretMemoryError) {
            return try digest.withBytes { bytes throws(SecretMemoryError) in try SecretBytes(copying: bytes) }
        } catch { throw .memory(error) }
    }
}

/// Lower hexadecimal digits.
enum AuditHex {
    private static let digits = Array("0123456789abcdef".utf8)

    static func text(_ bytes: RawSpan) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.byteCount * 2)
        for index in 0..<bytes.byteCount {
            let byte = unsafe bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self)
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Whether it is so many digits.
    static func isText(_ bytes: some Collection<UInt8>, _ count: Int) -> Bool {
        bytes.count == count && bytes.allSatisfy(digits.contains)
    }
}
