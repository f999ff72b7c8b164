package import BetterAuthMessages
package import Cryptography

extension Derivations {
    /// With BLAKE3-256, the hash function of this suite (protocol.md 1.2).
    package static let standard = Derivations { DigestText(blake3: $0) }
}

extension DigestText {
    /// The BLAKE3-256 of some bytes.
    package init(blake3 bytes: RawSpan) {
        let digest = BLAKE3.hash(bytes)
        self.init { target in
            for (offset, byte) in digest.bytes.enumerated() {
                target.storeBytes(of: byte, toByteOffset: offset, as: UInt8.self)
            }
        }
    }
}

extension NonceText {
    /// 128 fresh random bits.
    /// - Throws: ``Cryptography/CryptographyError/library(code:)``.
    package static func random() throws(CryptographyError) -> NonceText {
        try NonceText { bytes throws(CryptographyError) in try SecureRandom.fillPublic(&bytes) }
    }
}
