internal import SystemCalls
package import VaultFormat
internal import VaultHeader
package import VaultStorage

/// A folder with backups of a vault, each named by its time in UTC: `2026-11-26T17-04-05Z`.
package struct BackupGenerations {
    package let path: String
    package let vault: VaultID
    /// Those of this vault, the oldest first.
    package let names: [String]
    /// Those of this vault that are of a time after tomorrow.
    package let ahead: [String]
    /// Nobody else writes or removes backups here meanwhile; nil where the folder is not there yet.
    private let lock: FileLock?

    private static let latest: Int64 = 253_402_300_799  // the last second of the year 9999

    package init(in path: String, of vault: VaultID, at time: Int64) throws(VaultError) {
        self.path = path
        self.vault = vault
        guard unsafe access(path, F_OK) == 0 else {
            (names, ahead, lock) = ([], [], nil)
            return
        }
        let home = try HomeDirectory(path: path, takesLinked: true)
        guard !home.exists(HeaderFile.name), !home.exists(BackupManifest.fileName) else {
            throw VaultError(
                .exists, "\(path) is a vault or a backup itself, and not a folder for several; nothing was changed")
        }
        guard let lock = try home.lockFolder() else {
            throw VaultError(.busy, "another process writes a backup in \(path)")
        }
        self.lock = lock
        var own: [String] = []
        for name in try home.names(in: ".").sorted()
        where BackupGenerations.time(name) != nil && EarlierBackup.isFolder(path + "/" + name) {
            // What an interrupted backup or removal left is nobody's.
            try? EarlierBackup.finishRemoval(at: path + "/" + name)
            if BackupGenerations.vault(at: path + "/" + name) == vault { own.append(name) }
        }
        names = own.filter { !BackupGenerations.isAhead($0, of: time) }
        ahead = own.filter { BackupGenerations.isAhead($0, of: time) }
    }

    /// Whether a name is of a time after tomorrow. A clock that is a little wrong, or of another zone, is nobody's
    /// mistake.
    package static func isAhead(_ name: String, of time: Int64) -> Bool {
        BackupGenerations.time(name).map { $0 - 86_400 > time } ?? false
    }

    /// Later than those that are there, whatever the clock says.
    package func nextName(at time: Int64) throws(VaultError) -> String {
        var time = max(time, 0, (names.last.flatMap(BackupGenerations.time) ?? -1) + 1)
        while time <= BackupGenerations.latest {
            if let name = BackupGenerations.name(time), unsafe access(path + "/" + name, F_OK) != 0 { return name }
            time += 1
        }
        throw VaultError(.exists, "no later date can be written than that of the newest backup in \(path)")
    }

    /// - Returns: How many went, and the names of those that are not what was written: they may have what nothing else
    ///   has.
    package func remove(_ names: some Sequence<String>) -> (removed: Int, left: [String]) {
        var removed = 0
        var left: [String] = []
        for name in names {
            do throws(VaultError) {
                guard let earlier = try EarlierBackup(at: path + "/" + name, of: vault) else { continue }
                try earlier.requireWhole()
                try earlier.remove()
                removed += 1
            } catch { left.append(name) }
        }
        return (removed, left)
    }

    /// The vault that a folder is a backup of.
    package static func vault(at path: String) -> VaultID? {
        guard let home = try? HomeDirectory(path: path, takesLinked: true), home.exists(HeaderFile.name) else {
            return nil
        }
        return (try? BackupManifest.read(in: home))??.vault
    }

    /// The date in UTC; nil beyond the years that a name can have.
    private static func name(_ time: Int64) -> String? {
        guard (0..<253_402_300_800).contains(time) else { return nil }
        let (days, second) = (Int(time / 86_400), Int(time % 86_400))
        // Years begin in March, so that the day that some have more is their last one; 719,468 days lie between March
        // of the year 0 and 1970, and 146,097 in 400 years.
        let day = (days + 719_468) % 146_097
        let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365
        let ofYear = day - (365 * year + year / 4 - year / 100)
        let month = (5 * ofYear + 2) / 153
        let ofMonth = ofYear - (153 * month + 2) / 5 + 1
        let number = month < 10 ? month + 3 : month - 9
        let full = (days + 719_468) / 146_097 * 400 + year + (number <= 2 ? 1 : 0)
        func text(_ number: Int, _ digits: Int = 2) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, digits - text.count)) + text
        }
        return "\(text(full, 4))-\(text(number))-\(text(ofMonth))T"
            + "\(text(second / 3600))-\(text(second / 60 % 60))-\(text(second % 60))Z"
    }

    /// Nil for what is no such name.
    package static func time(_ name: String) -> Int64? {
        let parts = name.split { !$0.isASCII || !$0.isNumber }.compactMap { Int64($0) }
        guard name.utf8.count == 20, parts.count == 6, (1970...9999).contains(parts[0]) else { return nil }
        let (year, month) = parts[1] > 2 ? (parts[0], parts[1] - 3) : (parts[0] - 1, parts[1] + 9)
        let (ofYear, ofEra) = ((153 * month + 2) / 5 + parts[2] - 1, year % 400)
        let day = year / 400 * 146_097 + ofEra * 365 + ofEra / 4 - ofEra / 100 + ofYear - 719_468
        let time = day * 86_400 + parts[3] * 3600 + parts[4] * 60 + parts[5]
        // A date that there is, written as we write it.
        return self.name(time) == name ? time : nil
    }
}
