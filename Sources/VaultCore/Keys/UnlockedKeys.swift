internal import SecretMemory
internal import VaultFormat
internal import VaultHeader
internal import VaultStorage

/// Everything an unlocked vault keeps in memory: the epochs' keys and what is needed to write a new header.
final class UnlockedKeys: Sendable {
    let vault: VaultID
    /// Of the header that the keys were read from.
    let generation: UInt64
    /// The rules of the header, whose MAC was right.
    let policy: VaultPolicy
    let headerKeys: HeaderKeys
    let keybag: Keybag
    /// Of the protected compartment.
    let records: RecordKeys

    var epochs: [EpochKeys] { records.epochs }
    var current: EpochKeys { records.current }
    /// What the unlock proved, and what it does not reach.
    var admission: Admission { records.admission }

    init(
        header: Header, headerKeys: consuming HeaderKeys, keybag: consuming Keybag, admission: Admission
    ) throws(VaultError) {
        vault = header.vault
        generation = header.generation
        policy = header.policy
        self.headerKeys = headerKeys
        var epochs: [EpochKeys] = []
        for epoch in keybag.epochs { epochs.append(try EpochKeys(keybag, epoch: epoch)) }
        guard let newest = epochs.first, newest.epoch == header.epoch else {
            throw .damaged("the keybag does not fit the header's epoch")
        }
        records = RecordKeys(
            domain: header.vault, admission: admission, newest: newest, older: Array(epochs.dropFirst()))
        self.keybag = keybag
    }
}

extension UnlockedKeys {
    /// As ``Keybag/complete(_:_:)``.
    func complete(_ header: inout Header) { keybag.complete(&header, headerKeys) }
}

extension Keybag {
    /// Gives a header that is about to be written the key for write-only items, which earlier versions did not make.
    /// The keybag in the header must be this one. If it does not fit, the vault continues without it.
    borrowing func complete(_ header: inout Header, _ keys: borrowing HeaderKeys) {
        guard newestInboxEpoch == nil,
            let more = try? Keybag(adding: .inbox, epoch: header.epoch, to: self),
            let sealed = try? more.sealed(by: keys, vault: header.vault, epoch: header.epoch)
        else { return }
        header.sealedKeybag = sealed
    }
}

extension EpochKeys {
    convenience init(_ keybag: borrowing Keybag, epoch: UInt32) throws(VaultError) {
        try self.init(
            epoch: epoch, records: EpochKeys.copy(keybag, .records, epoch),
            names: EpochKeys.copy(keybag, .names, epoch), files: EpochKeys.copy(keybag, .files, epoch))
    }

    private static func copy(_ keybag: borrowing Keybag, _ kind: KeybagLayout.Kind, _ epoch: UInt32)
        throws(VaultError) -> SecretBytes
    {
        try keybag.withKey(kind, epoch: epoch) { key throws(VaultError) in
            try secretMemory(SecretBytes(copying: key, lifetime: .longLived))
        }
    }
}
