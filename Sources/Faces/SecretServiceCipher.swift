internal import Cryptography
package import SecretMemory

/// How values travel in one session of the Secret Service: as they are, or encrypted with a key that both sides agreed on (Secret
/// Service API 0.2, "Transfer of Secrets").
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
    /// - Returns: The cipher and our public number; nil for a number that is none, and without memory.
    package static func agree(with peer: RawSpan) -> (cipher: SecretServiceCipher, publicNumber: [UInt8])? {
        guard let agreement = try? DiffieHellman1024.agree(with: peer) else { return nil }
        let none: [UInt8] = []
        guard
            let key = try? unsafe HKDFSHA256.derive(
                agreement.shared, salt: none.span.bytes, info: none.span.bytes, count: 16, lifetime: .longLived)
        else { return nil }
        return (SecretServiceCipher(key), agreement.publicNumber)
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
