package import VaultFormat
internal import VaultHeader
internal import VaultLog
package import VaultStorage

/// Something in the home that a wipe erases.
package struct HomeTarget: Sendable {
    package enum Way: Sendable {
        /// Keys, counts, settings: overwritten in place, flushed, removed.
        case overwrite([String])
        /// Content that only erased keys could read: removed.
        case remove([String])
        /// A folder of such content.
        case folder(String)
        /// A folder of keys.
        case overwriteFolder(String)
    }

    package let id: WipeTargetID
    /// For people.
    package let what: String
    package let way: Way

    package init?(_ id: String, _ what: String, _ way: Way) {
        guard let id = WipeTargetID(id) else { return nil }
        self.id = id
        self.what = what
        self.way = way
    }

    /// The header: its copies are replaced by marks before anything else, the file goes last.
    package static let keys = "keys"
    package static let ledger = "ledger"

    /// Everything else, in the order of erasing: what can open or count before what is merely unreadable.
    package static let all: [HomeTarget] = [
        HomeTarget(ledger, "the attempt ledger", .overwrite([AttemptLedger.name])),
        HomeTarget(
            "open-keys", "keys of the open compartment",
            .overwrite([OpenFiles.key, OpenFiles.damagedKey, OpenFiles.publicKey, OpenFiles.newPublicKey])),
        HomeTarget("owner-shares", "shares of the owner's way in", .overwriteFolder("shares")),
        HomeTarget("log-state", "the key of the security log", .overwrite([LogStateFile.name])),
        HomeTarget(
            "records", "records",
            .remove([DatabaseName.protected.file, DatabaseName.protected.file + "-lock"])),
        HomeTarget("files", "large values", .folder(FileStore.folder)),
        HomeTarget(
            "open-records", "records of the open compartment",
            .remove(OpenFiles.ofRecords)),
        HomeTarget("log", "the security log", .remove([LogSegment.name, LogSegment.previousName, LogSegment.newName])),
        HomeTarget("identity-mark", "what tells the identity's phrase", .overwrite(IdentityMark.names)),
        HomeTarget("agent-socket", "the agent's socket", .folder("agent")),
        HomeTarget("backup-manifest", "the list of a backup", .remove([BackupManifest.fileName])),
        HomeTarget("creation-mark", "the mark of a creation", .remove([HeaderFile.creationMark])),
    ].compactMap { $0 }

    /// Every name that a home of ours can have; others are strangers.
    package static let knownNames: Set<String> = Set(
        all.flatMap(\.names) + HardwareNote.names + [HardwareNote.refused] + ReceiptKeyFile.names
            + WipeKeyFile.names
    ).union([
        HeaderFile.name, HeaderFile.part, WipeJournalFile.name, WipeJournalFile.part,
        WipeReceipt.fileName, WipeReceiptFile.part,
    ])

    package var names: [String] {
        switch way {
        case .overwrite(let names), .remove(let names): names
        case .folder(let name), .overwriteFolder(let name): [name]
        }
    }

    /// Erases it; succeeds if it does not exist.
    package func erase(in home: HomeDirectory) throws(VaultError) -> (result: WipeResult, count: UInt32) {
        switch way {
        case .folder(let name): return try home.eraseFolder(name, overwriting: false)
        case .overwriteFolder(let name): return try home.eraseFolder(name, overwriting: true)
        case .overwrite(let names): return try erase(names, in: home, overwriting: true)
        case .remove(let names): return try erase(names, in: home, overwriting: false)
        }
    }

    private func erase(
        _ names: [String], in home: HomeDirectory, overwriting: Bool
    ) throws(VaultError) -> (result: WipeResult, count: UInt32) {
        var results: [WipeResult] = []
        for name in names { results.append(try home.erase(name, overwriting: overwriting)) }
        let count = UInt32(results.count { $0 == .erased || $0 == .removed })
        let worst = [WipeResult.foreign, .removed, .erased].first { results.contains($0) }
        return (worst ?? .absent, count)
    }

    /// Looks again.
    package func isErased(in home: HomeDirectory) throws(VaultError) -> Bool {
        switch way {
        case .folder(let name), .overwriteFolder(let name): return try home.isErasedFolder(name)
        case .overwrite(let names), .remove(let names):
            for name in names where try !home.isErased(name) { return false }
            return true
        }
    }
}
