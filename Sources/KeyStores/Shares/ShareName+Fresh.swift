internal import Cryptography
package import VaultFormat

extension ShareName {
    /// A name that was never used.
    /// - Throws: ``ShareFailure`` without random numbers.
    package static func fresh(for vault: VaultID) throws(ShareFailure) -> ShareName {
        do throws(CryptographyError) {
            guard let name = ShareName(vault: vault, nonce: try SecureRandom.bytes(nonceSize)) else {
                throw CryptographyError.invalidSize
            }
            return name
        } catch { throw .failed(KeyStoreError(any: error)) }
    }
}
