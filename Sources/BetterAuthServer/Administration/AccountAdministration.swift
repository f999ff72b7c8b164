package import BetterAuthMessages
internal import SystemCalls

/// What an operator asks about accounts and does to them, while a server runs, on every store. Answers are JSON of one
/// line; they contain what the server knows, which is no secret of the user's.
package struct AccountAdministration: Sendable {
    private let store: any ServerStore
    private let lifetimes: Lifetimes
    private let clock: any ServerClock

    /// Most accounts in one answer.
    package static let page = 500

    package init(_ store: any ServerStore, _ lifetimes: Lifetimes, clock: any ServerClock = SystemClock()) {
        self.store = store
        self.lifetimes = lifetimes
        self.clock = clock
    }

    /// What is asked.
    package enum Request: Sendable, Hashable {
        case count
        /// The accounts after an identity.
        case list(IdentityID?)
        case show(IdentityID)
        /// All that is stored of an account, for a user's request.
        case export(IdentityID)
        case change(AccountChange.Administration, IdentityID)

        /// A line of words; nil when it is another one.
        package init?(line: String) {
            let words = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
            let identity = words.count == 2 ? IdentityID(words[1]) : nil
            switch (words[0], words.count, identity) {
            case ("count", 1, _): self = .count
            case ("list", 1, _): self = .list(nil)
            case ("list", 2, let identity?): self = .list(identity)
            case ("show", 2, let identity?): self = .show(identity)
            case ("export", 2, let identity?): self = .export(identity)
            case (let word, 2, let identity?):
                guard let change = AccountChange.Administration(rawValue: word) else { return nil }
                self = .change(change, identity)
            default: return nil
            }
        }

        /// Whose account it is about; nil for none.
        package var identity: IdentityID? {
            switch self {
            case .count, .list: nil
            case .show(let identity), .export(let identity), .change(_, let identity): identity
            }
        }

        /// The first word of the line.
        package var word: Substring { line.prefix { $0 != " " } }

        /// The line that ``init(line:)`` reads.
        package var line: String {
            switch self {
            case .count: "count"
            case .list(let last): last.map { "list \($0)" } ?? "list"
            case .show(let identity): "show \(identity)"
            case .export(let identity): "export \(identity)"
            case .change(let change, let identity): "\(change.rawValue) \(identity)"
            }
        }
    }

    /// One line of JSON without its end.
    /// - Throws: ``StoreError``.
    package func answer(_ request: Request) throws(StoreError) -> String {
        switch request {
        case .count: return try count()
        case .list(let last): return try list(after: last)
        case .show(let identity):
            return try store.account(identity).map { AccountReport(identity, $0, lifetimes).shown } ?? Self.unknown
        case .export(let identity):
            return try store.account(identity).map { AccountReport(identity, $0, lifetimes).exported } ?? Self.unknown
        case .change(let change, let identity): return try apply(change, to: identity)
        }
    }

    /// Whether an answer says that nothing was done.
    package static func isRefusal(_ answer: String) -> Bool { answer.hasPrefix(#"{"error":"#) }

    private static let unknown = #"{"error":"there is no such account"}"#

    private func count() throws(StoreError) -> String {
        var (open, locked, deleted, devices) = (0, 0, 0, 0)
        var last: IdentityID?
        while true {
            let found = try store.accounts(after: last, most: Self.page)
            for entry in found {
                if entry.account.isDeleted {
                    deleted += 1
                } else if entry.account.isLocked {
                    locked += 1
                } else {
                    open += 1
                }
                devices += entry.account.devices.count
            }
            guard let end = found.last else { break }
            last = end.identity
        }
        return #"{"open":\#(open),"locked":\#(locked),"deleted":\#(deleted),"devices":\#(devices)}"#
    }

    private func list(after last: IdentityID?) throws(StoreError) -> String {
        let found = try store.accounts(after: last, most: Self.page)
        let entries = found.map {
            #"{"identity":"\#($0.identity)","state":"\#($0.account.state)","devices":\#($0.account.devices.count)}"#
        }
        let next = found.count == Self.page ? found.last.map { #","next":"\#($0.identity)""# } ?? "" : ""
        return #"{"accounts":[\#(entries.joined(separator: ","))]\#(next)}"#
    }

    private func apply(
        _ change: AccountChange.Administration, to identity: IdentityID
    ) throws(StoreError) -> String {
        let outcome = Monitor<Result<AccountOutcome, StoreError>?>(nil)
        store.apply(AccountChange(identity: identity, change, moment: clock.now)) { result in
            outcome.withLock { $0 = result }
            outcome.wakeAll()
        }
        switch try outcome.withLock(when: { $0 != nil }, { $0 ?? .failure(.unavailable("no answer")) }).get() {
        case .committed, .repeated: return #"{"done":"\#(change.rawValue)","identity":"\#(identity)"}"#
        case .refused: return Self.unknown
        }
    }
}

extension Account {
    /// In a word.
    package var state: String { isDeleted ? "deleted" : isLocked ? "locked" : "open" }
}

/// An account as JSON.
private struct AccountReport {
    private let identity: IdentityID
    private let account: Account
    private let lifetimes: Lifetimes

    init(_ identity: IdentityID, _ account: Account, _ lifetimes: Lifetimes) {
        self.identity = identity
        self.account = account
        self.lifetimes = lifetimes
    }

    /// When a device did its last operation: replies are kept for a known while.
    private func moment(_ reply: CommittedReply?) -> String {
        guard let reply, let moment = reply.until.adding(milliseconds: -1000 * lifetimes.reply) else { return "null" }
        return "\"\(moment)\""
    }

    private var voidBefore: String { account.voidBefore > .never ? "\"\(account.voidBefore)\"" : "null" }

    var shown: String {
        let devices = account.devices.map { #"{"device":"\#($0.id)","changed":\#(moment($0.reply))}"# }
        return
            #"{"identity":"\#(identity)","state":"\#(account.state)","devices":[\#(devices.joined(separator: ","))],"#
            + #""former":\#(account.former.count),"sessionsBefore":\#(voidBefore)}"#
    }

    var exported: String {
        let devices = account.devices.map {
            #"{"device":"\#($0.id)","publicKey":"\#($0.publicKey)","rotationHash":"\#($0.rotationHash)","#
                + #""changed":\#(moment($0.reply)),"reply":\#(kept($0.reply))}"#
        }
        let former = account.former.map { "\"\($0)\"" }.joined(separator: ",")
        let replies = account.departedReplies.map { kept($0) }.joined(separator: ",")
        return #"{"identity":"\#(identity)","state":"\#(account.state)","#
            + #""recoveryHash":\#(account.recoveryHash.map { "\"\($0)\"" } ?? "null"),"#
            + #""devices":[\#(devices.joined(separator: ","))],"former":[\#(former)],"departed":[\#(replies)],"#
            + #""sessionsBefore":\#(voidBefore)}"#
    }

    private func kept(_ reply: CommittedReply?) -> String {
        guard let reply else { return "null" }
        return #"{"operation":"\#(reply.operation.digest)","serverIdentity":"\#(reply.serverIdentity)","#
            + #""signature":"\#(reply.signature)","until":"\#(reply.until)"}"#
    }
}
