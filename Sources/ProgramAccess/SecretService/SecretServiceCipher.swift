internal import Cryptography
package import SecretMemory

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

    /// A value as it travels.
    package final class Sealed: Sendable {
        /// The vector that it was encrypted with; empty where nothing is encrypted.
        package let parameters: [UInt8]
        package let value: SecretBytes

        init(_ parameters: [UInt8], _ value: consuming SecretBytes) {
            self.parameters = parameters
            self.value = value
        }
    }

    /// Nil without memory for it.
    package func seal(_ value: borrowing SecretBytes) -> Sealed? {
        guard key != nil else {
            guard let copy = try? value.copy(lifetime: .longLived) else { return nil }
            return Sealed([], copy)
        }
        guard let vector = try? SecureRandom.bytes(16),
            let sealed = try? encrypt(value, vector)
        else { return nil }
        return Sealed(vector, sealed)
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

    /// Nil for what was not encrypted with this key, and without memory.
    package func open(_ value: RawSpan, parameters: RawSpan) -> SecretBytes? {
        switch key {
        case .none: parameters.byteCount == 0 ? try? SecretBytes(copying: value, lifetime: .longLived) : nil
        case .some(let key): try? BlockCipher.decryptCBC128(value, key: key, vector: parameters)
        }
    }
}
