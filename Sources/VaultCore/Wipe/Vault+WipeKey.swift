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

    /// Makes a header that is about to be written this home's, before anything is made in hardware for it.
    /// - Parameters:
    ///   - header: The new header.
    ///   - keys: Of its master key.
    /// - Throws: What writing can throw.
    func claim(_ header: inout Header, _ keys: borrowing HeaderKeys) throws(VaultError) {
        if let key = try WipeKeyFile.load(in: home, vault: header.vault) { return try header.belong(to: key, keys) }
        try header.belong(to: WipeKeyFile.make(in: home, vault: header.vault), keys)
    }
}
