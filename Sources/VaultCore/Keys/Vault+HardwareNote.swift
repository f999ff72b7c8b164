internal import KeyStores
internal import SecretMemory
internal import VaultFormat

/// A tier that notes each share before the hardware has it.
struct NotingTier: AttemptTier {
    let tier: any AttemptTier
    let home: HomeDirectory

    var assurance: Assurance { tier.assurance }

    func makeShare(
        authorisation: borrowing SecretBytes, limit: Int, note told: (HardwareObject) throws(KeyStoreError) -> Void
    ) throws(KeyStoreError) -> HardwareShare {
        let present = HardwareNote.read(in: home) ?? HardwareNote()
        return try tier.makeShare(authorisation: authorisation, limit: limit) { object throws(KeyStoreError) in
            // A place that was taken by somebody else's object is noted no longer.
            var note = present
            note.shares.append(object)
            do throws(VaultError) { try note.write(in: home) } catch { throw KeyStoreError(.failure, error.reason) }
            try told(object)
        }
    }

    func redeem(_ object: HardwareObject, authorisation: borrowing SecretBytes) throws(KeyStoreError) -> Redemption {
        try tier.redeem(object, authorisation: authorisation)
    }

    func remaining(_ object: HardwareObject) throws(KeyStoreError) -> Int? { try tier.remaining(object) }

    func destroy(_ object: HardwareObject) throws(KeyStoreError) { try tier.destroy(object) }
}

extension Vault {
    /// The hardware that new shares are made with.
    var notingTier: (any AttemptTier)? { settings.tier.map { NotingTier(tier: $0, home: home) } }

    /// Notes that the generation of a vault is about to be held, by a header that does not say so yet.
    func noteAnchor(of vault: VaultID) throws(VaultError) {
        var note = HardwareNote()
        note.anchor = vault
        try HardwareNote.add(note, in: home)
    }

    /// Notes what either of two headers names, before the one is written over the other.
    func noteHardware(of old: Header, and new: Header) throws(VaultError) {
        let (before, after) = (HardwareNote(of: old), HardwareNote(of: new))
        guard before != after else { return }
        var note = before
        note.add(after)
        try HardwareNote.add(note, in: home)
    }

    /// After a header could not be written: lets go of what was made for it. Where nobody can tell which of the two the
    /// next reader finds, both keep what they name; it is noted, and goes when the next passcode was right.
    /// - Parameter failed: The header, where there was one already.
    func sweepHardware(afterFailing locked: borrowing LockedHeader, _ failed: Header? = nil) {
        if !locked.isUncertain { sweepHardware(locked.header, after: failed) }
    }

    /// Lets go of what is noted and not named by the header, which is genuine and which the caller holds. What cannot be
    /// let go of now stays noted.
    /// - Parameter failed: A header that could not be written, perhaps because nothing could be.
    func sweepHardware(_ header: Header, after failed: Header? = nil) {
        guard var noted = HardwareNote.read(in: home) ?? failed.map({ _ in HardwareNote() }) else { return }
        if let failed { noted.add(HardwareNote(of: failed)) }
        let named = HardwareNote(of: header)
        var left = noted
        left.shares.removeAll { share in
            if named.shares.contains(where: { $0.name == share.name }) { return true }
            guard let tier = settings.tier else { return false }
            do throws(KeyStoreError) { try tier.destroy(share) } catch { return false }
            return true
        }
        left.items.removeAll { item in
            if named.items.contains(item) { return true }
            guard let store = ownerStores?.store(of: item.kind) else { return false }
            do throws(KeyStoreError) { try store.delete(item) } catch { return false }
            return true
        }
        if let vault = left.anchor, named.anchor == vault || release(vault) { left.anchor = nil }
        if left.isEmpty { return HardwareNote.remove(in: home) }
        if left != noted { try? left.write(in: home) }
    }

    private func release(_ vault: VaultID) -> Bool {
        guard let anchor = settings.anchor else { return false }
        do throws(KeyStoreError) { try anchor.release(vault) } catch { return false }
        return true
    }
}
