import Foundation
import TestSupport
import Testing
import VaultCore
import VaultStorage

/// Several backups in one folder, the oldest of which go.
@Suite struct BackupGenerationTests {
    private let noon: Int64 = 1_795_694_400  // 2026-11-26T12-00-00Z

    private func names(_ folder: TestHome) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    @Test func `the last ones stay, called by their time`() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        let folder = try TestHome()
        for hour in 0..<4 {
            let report = try vault.backup(generationsIn: folder.path, keeping: 2, time: noon + Int64(hour) * 3600)
            #expect(report.removed == max(0, min(1, hour - 1)) && report.left.isEmpty)
        }
        #expect(try names(folder) == ["2026-11-26T14-00-00Z", "2026-11-26T15-00-00Z"])
        #expect(Vault.newestGeneration(in: folder.path, at: noon) == folder.path + "/2026-11-26T15-00-00Z")
        let restored = try TestHome()
        _ = try Vault.restore(from: folder.path + "/2026-11-26T15-00-00Z", to: restored.path)
    }

    @Test func `a clock that was put back, or a little ahead, removes no newer one`() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        let folder = try TestHome()
        var made: [String] = []
        for time in [noon, noon - 3600, noon + 86_400, noon + 60] {
            made.append(try vault.backup(generationsIn: folder.path, keeping: 3, time: time).path)
        }
        #expect(made == made.sorted() && Set(made).count == 4)
        #expect(try names(folder).map { folder.path + "/" + $0 } == Array(made.suffix(3)))
        #expect(made[1].hasSuffix("/2026-11-26T12-00-01Z"))
    }

    @Test func `a backup of a time after tomorrow is left alone, and refuses no further ones`() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        let folder = try TestHome()
        let last = "9999-12-31T23-59-59Z"
        #expect(
            try vault.backup(generationsIn: folder.path, keeping: 1, time: 253_402_300_799).path.hasSuffix(last))
        for minute in 0..<3 {
            let report = try vault.backup(generationsIn: folder.path, keeping: 1, time: noon + Int64(minute) * 60)
            #expect(report.removed == min(1, minute) && report.left.isEmpty && report.ahead == [last])
        }
        #expect(try names(folder) == ["2026-11-26T12-02-00Z", last])
        #expect(Vault.newestGeneration(in: folder.path, at: noon)?.hasSuffix("2026-11-26T12-02-00Z") == true)
        #expect(Vault.newestGeneration(in: folder.path, at: 253_402_300_799)?.hasSuffix(last) == true)
    }

    @Test func `only whole backups of this vault are ever removed`() throws {
        let (home, stranger) = (try TestHome(), try TestHome())
        let (vault, other) = (try home.unlocked(), try stranger.unlocked())
        let folder = try TestHome()
        _ = try other.backup(generationsIn: folder.path, keeping: 1, time: noon)
        let opened = try vault.backup(generationsIn: folder.path, keeping: 1, time: noon + 60).path
        // It was opened, and has what nothing else has.
        let copy = try Vault(at: opened)
        try copy.unlock("right")
        try copy.put([1], "only here")
        copy.lock()
        try FileManager.default.createDirectory(
            atPath: folder.path + "/2020-01-01T00-00-00Z", withIntermediateDirectories: false)
        try Data([1]).write(to: URL(filePath: folder.path + "/2020-01-01T00-00-00Z/photo"))
        try Data([1]).write(to: URL(filePath: folder.path + "/notes"))
        let report = try vault.backup(generationsIn: folder.path, keeping: 1, time: noon + 120)
        #expect(report.removed == 0 && report.left == ["2026-11-26T12-01-00Z"])
        #expect(
            try names(folder) == [
                "2020-01-01T00-00-00Z", "2026-11-26T12-00-00Z", "2026-11-26T12-01-00Z", "2026-11-26T12-02-00Z", "notes",
            ])
        #expect(FileManager.default.fileExists(atPath: folder.path + "/2020-01-01T00-00-00Z/photo"))
    }

    @Test func `a vault, and a backup, are no folder for several`() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        let copy = try TestHome()
        _ = try vault.backup(to: copy.path)
        for path in [home.path, copy.path] {
            #expect(errorCode { _ = try vault.backup(generationsIn: path, keeping: 1, time: noon) } == .exists)
        }
        try vault.put([1], "still works")
    }

    /// What a link leads to is somebody's.
    @Test func `a link is no backup, and what it leads to stays`() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        let (folder, kept) = (try TestHome(), try TestHome())
        let manager = FileManager.default
        _ = try vault.backup(to: kept.path + "/mine")
        let before = try manager.contentsOfDirectory(atPath: kept.path + "/mine").sorted()
        let newest = try vault.backup(generationsIn: folder.path, keeping: 3, time: noon).path
        for (name, target) in [("2001-01-01T00-00-00Z", kept.path + "/mine"), ("2002-01-01T00-00-00Z", newest)] {
            try manager.createSymbolicLink(atPath: folder.path + "/" + name, withDestinationPath: target)
        }
        let report = try vault.backup(generationsIn: folder.path, keeping: 2, time: noon + 60)
        #expect(report.removed == 0 && manager.fileExists(atPath: newest + "/header"))
        #expect(try manager.contentsOfDirectory(atPath: kept.path + "/mine").sorted() == before)

        // Beside a backup that is brought up to date.
        for left in ["old", "new"] {
            let link = kept.path + "/other.holdfast-" + left
            if left == "old" { _ = try vault.backup(to: kept.path + "/other") }
            try manager.createSymbolicLink(atPath: link, withDestinationPath: kept.path + "/mine")
            #expect(errorCode { _ = try vault.backup(to: kept.path + "/other", updating: true) } == .exists)
            #expect(try manager.contentsOfDirectory(atPath: kept.path + "/mine").sorted() == before)
            try manager.removeItem(atPath: link)
        }
        _ = try vault.backup(to: kept.path + "/other", updating: true)
    }
}
