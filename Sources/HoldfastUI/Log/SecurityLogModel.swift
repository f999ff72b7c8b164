package import Holdfast
internal import Observation

/// The security log, newest first, and whether it is whole. Dropped when the lock falls.
@MainActor @Observable
package final class SecurityLogModel {
    /// Whether what was written is all there.
    package enum Verdict: Sendable, Hashable {
        /// It was not looked at.
        case unknown
        /// Every kept entry is there and unchanged; so many.
        case intact(entries: Int)
        /// Something is not as it was written; the entry where that is noticed first.
        case altered(position: UInt64)
    }

    /// What is shown, newest first.
    package private(set) var lines: [LogLine] = []
    /// What is not as it was written.
    package private(set) var findings: [SecurityLogFinding] = []
    /// Whether it is whole.
    package private(set) var verdict = Verdict.unknown
    /// What kept it from being read.
    package private(set) var problem: VaultProblem?
    /// The category that is shown; nil for all.
    package var category: LogLine.Category? { didSet { filter() } }

    @ObservationIgnored private let lock: LockModel
    @ObservationIgnored private var all: [LogLine] = []
    @ObservationIgnored private var loads = 0

    /// The log of the vault behind this lock.
    package init(_ lock: LockModel) { self.lock = lock }

    /// Reads and verifies the log.
    package func load() async {
        loads += 1
        let mine = loads
        let result = await SecurityLogModel.report(of: lock.app.vault)
        guard mine == loads, !lock.isLocked else { return }
        switch result {
        case .success(let report):
            all = report.entries.reversed().map(LogLine.init)
            findings = report.findings
            verdict = report.findings.first.map { .altered(position: $0.position) } ?? .intact(entries: all.count)
            problem = nil
        case .failure(let error): problem = VaultProblem(error)
        }
        filter()
    }

    /// Forgets the log.
    package func drop() {
        loads += 1
        all = []
        lines = []
        findings = []
        verdict = .unknown
        problem = nil
    }

    private func filter() { lines = category.map { wanted in all.filter { $0.category == wanted } } ?? all }

    @concurrent
    private nonisolated static func report(of vault: Vault) async -> Result<SecurityLogReport, VaultError> {
        Result { () throws(VaultError) in try vault.securityLog() }
    }
}
