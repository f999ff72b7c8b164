internal import VaultFormat

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// The journal on disk: two sectors written in turn, so that a torn write leaves the one before.
enum WipeJournalFile {
    static let name = "wipe.journal"

    /// What is there for this vault; nil when there is none.
    /// - Throws: `damaged` when both sectors hold something that no writer writes, or one of another vault's.
    static func read(in home: HomeDirectory, vault: VaultID) throws(VaultError) -> WipeJournal? {
        guard let file = try home.openFile(name, O_RDONLY) else { return nil }
        let bytes = try file.read(WipeJournal.fileSize, at: 0)
        guard bytes.contains(where: { $0 != 0 }) else { return nil }
        var newest: WipeJournal?
        var problem = FormatError.wrongSize
        for start in [0, WipeJournal.size] where bytes.count >= start + WipeJournal.size {
            do throws(FormatError) {
                let sector = Array(bytes[start..<start + WipeJournal.size])
                let journal = try WipeJournal(parsing: sector, checksum: HeaderFile.checksum)
                guard journal.vault == vault else { throw .invalid(field: "journal vault") }
                if journal.sequence >= newest?.sequence ?? 0 { newest = journal }
            } catch { problem = error }
        }
        guard let newest else { throw VaultError(problem, in: name) }
        return newest
    }

    /// Writes the next state durably over the older sector.
    static func save(_ journal: inout WipeJournal, in home: HomeDirectory) throws(VaultError) {
        // A file that has another name elsewhere is not ours to write to, nor is a link.
        switch try home.kind(of: name) {
        case .absent, .folder, .file(links: 1, size: _): break
        case .file, .special: try home.unlink(name)
        }
        let isNew = !home.exists(name)
        guard let file = try home.openFile(name, O_RDWR | O_CREAT) else {
            throw .damaged("\(name) cannot be opened")
        }
        journal.sequence += 1
        let sector = try format(name) { () throws(FormatError) in
            try journal.encoded(checksum: HeaderFile.checksum)
        }
        try file.write(sector, at: journal.sequence % 2 * UInt64(WipeJournal.size))
        try file.synchronize()
        if isNew { try home.synchronize() }
    }

    /// Makes sure that a wipe by any program knows of an app's targets.
    static func register(_ targets: [any WipeTarget], in home: HomeDirectory, vault: VaultID) throws(VaultError) {
        guard !targets.isEmpty else { return }
        let ids = try Wipe.identifiers(of: targets)
        // A damaged journal is made anew: names are all that it held.
        var journal = (try? read(in: home, vault: vault)) ?? WipeJournal(vault: vault)
        let missing = ids.filter { id in !journal.items.contains { $0.target == id } }
        guard !missing.isEmpty else { return }
        journal.items += missing.map { WipeItem($0) }
        try save(&journal, in: home)
    }
}
