internal import Cryptography
package import SecretMemory
package import VaultFormat

/// Hardware that counts the attempts of a passcode slot beside the ledger (constructions.md 5.1).
///
/// The file tier is the ledger alone. A tier of hardware holds a share without which the passcode's stretched form
/// opens nothing; it gives the share for the right authorisation only, counts each wrong one itself, and gives it never
/// again once its limit is reached, whatever is put back on the disk.
package protocol AttemptTier: Sendable {
    /// What a slot with such a share proves.
    var assurance: Assurance { get }

    /// Makes a share that only `authorisation` redeems.
    /// - Parameters:
    ///   - authorisation: 32 bytes derived from the stretched passcode; never the passcode itself.
    ///   - limit: Wrong authorisations before the share is gone for ever.
    ///   - owner: Whose it is, which the hardware shows of it from then on.
    ///   - note: Called with what ``destroy(_:of:)`` takes before the hardware has anything of it, so that a killed
    ///     caller leaves nothing unrecorded. Perhaps called more than once; the last one holds. What it throws ends the
    ///     making.
    /// - Throws: ``KeyStoreError``; nothing is left behind then.
    func makeShare(
        authorisation: borrowing SecretBytes, limit: Int, for owner: HardwareOwner,
        note: (HardwareObject) throws(KeyStoreError) -> Void
    ) throws(KeyStoreError) -> HardwareShare

    /// Asks for the share. A wrong authorisation is counted by the hardware before this returns.
    /// - Parameters:
    ///   - object: What the slot keeps.
    ///   - vault: The vault of the slot; a share that the hardware shows to be another's is not asked for.
    ///   - authorisation: As it was made with.
    /// - Throws: ``KeyStoreError`` when it could not be asked; `damaged` for an object that is not what was written for
    ///   this vault, with nothing sent to the hardware.
    func redeem(
        _ object: HardwareObject, of vault: VaultID, authorisation: borrowing SecretBytes
    ) throws(KeyStoreError) -> Redemption

    /// How many wrong authorisations are left before the share is gone, without making one; 0 for a share that this
    /// hardware no longer releases or never had, nil if unknown.
    /// - Throws: ``KeyStoreError`` when it could not be asked.
    func remaining(_ object: HardwareObject, of vault: VaultID) throws(KeyStoreError) -> Int?

    /// Makes a share impossible to redeem; succeeds if it does not exist.
    /// - Returns: `anothers` for what the hardware does not show to be this owner's: nothing was done then.
    /// - Throws: ``KeyStoreError``.
    func destroy(_ object: HardwareObject, of owner: HardwareOwner) throws(KeyStoreError) -> Removal
}

extension AttemptTier {
    package func remaining(_ object: HardwareObject, of vault: VaultID) throws(KeyStoreError) -> Int? { nil }

    /// As ``makeShare(authorisation:limit:for:note:)``, for a share that is destroyed before the process can end.
    package func makeShare(
        authorisation: borrowing SecretBytes, limit: Int, for owner: HardwareOwner
    ) throws(KeyStoreError) -> HardwareShare {
        try makeShare(authorisation: authorisation, limit: limit, for: owner) { _ in }
    }

    /// Makes a share that opens nothing, has it counted and given out, and destroys it.
    /// - Throws: ``KeyStoreError`` that says what does not work; `unsupported` for hardware that cannot count.
    package func roundTrip() throws(KeyStoreError) {
        try keyStoreErrors {
            let right = try SecureRandom.secret(32)
            let wrong = try SecureRandom.secret(32)
            guard let vault = VaultID(bytes: try SecureRandom.bytes(16)) else { return }
            let owner = HardwareOwner(vault: vault, home: try SecureRandom.bytes(32))
            let made = try makeShare(authorisation: right, limit: 3, for: owner)
            let object = made.object
            defer { _ = try? destroy(object, of: owner) }
            guard case .wrongSecret = try redeem(object, of: vault, authorisation: wrong) else {
                throw KeyStoreError(.unsupported, "a wrong authorisation was not counted")
            }
            guard case .share(let share) = try redeem(object, of: vault, authorisation: right),
                share.isEqual(to: made.share)
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
