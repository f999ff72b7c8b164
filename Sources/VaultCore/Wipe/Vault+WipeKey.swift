internal import KeyStores
internal import VaultFormat
internal import VaultHeader
package import VaultStorage

// Before the vault is opened, the key in the folder is the only evidence. Once the header's MAC is proved, the header
// itself has the key: what is decided then holds for the whole change, whatever is planted meanwhile.
extension Vault {
    /// Whose hardware this home may write to before the header is known to be genuine: that of a header which was made
    /// for the home's own wipe key. Nil in a backup or a restored home until its header is written anew.
    func owner(of header: Header) -> HardwareOwner? {
        guard let owner = WipeKeyFile.owner(in: home, vault: header.vault), owner.home == header.home else {
            return nil
        }
        return owner
    }

    /// Looks once at what the folder is.
    /// - Parameters:
    ///   - header: Genuine, where anything follows from the answer.
    ///   - keys: Of its master key: what this vault noted of hardware counts too. None before they are known.
    func standing(of header: Header, _ keys: [NoteKey] = []) -> HomeStanding {
        // What a copy names in key stores is the original's, and the copy says of itself that it is one.
        var namesHardware = !HardwareNote(of: header).isEmpty || !header.shareItems.isEmpty && !isCopy
        if !keys.isEmpty {
            do throws(VaultError) {
                if let noted = try HardwareNote.genuine(in: home, keys), !noted.isEmpty { namesHardware = true }
            } catch { namesHardware = true }  // it is not known what is noted
        }
        return HomeStanding(
            header: header.home, stored: WipeKeyFile.owner(in: home, vault: header.vault)?.home,
            namesHardware: namesHardware)
    }

    /// Makes a header that is about to be written this home's, before anything is made in hardware for it. A key that
    /// lies here and is not the header's may be anybody's: then the home gets another one.
    /// - Parameters:
    ///   - header: The new header, so far with the home of the one that is there.
    ///   - standing: As it was found when the header's MAC had been checked.
    ///   - keys: Of the new header's master key.
    /// - Throws: `hardwareUnclaimed`, with nothing written; what writing can throw.
    func claim(
        _ header: inout Header, _ standing: HomeStanding, _ keys: borrowing HeaderKeys
    ) throws(VaultError) {
        switch standing {
        case .own: return
        case .copy:
            let before = WipeKeyFile.owner(in: home, vault: header.vault)
            try header.belong(to: WipeKeyFile.make(in: home, vault: header.vault), keys)
            if header.policy.selfDestruct { try? forgetDestruction(of: before) }
        case .unsettled: throw .hardwareUnclaimed
        }
    }

    /// As ``claim(_:_:_:)``, for a header under another master key than the present one.
    func claim(
        _ header: inout Header, _ standing: HomeStanding, opening old: borrowing HeaderKeys,
        _ new: borrowing HeaderKeys
    ) throws(VaultError) {
        guard standing == .own else { return try claim(&header, standing, new) }
        try header.belong(to: old.ownWipeKey(of: header), new)
    }

    /// Whether the header names things in hardware that this folder is not known to own: a backup, a restored home, or
    /// the vault itself with an exchanged wipe key. Nothing of it is authenticated while the vault is locked.
    package var leavesHardware: Bool {
        guard let header = try? HeaderFile.read(in: home) else { return false }
        return standing(of: header) == .unsettled
    }

    /// As `leavesHardware`, for a command that changes the header: asked before anything is typed.
    /// - Throws: `hardwareUnclaimed`.
    package func requireClaimedHardware() throws(VaultError) {
        if leavesHardware { throw .hardwareUnclaimed }
    }
}

extension Header {
    /// Whether it names anything in a chip or key store.
    var namesHardware: Bool { !HardwareNote(of: self).isEmpty || !shareItems.isEmpty }
}

extension VaultError {
    static let hardwareUnclaimed = VaultError(
        .hardwareUnclaimed,
        "the TPM or keyring holds shares for this vault that were made for another folder: either this folder is a copy (a "
            + "backup, or restored from one), or another program changed its wipe.key; nothing was changed")
}
