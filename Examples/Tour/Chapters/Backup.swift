internal import Holdfast
internal import HoldfastCommand

extension Chapter {
    static let backup = Chapter(
        title: "Backup",
        steps: [
            Step("backed up while open") { tour in
                let report = try tour.openedApp().vault.backup(to: tour.backupFolder)
                return "\(Format.count(report.files, "file")), \(Format.size(report.bytes))"
            },
            Step("restored next to it") { tour in
                let report = try Vault.restore(from: tour.backupFolder, to: tour.restoredFolder)
                return "\(Format.count(report.files, "file")) matched the manifest"
            },
            Step("opened, verified and compared the copy") { tour in
                let app = try HoldfastApp(at: tour.restoredFolder)
                try await tour.unlock(app, with: tour.passcode)
                let result = try app.vault.verify()
                try tour.expect(result.isIntact, "the restored vault is damaged")
                try tour.expect(result.records == Samples.items.count + 1, "\(result.records) records were restored")
                let bytes = try tour.compareAll(app.vault)
                await app.lock.forceLock()
                return "intact, \(Format.grouped(bytes)) bytes are the same"
            },
            Step("verified the first one") { tour in
                let app = try tour.openedApp()
                let result = try app.vault.verify()
                try tour.expect(result.isIntact, "the vault is damaged")
                try tour.expect(result.orphanedFiles == 0, "\(result.orphanedFiles) files belong to no record")
                await app.lock.forceLock()
                return "\(result.records) of \(result.expectedRecords) records right, \(result.files) file"
            },
        ])
}

extension Tour {
    var backupFolder: String { scratch + "/backup" }
    var restoredFolder: String { scratch + "/restored" }
}
