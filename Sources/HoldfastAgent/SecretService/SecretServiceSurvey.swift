internal import DeviceOwner
internal import Items
internal import ProgramAccess
internal import ProgramProtocols
internal import SecretMemory
internal import VaultCore
internal import VaultHeader
internal import VaultStorage

/// The items that programs of the bus can see and when each was changed, so that they hear what the user's own commands
/// and apps do to them. Made only while a program has a session, and kept in locked memory until the vault locks.
final class SecretServiceSurvey: Sendable {
    /// No call has it: a survey is nobody's.
    static let number: UInt64 = 0

    struct Change: Sendable, Hashable {
        let change: SecretServiceEndpoint.Change
        let path: String
    }

    /// What the agent's own thread knows of surveys.
    struct State {
        /// The last one; nil before the first since the unlock.
        fileprivate(set) var last: SecretServiceSurvey?
        fileprivate var isUnderWay = false
        fileprivate var isWanted = false
        /// Paths of which clients heard from their own calls since the last survey began.
        private var told: Set<String> = []
        private var toldBefore: Set<String> = []
        /// Whether clients are to hear of each collection that it is unlocked, as soon as their names are known.
        var isNewsOfUnlock = false

        /// More than any client does between two surveys; beyond that some changes are told twice.
        private static let mostTold = 1024

        mutating func told(_ path: String) {
            if last != nil, told.count < State.mostTold { told.insert(path) }
        }

        mutating func forget() { (last, told, toldBefore, isNewsOfUnlock) = (nil, [], [], false) }

        /// The collections that programs can see, but for those that are always there; none before the first survey.
        var collections: [String] { last?.collections ?? [] }

        fileprivate mutating func begin() { (isUnderWay, isWanted, toldBefore, told) = (true, false, told, []) }

        /// What is still news of what has changed: of what a client did the others have heard, but perhaps not all.
        fileprivate mutating func end(_ next: SecretServiceSurvey?, _ changes: [Change]) -> [Change] {
            isUnderWay = false
            let isFirst = last == nil
            last = next ?? last
            let known = toldBefore.union(told)
            return isFirst ? [] : changes.filter { !known.contains($0.path) || $0.change == .changed }
        }
    }

    private let vaultChange: UInt64
    /// Lines of a path and a time.
    private let lines: SecretBytes

    /// - Throws: What a search throws.
    private init(_ items: ItemStore, at change: UInt64) throws(VaultError) {
        vaultChange = change
        var text: [UInt8] = []
        for match in try items.search(ItemQuery("#" + SecretServiceStore.tag)) where !match.collection.isEmpty {
            let path = SecretServicePath.item(collection: match.collection, name: match.name).text
            text += Array("\(path) \(match.modified)\n".utf8)
        }
        do throws(SecretMemoryError) { lines = try unsafe SecretBytes(copying: text.span.bytes) } catch {
            throw VaultError(error)
        }
    }

    /// Signals for each, at most for so many; more have few users.
    private static let mostCollections = 64

    private var collections: [String] {
        let found = times.keys.compactMap { path -> String? in
            guard case .item(let collection, _) = SecretServicePath(parsing: String(path)) else { return nil }
            return SecretServicePath.collection(collection).text
        }
        let others = Set(found).subtracting(SecretServiceWork.standardCollections)
        return Array(others.sorted().prefix(SecretServiceSurvey.mostCollections))
    }

    private var times: [Substring: Substring] {
        let text = lines.withBytes { unsafe $0.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) } }
        var times: [Substring: Substring] = [:]  // because: paths are of ASCII
        for line in text.split(separator: "\n") {
            guard let space = line.firstIndex(of: " ") else { continue }
            times[line[..<space]] = line[line.index(after: space)...]
        }
        return times
    }

    /// Looks again.
    /// - Returns: Nil where nothing in the vault has changed.
    /// - Throws: What a search throws.
    static func next(
        after last: SecretServiceSurvey?, _ items: ItemStore
    ) throws(VaultError) -> (SecretServiceSurvey, [Change])? {
        let change = try items.vault.lastChange()
        guard last?.vaultChange != change else { return nil }
        let next = try SecretServiceSurvey(items, at: change)
        guard let last else { return (next, []) }
        let (before, now) = (last.times, next.times)
        var changes: [Change] = []
        for (path, time) in now where before[path] != time {
            changes.append(Change(change: before[path] == nil ? .created : .changed, path: String(path)))
        }
        for path in before.keys where now[path] == nil { changes.append(Change(change: .deleted, path: String(path))) }
        return (next, changes.sorted { ($0.path, $0.change.rawValue) < ($1.path, $1.change.rawValue) })
    }
}

extension SecretServiceEndpoint {
    /// Says of the collections that the last survey saw that they are locked now, or are not. Once they are locked,
    /// their names are known no more; once they are not, as soon as they were looked at again.
    func tellSurveyed(isLocked: Bool) {
        survey.isNewsOfUnlock = false
        tellLocked(survey.collections, isLocked)
    }
}

extension Agent {
    /// Has a thread look whether programs of the bus should hear of something: after whatever may have changed the
    /// vault. Nothing is done where no program has a session.
    func surveySecrets() {
        guard let endpoint = secrets, isServingSecrets, !endpoint.sessions.isEmpty else { return }
        guard !endpoint.survey.isUnderWay else { return endpoint.survey.isWanted = true }
        let (vault, items, last, unused) = (vault, items, endpoint.survey.last, lock.unused(clock.now()))
        let isTaken = work.submit {
            var found: SecretServiceAnswer?
            let outcome = Work.run(vault, unused: unused) {
                if let (survey, changes) = try SecretServiceSurvey.next(after: last, items) {
                    found = .surveyed(survey, changes)
                }
                return ([], .rest)
            }
            return .secrets(SecretServiceSurvey.number, found, outcome)
        }
        if isTaken { endpoint.survey.begin() }
    }

    func finishSurvey(_ found: SecretServiceAnswer?) {
        guard let endpoint = secrets else { return }
        var (next, changes): (SecretServiceSurvey?, [SecretServiceSurvey.Change]) = (nil, [])
        // What was seen before a lock is not kept.
        if case .surveyed(let survey, let seen) = found, isServingSecrets { (next, changes) = (survey, seen) }
        for change in endpoint.survey.end(next, changes) { endpoint.tell(change.change, change.path, isOwn: false) }
        if endpoint.survey.isNewsOfUnlock, next != nil { endpoint.tellSurveyed(isLocked: false) }
        if endpoint.survey.isWanted { surveySecrets() }
    }
}
