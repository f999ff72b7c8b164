package import Holdfast
internal import Observation
internal import SystemCalls

/// Weak, reused, old and breached passwords of the vault. Nothing is stored, and everything is dropped when the lock
/// falls.
@MainActor @Observable
package final class HealthModel {
    /// Why there is no report.
    package enum Failure: Error, Sendable, Hashable {
        /// Something is wrong with the list of breached passwords.
        case list(BreachListError)
        /// Anything else.
        case vault(VaultProblem)
    }

    /// The last report; nil before the first, and while there is none because of a failure.
    package private(set) var report: HealthReport?
    /// How far the look that is under way is; nil while there is none.
    package private(set) var progress: HealthProgress?
    /// Why the last look came to no end.
    package private(set) var failure: Failure?
    /// The file or folder that breached passwords are looked for in; nil for none.
    package private(set) var list: String?

    @ObservationIgnored private let lock: LockModel
    @ObservationIgnored private let store: ItemStore
    @ObservationIgnored private let rule: HealthRule
    @ObservationIgnored private var cancelling: CancelFlag?
    @ObservationIgnored private var looks = 0

    /// The passwords of the vault behind this lock.
    package init(_ lock: LockModel, rule: HealthRule = HealthRule()) {
        self.lock = lock
        self.rule = rule
        store = ItemStore(lock.app.vault)
        lock.onLock { [weak self] in self?.drop() }
    }

    /// Looks at all passwords. A look while another one is under way is not begun.
    package func look() async {
        guard progress == nil, !lock.isLocked else { return }
        looks += 1
        let mine = looks
        let flag = CancelFlag()
        cancelling = flag
        progress = .reading(done: 0, total: 0)
        let result = await showingSteps { [weak self] step in
            guard let self, mine == looks, progress != nil else { return }
            progress = step
        } of: { [store, rule, list] telling in
            await HealthModel.report(store, rule, list, flag, telling)
        }
        // Locked meanwhile, or begun anew.
        guard mine == looks, !lock.isLocked else { return }
        progress = nil
        cancelling = nil
        switch result {
        case .success(let found): (report, failure) = (found, nil)
        case .failure(.vault(.cancelled)) where report != nil: break
        case .failure(let error): (report, failure) = (nil, error)
        }
    }

    /// Looks for passwords in a list of breached ones, too.
    /// - Parameter path: A file, a folder, or one of the files of a folder, which stands for all of them; nil for no
    ///   list.
    package func compare(with path: String?) async {
        stop()
        looks += 1
        progress = nil
        list = path.map(BreachList.place)
        report = nil
        failure = nil
        await look()
    }

    /// Stops the look that is under way; the report before it stays.
    package func stop() { cancelling?.set() }

    /// Forgets what was found.
    package func drop() {
        looks += 1
        stop()
        cancelling = nil
        report = nil
        progress = nil
        failure = nil
        list = nil
    }

    /// In a thread of its own: those of the concurrency runtime are few, and the disk of a list may be slow.
    private nonisolated static func report(
        _ store: ItemStore, _ rule: HealthRule, _ path: String?, _ flag: CancelFlag,
        _ telling: AsyncStream<HealthProgress>.Continuation
    ) async -> Result<HealthReport, Failure> {
        await withCheckedContinuation { answer in
            let isStarted = DetachedThread.start {
                answer.resume(returning: Result { () throws(Failure) in try find(store, rule, path, flag, telling) })
            }
            if !isStarted { answer.resume(returning: .failure(.vault(.outOfMemory))) }
        }
    }

    private nonisolated static func find(
        _ store: ItemStore, _ rule: HealthRule, _ path: String?, _ flag: CancelFlag,
        _ telling: AsyncStream<HealthProgress>.Continuation
    ) throws(Failure) -> HealthReport {
        let list: BreachList?
        do throws(BreachListError) {
            list = try path.map { path throws(BreachListError) in try BreachList(path) }
        } catch { throw .list(error) }
        do throws(HealthError) {
            return try store.health(
                rule, against: list,
                progress: { step throws(VaultError) in
                    do { try flag.check() } catch { throw VaultError(.cancelled, "stopped") }
                    telling.yield(step)
                })
        } catch {
            switch error {
            case .vault(let error): throw .vault(VaultProblem(error))
            case .list(let error): throw .list(error)
            }
        }
    }
}

// What a screen shows.
extension HealthModel {
    /// Items with the same thing to be said of.
    package struct Group: Sendable, Hashable {
        /// What is to be said.
        package let kind: Kind
        /// The items, each once.
        package let rows: [Row]
    }

    /// What can be said of an item.
    package enum Kind: Sendable, Hashable, CaseIterable {
        /// Its password is in the list of breached ones.
        case breached
        /// It is guessed soon.
        case weak
        /// Other items have it too.
        case reused
        /// It has not been changed for long.
        case old
    }

    /// An item with a password that should be changed.
    package struct Row: Sendable, Hashable, Identifiable {
        /// Where it is.
        package let id: VaultItem.ID
        /// What is wrong with its password.
        package let reason: HealthReport.Reason
        /// Paths of the others that have the same password.
        package let others: [String]
    }

    /// What was found, the worst first; only groups in which there is something.
    package var groups: [Group] {
        guard let report else { return [] }
        var shared: [Int: [EntryPath]] = [:]
        for finding in report.findings {
            if case .reused(let group, _) = finding.reason, shared[group]?.last != finding.entry {
                shared[group, default: []].append(finding.entry)
            }
        }
        return Kind.allCases.compactMap { kind in
            var seen: Set<EntryPath> = []
            let rows = report.findings.filter { Kind($0.reason) == kind && seen.insert($0.entry).inserted }.map {
                finding in
                var others: [String] = []
                if case .reused(let group, _) = finding.reason {
                    others = (shared[group] ?? []).filter { $0 != finding.entry }.prefix(Row.mostOthers).map(\.text)
                }
                return Row(
                    id: VaultItem.ID(collection: finding.entry.collection, name: finding.entry.name),
                    reason: finding.reason, others: others)
            }
            return rows.isEmpty ? nil : Group(kind: kind, rows: rows)
        }
    }

    /// How many items have a password that should be changed.
    package var count: Int { Set((report?.findings ?? []).map(\.entry)).count }
}

extension HealthModel.Row {
    fileprivate static let mostOthers = 3
}

extension HealthModel.Kind {
    fileprivate init(_ reason: HealthReport.Reason) {
        switch reason {
        case .breached: self = .breached
        case .weak: self = .weak
        case .reused: self = .reused
        case .old: self = .old
        }
    }
}
