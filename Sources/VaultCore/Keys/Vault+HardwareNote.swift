internal import KeyStores
internal import SecretMemory
internal import VaultFormat
internal import VaultHeader
internal import VaultLog
internal import VaultStorage

/// Makes shares of counted slots, each of which is noted before the hardware has it.
struct ShareMaker: Sendable {
    let tier: any AttemptTier
    let home: HomeDirectory
    /// Whose they are from then on.
    let owner: HardwareOwner
    /// Of the master keys that the header before and the one after are under.
    let noteKeys: [NoteKey]

    /// As ``AttemptTier/makeShare(authorisation:limit:for:note:)``.
    func make(authorisation: borrowing SecretBytes, limit: Int) throws(KeyStoreError) -> HardwareShare {
        let present: HardwareNote
        do throws(VaultError) { present = try HardwareNote.genuine(in: home, noteKeys) ?? HardwareNote() } catch {
            throw KeyStoreError(.failure, error.reason)
        }
        return try tier.makeShare(authorisation: authorisation, limit: limit, for: owner) {
            object throws(KeyStoreError) in
            // A place that now holds another program's object is removed from the note.
            var note = present
            note.shares.append(object)
            do throws(VaultError) { try note.write(in: home, noteKeys) } catch {
                throw KeyStoreError(.failure, error.reason)
            }
        }
    }

    /// Takes a share back that no header will name.
    func discard(_ object: HardwareObject) { _ = try? tier.destroy(object, of: owner) }
}

extension Vault {
    /// Notes what either of two headers names, before the one is written over the other. What the old one names for
    /// another home is left to that home, and not noted.
    func noteHardware(of old: Header, and new: Header, _ keys: [NoteKey]) throws(VaultError) {
        let (before, after) = (HardwareNote(of: old), HardwareNote(of: new))
        let leaving = old.home == new.home ? old.shareItems.filter { !new.shareItems.contains($0) } : []
        guard before != after || keys.count > 1 || !leaving.isEmpty else { return }
        var note = before == after || old.home != new.home ? HardwareNote() : before
        if before != after { note.add(after) }
        note.leaving = leaving
        try HardwareNote.add(note, in: home, keys)
    }

    /// After a header could not be written: lets go of what was made for it. If it is unknown which of the two the next
    /// reader finds, both keep what they name; it is noted, and deleted at the next unlock with the passcode.
    /// - Parameters:
    ///   - failed: The header, where there was one already.
    ///   - owner: Whose things were made for it.
    func sweepHardware(
        afterFailing locked: borrowing LockedHeader, _ failed: Header?, of owner: HardwareOwner, _ key: NoteKey
    ) {
        if !locked.isUncertain { sweepHardware(locked.header, after: failed, of: owner, key) }
    }

    /// Lets go of what is noted and not named by the header, which is genuine and which the caller holds. What cannot
    /// be let go of now stays noted; what was not made for this home is left to its own, and noted no longer.
    /// - Parameters:
    ///   - failed: A header that could not be written, perhaps because nothing could be.
    ///   - owner: The home's identity as found before the change: what is in the folder now may have been planted.
    ///   - key: Of the header's master key: what it did not note is not acted on.
    ///   - finish: Called once what has to go is gone, before the note is.
    func sweepHardware(
        _ header: Header, after failed: Header? = nil, of owner: HardwareOwner, _ key: NoteKey,
        beforeForgetting finish: () -> Void = {}
    ) {
        let genuine: HardwareNote?
        do throws(VaultError) { genuine = try HardwareNote.genuine(in: home, [key]) } catch { return finish() }
        guard var noted = genuine ?? failed.map({ _ in HardwareNote() }) else { return finish() }
        let finished = noted.settle(header)
        if let failed {
            noted.add(HardwareNote(of: failed))
            noted.owed += failed.shareItems.filter { !header.shareItems.contains($0) && !noted.owed.contains($0) }
        }
        let named = HardwareNote(of: header)
        var left = noted
        left.shares.removeAll { share in
            if named.shares.contains(where: { $0.name == share.name }) { return true }
            guard let tier = settings.tier else { return false }
            do throws(KeyStoreError) { _ = try tier.destroy(share, of: owner) } catch { return false }
            return true
        }
        left.anchors.removeAll { held in
            if named.anchors.contains(held) || held != owner { return true }
            guard let anchor = settings.anchor else { return false }
            do throws(KeyStoreError) { try anchor.release(owner) } catch { return false }
            return true
        }
        left.owed.removeAll { isRevoked($0, of: owner) }
        if let finished { log.append(.levelChanged(from: finished.from, to: finished.to)) }
        finish()
        if left.isEmpty { return HardwareNote.remove(in: home) }
        var before = genuine
        before?.provedBy = .both
        if left != before { try? left.write(in: home, [key]) }
    }

    /// Has a store revoke a share. What is another vault's or home's is left alone, and is waited for no longer.
    private func isRevoked(_ item: ShareItem, of owner: HardwareOwner) -> Bool {
        do throws(VaultError) {
            _ = try shares { stores throws(ShareFailure) in try stores.revoke(item, of: owner) }
            return true
        } catch { return false }
    }
}
