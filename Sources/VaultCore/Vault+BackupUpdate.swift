internal import VaultFolders
internal import VaultFormat
internal import VaultHeader
internal import VaultStorage
internal import SystemCalls

extension Vault {
    /// Writes the next backup beside the earlier one, then has it take its place. Whoever looks finds one or the other.
    /// - Returns: Nil where no earlier backup is.
    func update(
        _ place: BackupPlace, progress: (UInt64, UInt64) throws(VaultError) -> Void
    ) throws(VaultError) -> CopyReport? {
        try place.bringBack(of: id)
        guard let earlier = try EarlierBackup(at: place.path, of: id) else { return nil }
        try earlier.requireUnchanged()
        try place.requireRoomBeside()
        try place.clear(of: id)
        let report = try backup(into: place.new, reusing: earlier, progress: progress)
        try place.swap(earlier)
        return report
    }
}
