/// A name on a road that no writer of ours gives. It is passed over and counted, whatever it is; the kind is for the
/// status alone.
package enum RoadStranger: Sendable, Hashable, CaseIterable {
    /// What a sync tool keeps beside a file when two devices wrote it.
    case conflictCopy
    /// What is still being written, by us or by a sync tool.
    case unfinished
    /// A name of ours for what is no file, or no folder.
    case wrongKind
    /// Anything else.
    case unknown

    /// - Parameter name: One that is no file's or folder's of ours.
    package init(name: [UInt8]) {
        if RoadStranger.conflictWords.contains(where: { name.contains($0) }) {
            self = .conflictCopy
        } else if RoadStranger.isUnfinished(name) {
            self = .unfinished
        } else {
            self = .unknown
        }
    }

    /// Syncthing; Dropbox and Nextcloud; ownCloud of earlier days.
    private static let conflictWords = [".sync-conflict-", "conflicted copy", "_conflict-"].map { Array($0.utf8) }

    private static func isUnfinished(_ name: [UInt8]) -> Bool {
        let beginnings = [RoadPart.beginning, ".syncthing.", "~syncthing~", ".nfs", ".fuse_hidden"]
        let endings = ["~", ".tmp", ".part", ".partial", ".crdownload"]
        return beginnings.contains { name.starts(with: $0.utf8) }
            || endings.contains { name.reversed().starts(with: $0.utf8.reversed()) }
            || isHiddenName(name)
    }

    /// rsync and Nextcloud: a full stop, our name, and some letters behind another one.
    private static func isHiddenName(_ name: [UInt8]) -> Bool {
        guard name.first == fullStop, let end = name.dropFirst().firstIndex(of: fullStop) else { return false }
        let inner = name[1..<end]
        return EntryFileName(name: inner) != nil || PieceFileName(name: inner) != nil
            || JoinFileName(name: inner) != nil
    }

    private static let fullStop = UInt8(ascii: ".")
}

/// The name that a file of ours has until it is whole.
package enum RoadPart {
    package static let beginning = ".part-"

    /// - Parameter number: Random.
    package static func name(_ number: UInt64) -> String { beginning + RoadNumber(number).description }

    /// Whether a writer of ours gives such a name.
    package static func isName(_ name: [UInt8]) -> Bool {
        name.starts(with: beginning.utf8) && RoadNumber(digits: name.dropFirst(beginning.utf8.count)) != nil
    }
}

/// What may lie in a folder before it becomes a road: what the programs and systems that carry it put there. Anything
/// else is the user's, who chose the wrong folder.
package enum RoadCompany {
    package static func isHarmless(_ name: [UInt8]) -> Bool {
        names.contains { name.elementsEqual($0.utf8) } || beginnings.contains { name.starts(with: $0.utf8) }
    }

    private static let names = [
        // Syncthing, git, Nextcloud, ownCloud, Dropbox, Resilio.
        ".stfolder", ".stignore", ".stversions", ".git", ".gitignore", ".gitattributes", ".gitkeep", ".keep",
        ".nextcloudsync.log", ".owncloudsync.log", ".sync-exclude.lst", ".dropbox", ".dropbox.cache", ".dropbox.attr",
        ".sync", ".rsync-filter",
        // File systems and desktops.
        "lost+found", "System Volume Information", "$RECYCLE.BIN", "@eaDir", "#recycle", ".snapshot", ".snapshots",
        ".directory", ".DS_Store", ".Spotlight-V100", ".fseventsd", ".Trashes", ".hidden", "desktop.ini", "Thumbs.db",
    ]
    private static let beginnings = [
        RoadPart.beginning, ".stfolder-", ".syncthing.", "~syncthing~", ".sync_", "._", ".Trash-", ".nfs",
        ".fuse_hidden",
    ]
}
