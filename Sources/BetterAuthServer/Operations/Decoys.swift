internal import BetterAuthMessages
package import Cryptography
internal import SecretMemory

/// Challenges for identities that do not exist. Nothing is stored for them, and yet they are recognised for as long as
/// a real one lives: an answer to one is refused in the words in which a device that is not in an account is refused.
///
/// Eight random bytes, and eight of a keyed digest of them and of the second in which they were given.
package final class Decoys: Sendable {
    private static let half = 8
    static let keySize = 32
    private let key: SecretBytes

    package init() throws(CryptographyError) {
        key = try SecureRandom.secret(Decoys.keySize, lifetime: .longLived)
    }

    /// Those of the process before, by the key that it left.
    init(key bytes: [UInt8]) throws(CryptographyError) {
        guard bytes.count == Decoys.keySize else { throw .invalidSize }
        do throws(SecretMemoryError) {
            key = try unsafe SecretBytes(copying: bytes.span.bytes, lifetime: .longLived)
        } catch { throw .memory(error) }
    }

    /// The key, for the process after. It lies where the accounts do: whoever reads it there learns nothing from it
    /// about which identities exist.
    var keyBytes: [UInt8] { key.withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe Array($0) } } }

    func make(now: Timestamp) throws(CryptographyError) -> NonceText {
        let random = try SecureRandom.bytes(Decoys.half)
        let raw = try random + mark(random, second: now.milliseconds / 1000)
        guard let nonce = unsafe NonceText(raw: raw.span.bytes) else { throw .invalidSize }
        return nonce
    }

    /// - Parameter lifetime: Seconds, those of a challenge.
    func recognises(_ nonce: NonceText, now: Timestamp, lifetime: Int64) -> Bool {
        let raw = nonce.rawBytes
        let random = Array(raw[..<Decoys.half])
        let second = now.milliseconds / 1000
        // Each second takes one short digest.
        return (second - min(lifetime, 3600)...second).contains { second in
            (try? mark(random, second: second)).map { $0.elementsEqual(raw[Decoys.half...]) } ?? false
        }
    }

    private func mark(_ random: [UInt8], second: Int64) throws(CryptographyError) -> [UInt8] {
        let text = random + stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: second >> $0) }
        let digest = try key.withBytes { key throws(CryptographyError) in
            try unsafe BLAKE3.keyedHash(text.span.bytes, key: key)
        }
        return Array(digest.bytes[..<Decoys.half])
    }
}
