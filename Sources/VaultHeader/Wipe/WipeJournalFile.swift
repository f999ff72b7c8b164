package import VaultFormat
package import VaultStorage
internal import SystemCalls

/// The journal on disk: two sectors written in turn, so that a torn write leaves the one before.
package enum WipeJournalFile {
    package static let name = "wipe.journal"
    package static let part = HomeDirectory.part(of: name)

    /// What is there for this vault; nil when there is none.
    /// - Throws: `damaged` when both sectors hold something that no writer writes, or one of another vault's.
    package static func read(in home: HomeDirectory, vault: VaultID) throws(VaultError) -> WipeJournal? {
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
    package static func save(_ journal: inout WipeJournal, in home: HomeDirectory) throws(VaultError) {
        journal.sequence += 1
        let sector = try format(name, journal.encoded(checksum: HeaderFile.checksum))
        let place = journal.sequence % 2 * UInt64(WipeJournal.size)
        switch try home.kind(of: name) {
        case .file(links: 1, size: _):
            guard let file = try home.openFile(name, O_RDWR) else { throw .damaged("\(name) cannot be opened") }
            try file.write(sector, at: place)
            try file.synchronize()
        case .folder: throw .damaged("\(name) is not a regular file")
        // A file that has another name elsewhere is not ours to write to, nor is a link.
        case .absent, .file, .special:
            try home.publish(name) { file throws(VaultError) in try file.write(sector, at: place) }
        }
    }

    /// Makes sure that a wipe by any program knows of an app's targets.
    package static func register(_ targets: [any WipeTarget], in home: HomeDirectory, vault: VaultID) throws(VaultError)
    {
        guard !targets.isEmpty else { return }
        let ids = try WipeTargetID.all(of: targets)
        guard !missing(ids, in: known(in: home, vault)).isEmpty else { return }
        // Under the header's lock: another program that registers now is not undone, and a wipe that has ended
        // meanwhile gets no journal again.
        let header = try LockedHeader.lock(home, flags: O_RDONLY, patience)
        guard try HeaderFile.decide(header.read(Header.fileSize, at: 0), home).header.vault == vault else { return }
        var journal = known(in: home, vault)
        let new = missing(ids, in: journal).map { WipeItem($0) }
        // Foreign names that fill it are removed.
        journal.items = Array((new + journal.items).prefix(WipeJournal.maximumItems))
        try save(&journal, in: home)
    }

    /// Milliseconds to wait for another process; a target that cannot register now does so at its next start.
    private static let patience = 2000

    /// A damaged journal is made anew: names are all that it held.
    private static func known(in home: HomeDirectory, _ vault: VaultID) -> WipeJournal {
        ((try? read(in: home, vault: vault)) ?? nil) ?? WipeJournal(vault: vault)
    }

    private static func missing(_ ids: [WipeTargetID], in journal: WipeJournal) -> [WipeTargetID] {
        ids.filter { id in !journal.items.contains { $0.target == id } }
    }
}
