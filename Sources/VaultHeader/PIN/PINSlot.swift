internal import Cryptography
package import KeyStores
package import SecretMemory
package import VaultFormat
package import VaultStorage

/// What the slot of a PIN carries beside the wrapped key: where the chip has its share, and under the master key the
/// slot's wrapping key, so that a change of the rules, which the slot is bound to, needs the passcode only and not the
/// PIN too, and a tag by which a new passcode is known to be the PIN without asking the chip.
///
/// Version 2, the chip's object behind its 16-bit length, little endian, then nonce, wrapping key, tag of the PIN, and
/// the cipher's tag.
package struct PINSlot {
    package static let version: UInt8 = 2
    private static let sealedSize = 92

    package let object: HardwareObject
    private let sealed: [UInt8]

    /// Nil for a slot that is not as ``make(_:under:factor:share:wrapping:of:)`` makes them.
    package init?(_ slot: Slot) {
        let bytes = slot.kindData
        guard slot.kind == .pin, bytes.count > 3 + PINSlot.sealedSize, bytes[0] == PINSlot.version else {
            return nil
        }
        let size = Int(bytes[1]) | Int(bytes[2]) << 8
        guard bytes.count == 3 + size + PINSlot.sealedSize else { return nil }
        object = HardwareObject(name: slot.hardwareName, data: Array(bytes[3..<3 + size]))
        sealed = Array(bytes[(3 + size)...])
    }

    /// The slot, finished.
    /// - Parameters:
    ///   - empty: With its id, salt and costs.
    ///   - made: What the chip gave for it.
    ///   - factor: A, 32 bytes.
    package static func make(
        _ empty: Slot, under made: borrowing HardwareShare, factor: borrowing SecretBytes,
        wrapping master: borrowing SecretBytes, of header: Header
    ) throws(VaultError) -> Slot {
        var slot = empty
        slot.flags.insert(.hardwareShare)
        slot.hardwareName = made.object.name
        let key = try SlotKey(factor: factor, slot: slot, share: made.share)
        let sealed = try key.kept(
            by: keeper(master, header.vault), with: SlotKey.valueTag(factor: factor, slot: slot), for: slot,
            of: header.vault)
        let size = made.object.data.count
        slot.kindData = [version, UInt8(size & 0xff), UInt8(size >> 8 & 0xff)] + made.object.data + sealed
        return try key.wrap(master, into: slot, vault: header.vault, policyDigest: header.policy.digest())
    }

    /// The slot of a header for the rules that the header has now.
    /// - Throws: `damaged`.
    package static func rewrap(
        _ slot: Slot, _ master: borrowing SecretBytes, of header: Header
    ) throws(VaultError) -> Slot {
        let kept = try opened(slot, master, header.vault)
        let key = try SlotKey(kept: kept, of: slot)
        return try key.wrap(master, into: slot, vault: header.vault, policyDigest: header.policy.digest())
    }

    /// Whether a secret is the PIN. Takes a key derivation, and no attempt of the chip's.
    /// - Throws: `damaged`.
    package static func holds(
        _ secret: borrowing SecretBytes, _ slot: Slot, _ master: borrowing SecretBytes, of vault: VaultID
    ) throws(VaultError) -> Bool {
        let kept = try opened(slot, master, vault)
        let tag = try SlotKey.valueTag(factor: SlotKey.stretch(secret, for: slot), slot: slot)
        return kept.withBytes { tag.isEqual(to: $0.extracting(32..<64)) }
    }

    /// Wrapping key and tag of the PIN.
    private static func opened(
        _ slot: Slot, _ master: borrowing SecretBytes, _ vault: VaultID
    ) throws(VaultError) -> SecretBytes {
        guard let pin = PINSlot(slot) else { throw .damaged("the slot of the PIN is not what was written") }
        return try SlotKey.opened(pin.sealed, by: keeper(master, vault), for: slot, of: vault)
    }

    private static func keeper(_ master: borrowing SecretBytes, _ vault: VaultID) throws(VaultError) -> SecretBytes {
        try crypto { () throws(CryptographyError) in
            try unsafe HKDFSHA256.derive(master, salt: vault.bytes.span.bytes, info: "holdfast/1/slot-keys", count: 32)
        }
    }
}
