internal import KeyStores
internal import VaultFormat

extension Vault {
    /// Whose hardware this home may write to or let go of: that of a header which was made for the home's own wipe key. Nil
    /// in a backup or a restored home until its header is written anew: what its header names in hardware belongs to the
    /// home that it came from.
    func owner(of header: Header) -> HardwareOwner? {
        guard let key = WipeKeyFile.stored(in: home, vault: header.vault), key.owner.home == header.home
        else { return nil }
        return key.owner
    }

    /// Puts back a wipe key that somebody took away: while it is missing, nothing in hardware could be let go of. One that is
    /// there, and is not the header's, stays: a backup has such a one.
    func restoreWipeKey(_ header: Header, _ keys: borrowing HeaderKeys) {
        guard WipeKeyFile.stored(in: home, vault: header.vault) == nil,
            let key = keys.openWipeKey(of: header)
        else { return }
        try? WipeKeyFile.write(key, in: home)
    }

    /// Makes a header that is about to be written this home's, before anything is made in hardware for it. A key that lies
    /// here and is not the header's may be anybody's: then the home gets another one.
    /// - Parameters:
    ///   - header: The new header.
    ///   - keys: Of its master key.
    ///   - isGenuine: Whether the header says by its MAC which key is this home's.
    /// - Throws: What writing can throw.
    func claim(
        _ header: inout Header, _ keys: borrowing HeaderKeys, isGenuine: Bool = true
    ) throws(VaultError) {
        if isGenuine, let key = try WipeKeyFile.load(in: home, vault: header.vault), key.owner.home == header.home {
            return try header.belong(to: key, keys)
        }
        try header.belong(to: WipeKeyFile.make(in: home, vault: header.vault), keys)
    }

    /// Whether the header names things in hardware that this home lets nobody go of: a backup, a restored home, or one whose
    /// wipe key somebody has exchanged.
    package var leavesHardware: Bool {
        guard let header = try? HeaderFile.read(in: home) else { return false }
        return !HardwareNote(of: header).isEmpty && owner(of: header) == nil
    }
}
