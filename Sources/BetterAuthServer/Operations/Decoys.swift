internal import BetterAuthMessages
internal import Cryptography
internal import SecretMemory

/// Challenges for identities that do not exist. Nothing is stored for them, and yet they are recognised for as long as
/// a real one lives: an answer to one is refused in the words in which a device that is not in an account is refused.
///
/// Eight random bytes, and eight of a keyed digest of them and of the second in which they were given.
final class Decoys: Sendable {
    private static let half = 8
    private let key: SecretBytes
    private let lifetime: Int64

    /// - Parameter lifetime: Seconds, those of a challenge.
    init(lifetime: Int64) throws(CryptographyError) {
        key = try SecureRandom.secret(32, lifetime: .longLived)
        // Recognising takes one short digest for each second.
        self.lifetime = min(lifetime, 3600)
    }

    func make(now: Timestamp) throws(CryptographyError) -> NonceText {
        let random = try SecureRandom.bytes(Decoys.half)
        let raw = try random + mark(random, second: now.milliseconds / 1000)
        guard let nonce = unsafe NonceText(raw: raw.span.bytes) else { throw .invalidSize }
        return nonce
    }

    func recognises(_ nonce: NonceText, now: Timestamp) -> Bool {
        let raw = nonce.rawBytes
        let random = Array(raw[..<Decoys.half])
        let second = now.milliseconds / 1000
        return (second - lifetime...second).contains { second in
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
