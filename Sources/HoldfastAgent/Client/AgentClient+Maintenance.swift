package import AgentMessages
internal import OpenStorage
package import VaultCore
internal import VaultFormat
package import VaultLog
package import VaultStorage

// The inbox, the security log, and the check of everything that is stored.
extension AgentClient {
    /// What waits in the inbox, by name.
    package borrowing func inbox() throws(VaultError) -> [Vault.InboxItem] {
        try send(.maintenance(.inbox))
        var all: [Vault.InboxItem] = []
        while true {
            switch try receiveReply() {
            case .inbox(let entries):
                all += entries.map {
                    Vault.InboxItem(
                        name: $0.name, originalName: $0.original.name, originalCollection: $0.original.collection,
                        size: $0.size, created: $0.created, modified: $0.modified, wasSealed: $0.wasSealed)
                }
            case .finished(let count):
                guard count == UInt64(all.count) else { throw .unexpected }
                return all
            default: throw .unexpected
            }
        }
    }

    /// Stores an item of the inbox among the records.
    /// - Returns: Where it is now.
    /// - Throws: As `Vault.confirm`.
    package borrowing func accept(_ acceptance: Acceptance) throws(VaultError) -> (name: String, collection: String) {
        try send(.maintenance(.acceptInbox(acceptance)))
        guard case .texts(let place) = try receiveReply(), place.count == 2,
            case .finished(2) = try receiveReply()
        else { throw .unexpected }
        return (name: place[1], collection: place[0])
    }

    /// - Throws: As `Vault.reject`.
    package borrowing func reject(_ name: String) throws(VaultError) {
        try expectDone(.maintenance(.rejectInbox(name)))
    }

    /// - Throws: As `Vault.securityLog`.
    package borrowing func securityLog() throws(VaultError) -> SecurityLogReport {
        try waiting { agent throws(VaultError) in try agent.receiveLog() }
    }

    private borrowing func receiveLog() throws(VaultError) -> SecurityLogReport {
        try send(.maintenance(.securityLog))
        var entries: [SecurityLogEntry] = []
        var findings: [SecurityLogFinding] = []
        var notes: [String] = []
        while true {
            switch try receiveReply() {
            case .logEntries(let some): entries += some.map { SecurityLogEntry(index: $0.index, $0.entry) }
            case .logFindings(let some):
                findings += some.map { SecurityLogFinding(.init(word: $0.kind), at: $0.position, $0.text) }
            case .texts(let some): notes += some
            case .finished(let count):
                guard count == UInt64(entries.count) else { throw .unexpected }
                return SecurityLogReport(entries: entries, findings: findings, notes: notes)
            default: throw .unexpected
            }
        }
    }

    /// - Parameter progress: Hears how many of how many records were read.
    /// - Throws: As `Vault.verify`.
    package borrowing func verify(
        _ progress: (_ done: Int, _ total: Int) -> Void
    ) throws(VaultError) -> Vault.Verification {
        try waiting { agent throws(VaultError) in try agent.receiveVerification(progress) }
    }

    private borrowing func receiveVerification(
        _ progress: (_ done: Int, _ total: Int) -> Void
    ) throws(VaultError) -> Vault.Verification {
        try send(.maintenance(.verify))
        var result = Vault.Verification()
        while true {
            switch try receiveReply() {
            case .progress(let done, let total): progress(Int(clamping: done), Int(clamping: total))
            case .records(let entries): result.damagedFiles += entries.map(AgentClient.info)
            case .verification(let report):
                result.fill(report)
                return result
            default: throw .unexpected
            }
        }
    }
}

extension Vault.Verification {
    /// Everything but the files, which came before.
    fileprivate mutating func fill(_ report: VerificationReport) {
        records = Int(clamping: report.records)
        expectedRecords = report.expectedRecords
        files = Int(clamping: report.files)
        damagedRecords = Int(clamping: report.damagedRecords)
        isRolledBack = report.isRolledBack
        arePagesWhole = report.arePagesWhole
        orphanedFiles = Int(clamping: report.orphanedFiles)
        open.items = Int(clamping: report.openItems)
        open.unreadable = Int(clamping: report.openUnreadable)
        open.isAltered = report.isOpenAltered
        open.hasSetAside = report.hasSetAside
        // A word that is new to this client is none of the good ones.
        open.publicKey = OpenPublicKeyState(rawValue: report.publicKey) ?? .replaced
    }
}
