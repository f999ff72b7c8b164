internal import Cryptography
internal import DeviceOwner
internal import SecretMemory
internal import Synchronization
public import VaultFormat
internal import VaultHeader
internal import VaultStorage

/// How a vault is protected now: the one value that every settings screen draws.
public struct Protection: Sendable, Hashable {
    /// A way that opens the vault.
    package enum Way: Sendable, Hashable, CaseIterable {
        /// Nobody is asked: the share in the device's key store is enough.
        case device
        /// The device's owner confirms.
        case owner
        /// The vault's own passcode.
        case passcode
        /// A PIN under a chip that counts.
        case pin
        /// The 24 words.
        case recoveryPhrase
    }

    /// Where a share of the key rests.
    package struct Share: Sendable, Hashable {
        /// What it opens.
        package let way: Way
        /// `tpm`, `secretService` (the keyring), `file` or `keychain`.
        package let store: String
        /// Whether an old copy of the vault's files opens nothing once the share was taken away. Where the store can be
        /// put back together with the files, they open what there was before, and never what was written later.
        package let isRevocable: Bool
    }

    /// What is left of a change of keys.
    package struct Moving: Sendable, Hashable {
        /// Records that were looked at.
        package let done: Int
        /// Records that there are.
        package let total: Int

        /// Of a hundred.
        package var percent: Int { total > 0 ? done * 100 / total : 0 }

        package init(done: Int, total: Int) {
            self.done = done
            self.total = total
        }
    }

    /// How far the vault has grown.
    public let level: VaultLevel
    /// What opens it, the one that asks least first.
    package let ways: [Way]
    /// Whether it survives the loss of the device and of a passcode: there is a recovery phrase. Otherwise it is lost
    /// with this device.
    public var isRecoverable: Bool { ways.contains(.recoveryPhrase) }
    /// Where shares rest.
    package let shares: [Share]
    /// While records still move to new keys.
    package let moving: Moving?

    package init(_ header: Header, moving: Moving? = nil) {
        level = header.level
        let kinds = header.slots.map(\.kind)
        ways = Way.allCases.filter { way in kinds.contains { Way($0) == way } }
        shares = header.slots.compactMap { slot in
            guard let way = Way(slot.kind), let store = slot.store else { return nil }
            return Share(way: way, store: store.name, isRevocable: slot.shareItem != nil)
        }
        self.moving = moving
    }
}

/// What is told of a change of keys while it is being finished.
final class MovingPlace: Sendable {
    private let state = Mutex<Protection.Moving?>(nil)

    var current: Protection.Moving? { state.withLock { $0 } }

    func set(_ moving: Protection.Moving?) { state.withLock { $0 = moving } }
}

extension Protection.Way {
    /// Nil for kinds that this version does not open.
    fileprivate init?(_ kind: SlotKind) {
        switch kind {
        case .device: self = .device
        case .deviceOwner: self = .owner
        case .secret(.passcode): self = .passcode
        case .secret(.pin): self = .pin
        case .secret(.recoveryPhrase): self = .recoveryPhrase
        case .unknown: return nil
        }
    }
}

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
