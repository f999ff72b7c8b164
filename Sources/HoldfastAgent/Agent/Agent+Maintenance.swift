internal import AgentMessages
internal import Items
internal import VaultCore
internal import VaultFormat
internal import VaultLog
internal import VaultStorage
internal import OpenStorage

// The inbox, the security log, and the check of everything that is stored.
extension Agent {
    func handle(_ request: MaintenanceRequest, _ connection: Connection) {
        switch request {
        case .inbox: begin(connection) { vault in (try Work.packets(of: vault.inbox()), .rest) }
        case .acceptInbox(let acceptance):
            begin(connection) { vault in
                var besides: [RecordName] = []
                if let name = acceptance.name, let collection = acceptance.collection {
                    besides = EntryPath(collection: collection, name: name).twins.compactMap(\.record)
                }
                let place = try vault.confirm(
                    acceptance.item, as: acceptance.name, in: acceptance.collection, replacing: acceptance.isReplacing,
                    besides: besides)
                return (try Work.packets(of: [place.collection, place.name]), .rest)
            }
        case .rejectInbox(let name):
            begin(connection) { vault in
                try vault.reject(name)
                return ([try Packet(.done)], .rest)
            }
        case .securityLog:
            begin(connection, on: examining) { vault in (try Work.packets(of: vault.securityLog()), .rest) }
        case .verify:
            let (number, completions) = (connection.number, completions)
            begin(connection, on: examining) { vault in
                var told = 0
                let found = try vault.verify { done, total in
                    // A hundred answers, however much there is.
                    guard done - told >= max(1, total / 100) else { return }
                    told = done
                    completions.post(.say(number, .progress(done: UInt64(done), total: UInt64(total))))
                }
                return (try Work.packets(of: found), .rest)
            }
        }
    }
}

extension Work {
    static func packets(of inbox: [Vault.InboxItem]) throws -> [Packet] {
        let entries = try inbox.map { item in
            guard let original = RecordName(collection: item.originalCollection, name: item.originalName) else {
                throw VaultError(.damaged, "damaged: a record's name is too long")
            }
            return InboxEntry(
                name: item.name, original: original, size: item.size, created: item.created, modified: item.modified,
                wasSealed: item.wasSealed)
        }
        return try parts(entries) { $0.encodedSize }.map { try Packet(.inbox(Array($0))) }
            + [try Packet(.finished(UInt64(entries.count)))]
    }

    /// Entries, findings, notes, and how many entries there are.
    static func packets(of report: SecurityLogReport) throws -> [Packet] {
        let entries = report.entries.map {
            LoggedEntry(index: $0.index, entry: LogEntry(moment: $0.moment, event: $0.event))
        }
        let findings = report.findings.map {
            LogFinding(kind: $0.kind.description, position: $0.position, text: $0.text)
        }
        var packets = try parts(entries) { _ in LoggedEntry.encodedSize }.map { try Packet(.logEntries(Array($0))) }
        packets += try parts(findings) { $0.encodedSize }.map { try Packet(.logFindings(Array($0))) }
        packets += try parts(report.notes) { 2 + $0.utf8.count }.map { try Packet(.texts(Array($0))) }
        return packets + [try Packet(.finished(UInt64(entries.count)))]
    }

    /// The records whose files are damaged, and then the rest.
    static func packets(of found: Vault.Verification) throws -> [Packet] {
        let files = found.damagedFiles.compactMap { file in
            RecordName(collection: file.collection, name: file.name).map { path in
                RecordEntry(
                    path: path, size: file.size, created: file.created, modified: file.modified, isFile: file.isFile,
                    isOpen: file.origin == .open, isItem: file.isItem)
            }
        }
        var report = VerificationReport()
        report.records = UInt64(found.records)
        report.expectedRecords = found.expectedRecords
        report.files = UInt64(found.files)
        report.damagedRecords = UInt64(found.damagedRecords)
        report.isRolledBack = found.isRolledBack
        report.arePagesWhole = found.arePagesWhole
        report.orphanedFiles = UInt64(found.orphanedFiles)
        report.openItems = UInt64(found.open.items)
        report.openUnreadable = UInt64(found.open.unreadable)
        report.isOpenAltered = found.open.isAltered
        report.hasSetAside = found.open.hasSetAside
        report.publicKey = found.open.publicKey.rawValue
        return try parts(files) { $0.encodedSize }.map { try Packet(.records(Array($0))) }
            + [try Packet(.verification(report))]
    }
}
