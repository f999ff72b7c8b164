internal import AgentMessages
internal import Items
internal import Synchronization
internal import VaultFormat
internal import VaultStorage

/// Stands before what a thread reads for a client, and lets pass what nobody need be asked for or what was allowed.
final class LeaseCheck: Sendable {
    /// Something that the user must be asked for first.
    struct Needed: Error, Sendable, Hashable {
        let target: LeaseTarget
        let rule: AskRule
        let tags: [String]
        /// How it is called, for people.
        let name: String

        var subject: Question.Subject {
            switch target {
            case .item: .item(name)
            case .tag: .tag(name)
            case .sshKey: .sshKey(name)
            }
        }

        /// As the commands write it.
        var written: String {
            if case .item(let path, _) = target { return path.entry.text }
            return name
        }

        init(target: LeaseTarget, rule: AskRule, tags: [String], name: String) {
            (self.target, self.rule, self.tags, self.name) = (target, rule, tags, name)
        }

        /// What an item's tags say.
        init(_ item: borrowing Item, _ path: RecordName) {
            let tags = item.tags
            self.init(
                target: .item(path, id: item.id.bytes), rule: AskRule(tags: tags), tags: tags,
                name: path.collection == "default" ? path.name : "\(path.collection)/\(path.name)")
        }
    }

    private let allowed: [Needed]
    private let asks: Bool
    private let stopped = Mutex<Needed?>(nil)

    /// - Parameter allowed: What was decided on; anything else stops here.
    init(_ allowed: Needed?) {
        self.allowed = allowed.map { [$0] } ?? []
        asks = true
    }

    /// - Parameters:
    ///   - allowed: What was decided on.
    ///   - asks: Whether anything else stops the work; otherwise it is refused there, and the work may continue without
    ///     it.
    init(_ allowed: [Needed], asks: Bool) {
        self.allowed = allowed
        self.asks = asks
    }

    /// What stopped the work.
    var closed: Needed? { stopped.withLock { $0 } }

    /// - Throws: `notAllowed` for what is to be asked for; the caller's work ends there, and may be done again.
    func pass(_ item: borrowing Item, _ path: RecordName) throws(VaultError) {
        try pass(Needed(item, path))
    }

    func pass(_ item: borrowing Item, at entry: EntryPath) throws(VaultError) {
        guard let path = entry.record else { throw .noSuchRecord }
        try pass(item, path)
    }

    func pass(_ what: Needed) throws(VaultError) {
        guard what.rule != .never, !allowed.contains(what) else { return }
        guard asks else { throw .notAllowed("the user refused this") }
        stopped.withLock { $0 = what }
        throw .notAllowed("the user must be asked first")
    }
}

extension VaultError {
    static func notAllowed(_ reason: String) -> VaultError { VaultError(.notAllowed, reason) }
}
