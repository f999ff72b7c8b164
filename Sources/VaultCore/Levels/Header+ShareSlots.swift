internal import Cryptography
internal import DeviceOwner
internal import SecretMemory
internal import VaultFormat
internal import VaultStorage

extension Header {
    /// The slot that opens with a share alone.
    func deviceSlot(
        _ item: ShareItem, _ nothing: borrowing SecretBytes, _ share: borrowing SecretBytes,
        wrapping master: borrowing SecretBytes
    ) throws(VaultError) -> Slot {
        try slot(.device, DeviceSlotData(item).encoded, item.store, nothing, share, wrapping: master)
    }

    /// The owner's slot.
    /// - Parameter enrollment: What is enrolled now; nil where no finger is to count.
    func ownerSlot(
        _ item: ShareItem, _ secret: borrowing SecretBytes, _ enrollment: OwnerEnrollment?,
        _ share: borrowing SecretBytes, wrapping master: borrowing SecretBytes
    ) throws(VaultError) -> Slot {
        // On the disk it is no secret any more; what is in an array here lies in the header a moment later.
        let copy = secret.withBytes { $0.copied(0..<OwnerSlotData.secretSize) }
        let lines = enrollment.map { String(decoding: $0.bytes, as: UTF8.self) } ?? ""
        guard let data = OwnerSlotData(item, secret: copy, enrollment: lines) else {
            throw VaultError(.tooLarge, "what is enrolled does not fit into the header")
        }
        return try slot(.deviceOwner, data.encoded, item.store, secret, share, wrapping: master)
    }

    /// A slot that opens with a share and the factor beside it.
    private func slot(
        _ kind: SlotKind, _ data: [UInt8], _ store: KeyStoreKind, _ factor: borrowing SecretBytes,
        _ share: borrowing SecretBytes, wrapping master: borrowing SecretBytes
    ) throws(VaultError) -> Slot {
        guard let id = freeSlotID else { throw VaultError(.tooLarge, "the header has no room for another slot") }
        let salt = try crypto { () throws(CryptographyError) in try SecureRandom.bytes(Slot.saltSize) }
        var slot = Slot(
            id: id, kind: kind, flags: .hardwareShare, derivation: nil, salt: salt, commitment: [],
            hardwareName: [store.rawValue])
        slot.kindData = data
        return try SlotKey(factor: factor, slot: slot, share: share)
            .wrap(master, into: slot, vault: vault, policyDigest: policy.digest())
    }
}
