internal import VaultFormat
internal import VaultHeader

/// Which proof a change of level, slots or rules wants: the strongest way that is there. Pure.
struct RequiredProof: Sendable, Hashable {
    /// What lies in the header, and what the device can do.
    struct Facts: Sendable, Hashable {
        /// A slot that opens without asking anyone.
        var hasDevice = false
        var hasPasscode = false
        var hasPhrase = false
        /// A slot of the device's owner whose share can be redeemed.
        var hasOwner = false
        /// A collection asks for more than nothing.
        var hasMinimum = false
        /// The device can ask its owner now.
        var canAskOwner = false
    }

    /// Each of them is enough.
    let ways: Set<Proof.Way>

    /// - Parameter facts: Of the header whose MAC is known.
    init(_ facts: Facts) {
        var secrets: Set<Proof.Way> = []
        if facts.hasPasscode { secrets.insert(.passcode) }
        if facts.hasPhrase { secrets.insert(.recoveryPhrase) }
        guard facts.hasDevice else {
            // The phrase is always a way: it opens the vault too, and nobody guesses it.
            ways = facts.hasPasscode ? secrets : facts.hasOwner ? secrets.union([.owner]) : secrets
            return
        }
        // Whoever has the unlocked device could have planted a slot: what is kept beside the device's is never
        // required.
        if facts.hasMinimum, !secrets.isEmpty {
            ways = secrets
        } else {
            ways = secrets.union([facts.canAskOwner ? .owner : .nobody])
        }
    }
}

extension RequiredProof.Facts {
    /// - Parameter canAskOwner: What the caller knows of the device.
    init(_ header: Header, canAskOwner: Bool) {
        hasDevice = header.deviceSlot != nil
        hasPasscode = header.passcodeSlot != nil
        hasPhrase = header.recoverySlot != nil
        hasOwner = !header.ownerSlots.isEmpty
        hasMinimum = header.policy.collectionMinima.values.contains { $0 > .none }
        self.canAskOwner = canAskOwner
    }
}
