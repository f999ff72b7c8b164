internal import Cryptography
package import VaultFormat

// A name shows whose the share is: five random bytes, then what these come to with the vault and the home. Nobody can take a
// share away by writing its name into another home's note.
extension ShareName {
    private static let drawnSize = 5

    /// A name that was never used.
    /// - Throws: ``ShareFailure`` without random numbers.
    package static func fresh(for owner: HardwareOwner) throws(ShareFailure) -> ShareName {
        do throws(CryptographyError) {
            let drawn = try SecureRandom.bytes(drawnSize)
            guard let name = ShareName(vault: owner.vault, nonce: drawn + proof(drawn, owner)) else {
                throw CryptographyError.invalidSize
            }
            return name
        } catch { throw .failed(KeyStoreError(any: error)) }
    }

    /// The one name of a home that is used again: of the share that a running process opens with
    /// (``ShareRule/released(by:after:)``). It needs no note, because whoever knows the home finds it.
    package static func released(for owner: HardwareOwner) throws(ShareFailure) -> ShareName {
        let drawn = [UInt8](repeating: 0, count: drawnSize)
        guard let name = ShareName(vault: owner.vault, nonce: drawn + proof(drawn, owner)) else { throw .damaged }
        return name
    }

    /// Whether it was made for this vault, and for this home of it.
    package func belongs(to owner: HardwareOwner) -> Bool {
        let drawn = Array(nonce.prefix(ShareName.drawnSize))
        return vault == owner.vault && nonce == drawn + ShareName.proof(drawn, owner)
    }

    private static func proof(_ drawn: [UInt8], _ owner: HardwareOwner) -> [UInt8] {
        let text = Array("holdfast/1/share-of".utf8) + owner.vault.bytes + owner.home + drawn
        return Array(unsafe SHA256.hash(text.span.bytes).bytes.prefix(nonceSize - drawnSize))
    }
}
