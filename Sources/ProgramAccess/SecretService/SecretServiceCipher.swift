internal import Cryptography
package import SecretMemory
internal import VaultFormat

/// How values travel in one session of the Secret Service: as they are, or encrypted with a key that both sides agreed
/// on (Secret Service API 0.2, "Transfer of Secrets").
package final class SecretServiceCipher: Sendable {
    package static let plain = "plain"
    package static let agreed = "dh-ietf1024-sha256-aes128-cbc-pkcs7"
    /// Bytes that encryption adds at most.
    package static let padding = 16

    /// Nil where nothing is encrypted.
    private let key: SecretBytes?

    /// One that encrypts nothing.
    package init() { key = nil }

    private init(_ key: consuming SecretBytes) { self.key = consume key }

    /// Agrees on a key.
    /// - Parameter peer: The client's public number.
    /// - Returns: The cipher and our public number; nil for an invalid number, and without memory.
    package static func agree(with peer: RawSpan) -> (cipher: SecretServiceCipher, publicNumber: [UInt8])? {
        guard let offer = Offer.make(), let cipher = offer.agree(with: peer) else { return nil }
        return (cipher, offer.publicNumber)
    }

    /// A private number of the side that speaks first.
    package struct Offer: ~Copyable {
        private let offer: DiffieHellman1024.Offer

        package var publicNumber: [UInt8] { offer.publicNumber }

        private init(_ offer: consuming DiffieHellman1024.Offer) { self.offer = offer }

        /// Nil without memory.
        package static func make() -> Offer? {
            do { return Offer(try DiffieHellman1024.Offer.make()) } catch { return nil }
        }

        /// Nil for an invalid number, and without memory.
        package borrowing func agree(with peer: RawSpan) -> SecretServiceCipher? {
            let none: [UInt8] = []
            do {
                let shared = try offer.agree(with: peer)
                return SecretServiceCipher(
                    try unsafe HKDFSHA256.derive(
                        shared, salt: none.span.bytes, info: none.span.bytes, count: 16, lifetime: .longLived))
            } catch { return nil }
        }
    }

    /// Lends a value as it travels.
    /// - Parameter body: Given the vector that it was encrypted with, empty where nothing is encrypted, and the bytes.
    /// - Returns: False without memory for it; then nothing was lent.
    package func withSealed(_ value: borrowing SecretBytes, _ body: ([UInt8], RawSpan) -> Void) -> Bool {
        guard key != nil else {
            value.withBytes { body([], $0) }
            return true
        }
        // What is encrypted may be swapped out: a large secret and itself encrypted are more than can be locked.
        let outer = BulkMemory.begin(isAllowed: true)
        defer { BulkMemory.end(outer) }
        guard let vector = try? SecureRandom.bytes(16),
            let sealed = try? encrypt(value, vector)
        else { return false }
        sealed.withBytes { body(vector, $0) }
        return true
    }

    private func encrypt(_ value: borrowing SecretBytes, _ vector: [UInt8]) throws -> SecretBytes {
        switch key {
        case .none: throw CryptographyError.invalidSize
        case .some(let key):
            try value.withBytes { value throws(CryptographyError) in
                try unsafe BlockCipher.encryptCBC128(value, key: key, vector: vector.span.bytes)
            }
        }
    }

    /// - Returns: Nil for what was not encrypted with this key.
    /// - Throws: Without memory.
    package func open(_ value: RawSpan, parameters: RawSpan) throws(SecretMemoryError) -> SecretBytes? {
        switch key {
        case .none:
            guard parameters.byteCount == 0 else { return nil }
            return try SecretBytes(copying: value, lifetime: .longLived)
        case .some(let key):
            do { return try SecretServiceCipher.decrypt(value, key, parameters) } catch let error as SecretMemoryError {
                throw error
            } catch CryptographyError.memory(let error) { throw error } catch { return nil }
        }
    }

    private static let piece = 65_536

    /// Piece by piece, so that a large secret is in memory once. The last one comes first: it says how many bytes there
    /// are.
    private static func decrypt(
        _ value: RawSpan, _ key: borrowing SecretBytes, _ vector: RawSpan
    ) throws -> SecretBytes {
        let front = max(0, value.byteCount - 1) / piece * piece
        let rest = try BlockCipher.decryptCBC128(
            value.extracting(front..<value.byteCount), key: key,
            vector: front == 0 ? vector : value.extracting(front - 16..<front))
        guard front > 0 else { return rest }
        var whole = try SecretBytes(zeroed: front + rest.count, lifetime: .longLived)
        for start in stride(from: 0, to: front, by: piece) {
            let part = try BlockCipher.decryptCBC128(
                blocks: value.extracting(start..<start + piece), key: key,
                vector: start == 0 ? vector : value.extracting(start - 16..<start))
            part.withBytes { part in whole.withMutableBytes { $0.store(part, at: start) } }
        }
        rest.withBytes { rest in whole.withMutableBytes { $0.store(rest, at: front) } }
        return whole
    }
}
