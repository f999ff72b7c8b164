internal import Cryptography
package import SecretMemory
package import VaultFormat

/// Hardware that counts the attempts of a passcode slot beside the ledger (security construction 5).
///
/// The file tier is the ledger alone. A tier of hardware holds a share without which the passcode's stretched form opens
/// nothing; it gives the share for the right authorisation only, counts each wrong one itself, and gives it never again
/// once its limit is reached, whatever is put back on the disk.
package protocol AttemptTier: Sendable {
    /// What a slot with such a share proves.
    var assurance: Assurance { get }

    /// Makes a share that only `authorisation` redeems.
    /// - Parameters:
    ///   - authorisation: 32 bytes derived from the stretched passcode; never the passcode itself.
    ///   - limit: Wrong authorisations before the share is gone for ever.
    ///   - note: Called with what ``destroy(_:)`` takes before the hardware has anything of it, so that a caller who is
    ///     killed leaves nothing that nobody knows of. Perhaps called more than once; the last one holds. What it throws
    ///     ends the making.
    /// - Throws: ``KeyStoreError``; nothing is left behind then.
    func makeShare(
        authorisation: borrowing SecretBytes, limit: Int, note: (HardwareObject) throws(KeyStoreError) -> Void
    ) throws(KeyStoreError) -> HardwareShare

    /// Asks for the share. A wrong authorisation is counted by the hardware before this returns.
    /// - Throws: ``KeyStoreError`` when it could not be asked.
    func redeem(_ object: HardwareObject, authorisation: borrowing SecretBytes) throws(KeyStoreError) -> Redemption

    /// How many wrong authorisations are left before the share is gone, without making one; 0 for a share that this hardware
    /// gives no more or never had, nil where nobody can tell.
    /// - Throws: ``KeyStoreError`` when it could not be asked.
    func remaining(_ object: HardwareObject) throws(KeyStoreError) -> Int?

    /// Makes a share impossible to redeem; one that is gone already is fine.
    /// - Throws: ``KeyStoreError``.
    func destroy(_ object: HardwareObject) throws(KeyStoreError)
}

extension AttemptTier {
    package func remaining(_ object: HardwareObject) throws(KeyStoreError) -> Int? { nil }

    /// As ``makeShare(authorisation:limit:note:)``, for a share that is destroyed before the process can end.
    package func makeShare(authorisation: borrowing SecretBytes, limit: Int) throws(KeyStoreError) -> HardwareShare {
        try makeShare(authorisation: authorisation, limit: limit) { _ in }
    }

    /// Makes a share that opens nothing, has it counted and given out, and destroys it.
    /// - Throws: ``KeyStoreError`` that says what does not work; `unsupported` for hardware that cannot count.
    package func roundTrip() throws(KeyStoreError) {
        try keyStoreErrors {
            let right = try SecureRandom.secret(32)
            let wrong = try SecureRandom.secret(32)
            let made = try makeShare(authorisation: right, limit: 3)
            let object = made.object
            defer { try? destroy(object) }
            guard case .wrongSecret = try redeem(object, authorisation: wrong) else {
                throw KeyStoreError(.unsupported, "a wrong authorisation was not counted")
            }
            guard case .share(let share) = try redeem(object, authorisation: right), share.isEqual(to: made.share)
            else {
                throw KeyStoreError(.damaged, "the right authorisation did not get the share")
            }
        }
    }
}

/// What a slot keeps to find its share again; authenticated with the slot, no secret.
package struct HardwareObject: Sendable, Hashable {
    /// The name by which the hardware vouches for the object, at most 128 bytes.
    package let name: [UInt8]
    /// What the backend needs beside it, at most 1,024 bytes.
    package let data: [UInt8]

    package init(name: [UInt8], data: [UInt8]) {
        self.name = name
        self.data = data
    }
}

/// A new share and where it rests.
package struct HardwareShare: ~Copyable {
    /// 32 random bytes.
    package let share: SecretBytes
    package let object: HardwareObject

    package init(share: consuming SecretBytes, object: HardwareObject) {
        self.share = share
        self.object = object
    }
}

/// What the hardware answered.
package enum Redemption: ~Copyable {
    /// The authorisation was right.
    case share(SecretBytes)
    /// It was wrong and has been counted; so many are left where the hardware tells.
    case wrongSecret(remaining: Int?)
    /// The limit was reached, or the object was removed: no authorisation gets the share any more.
    case destroyed
    /// The share is in another chip, or this one was cleared since.
    case foreign
}
