/// How far a vault has grown: what has to be there, or to be known, for it to open.
///
/// The level is never stored: it follows from the slots of the header.
public enum VaultLevel: UInt8, Sendable, Hashable, CaseIterable {
    /// A share in this device's key store opens it; nobody is asked.
    case device = 0
    /// The key store gives its share for the device's confirmed owner.
    case owner = 1
    /// A secret of the vault's own: a passcode, or a PIN under a chip.
    case secret = 2

    /// Its stable word.
    public var name: String {
        switch self {
        case .device: "device"
        case .owner: "owner"
        case .secret: "secret"
        }
    }
}

extension VaultLevel: LogWord, Comparable {
    /// Whether `left` asks for less than `right`.
    public static func < (left: VaultLevel, right: VaultLevel) -> Bool { left.rawValue < right.rawValue }
}

extension Header {
    /// The level that the slots make. It is worth as much as the header: nothing until its MAC is known.
    package var level: VaultLevel {
        if deviceSlot != nil { return .device }
        if passcodeSlot == nil && pinSlot == nil { return .owner }
        // In front of such a slot stands our own process only, so it is the weakest way in.
        let isWeakest = slots.contains { $0.kind == .deviceOwner && $0.store?.asksItsOwner != true }
        return isWeakest ? .owner : .secret
    }

    /// Whether the slots and the rules contradict each other: a slot that opens for nobody, and a lock that is to ask.
    /// Nothing of ours writes that, and it opens nothing to the app until the level is raised or the lock is given up.
    package var contradictsItself: Bool { deviceSlot != nil && policy.isLockEnabled }

    /// The slot that opens with a share of the key store alone, if there is one.
    package var deviceSlot: Slot? { slots.first { $0.kind == .device } }
    /// The slots that open for the device's owner.
    package var ownerSlots: [Slot] { slots.filter { $0.kind == .deviceOwner } }
}

extension Slot {
    /// The key store that has this slot's share; nil for slots whose share a chip counts for, and for those without
    /// one.
    package var store: KeyStoreKind? {
        guard kind == .device || kind == .deviceOwner, hardwareName.count == 1 else { return nil }
        return KeyStoreKind(rawValue: hardwareName[0])
    }
}
