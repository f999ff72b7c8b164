package import BetterAuthMessages
internal import SystemCalls

/// What an operator asks about accounts and does to them, while a server runs, on every store. Answers are JSON of one
/// line; they contain what the server knows, which is no secret of the user's.
package struct AccountAdministration: Sendable {
    package let store: any ServerStore
    private let lifetimes: Lifetimes
    private let clock: any ServerClock
    /// Accounts that one request counts: a fraction of a second.
    private let countedAtOnce: Int

    /// Most accounts in one answer.
    package static let page = 500

    package init(
        _ store: any ServerStore, _ lifetimes: Lifetimes, clock: any ServerClock = SystemClock(),
        countedAtOnce: Int = 20_000
    ) {
        self.countedAtOnce = countedAtOnce
        self.store = store
        self.lifetimes = lifetimes
        self.clock = clock
    }

    /// What is asked.
    package enum Request: Sendable, Hashable {
        /// Counts some accounts, those after an identity.
        case count(after: IdentityID?)
        /// The accounts after an identity, or only those that ``Account/markedUntil(now:)`` is about.
        case list(IdentityID?, clockWasAhead: Bool)
        case show(IdentityID)
        /// All that is stored of an account, for a user's request.
        case export(IdentityID)
        case change(AccountChange.Administration, IdentityID)
        /// Ends the sessions of all devices or of one.
        case endSessions(IdentityID, DeviceID?, clockWasAhead: Bool)

        private static let (endsSessions, aheadWord) = ("end-sessions", "clock-was-ahead")

        /// A line of words; nil when it is another one.
        package init?(line: String) {
            var words = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
            let isAhead = words.count > 1 && words.last == Self.aheadWord
            if isAhead { words.removeLast() }
            let identity = words.count >= 2 ? IdentityID(words[1]) : nil
            switch (words[0], words.count, identity) {
            case ("list", 1, _): self = .list(nil, clockWasAhead: isAhead)
            case ("list", 2, let identity?): self = .list(identity, clockWasAhead: isAhead)
            case (Self.endsSessions, 2, let identity?): self = .endSessions(identity, nil, clockWasAhead: isAhead)
            case (Self.endsSessions, 3, let identity?):
                guard let device = DeviceID(words[2]) else { return nil }
                self = .endSessions(identity, device, clockWasAhead: isAhead)
            case _ where isAhead: return nil
            case ("count", 1, _): self = .count(after: nil)
            case ("count", 2, let identity?): self = .count(after: identity)
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
            case .show(let identity), .export(let identity), .change(_, let identity), .endSessions(let identity, _, _):
                identity
            }
        }

        /// What it changes, in a word of ours; nil for a question.
        package var changes: String? {
            switch self {
            case .count, .list, .show, .export: nil
            case .change, .endSessions: deed
            }
        }

        /// Whether it continues with another one, which was recorded.
        package var isContinuation: Bool {
            if case .count(_?) = self { true } else { false }
        }

        /// What the logs call it: each deed has a name of its own.
        package var deed: String {
            guard case .endSessions(_, let device, let clockWasAhead) = self else { return String(word) }
            return (device == nil ? Self.endsSessions : "end-device-sessions")
                + (clockWasAhead ? "-" + Self.aheadWord : "")
        }

        /// The first word of the line.
        package var word: Substring { line.prefix { $0 != " " } }

        /// The line that ``init(line:)`` reads.
        package var line: String {
            switch self {
            case .count(let last): last.map { "count \($0)" } ?? "count"
            case .list(let last, let isAhead): (last.map { "list \($0)" } ?? "list") + Self.tail(isAhead)
            case .show(let identity): "show \(identity)"
            case .export(let identity): "export \(identity)"
            case .change(let change, let identity): "\(change.rawValue) \(identity)"
            case .endSessions(let identity, let device, let isAhead):
                "\(Self.endsSessions) \(identity)" + (device.map { " \($0)" } ?? "") + Self.tail(isAhead)
            }
        }

        private static func tail(_ isAhead: Bool) -> String { isAhead ? " " + aheadWord : "" }
    }

    /// One line of JSON without its end.
    /// - Throws: ``StoreError``.
    package func answer(_ request: Request) throws(StoreError) -> String {
        switch request {
        case .count(let last): return try count(after: last)
        case .list(let last, let clockWasAhead): return try list(after: last, clockWasAhead: clockWasAhead)
        case .show(let identity):
            return try store.account(identity).map {
                AccountReport(identity, $0, lifetimes).shown(warning($0))
            } ?? Self.unknown
        case .export(let identity):
            return try store.account(identity).map { AccountReport(identity, $0, lifetimes).exported } ?? Self.unknown
        case .change(let change, let identity):
            return try apply(AccountChange(identity: identity, change, moment: clock.now), request)
        case .endSessions(let identity, let device, let clockWasAhead):
            let change = AccountChange(
                identity: identity, endSessionsOf: device, clockWasAhead: clockWasAhead, moment: clock.now)
            return try apply(change, request)
        }
    }

    /// What an operator must know of an account that nobody would miss otherwise: it looks as all others do, and its
    /// devices cannot refresh what they open.
    private func warning(_ account: Account) -> String {
        guard let end = account.markedUntil(now: clock.now) else { return "" }
        return
            #","warning":"sessions are marked as ended until \#(end): the clock was ahead; see The clock was wrong in "#
            + #"operations.md""#
    }

    /// Whether an answer says that nothing was done.
    package static func isRefusal(_ answer: String) -> Bool { answer.hasPrefix(#"{"error":"#) }

    private static let unknown = #"{"error":"there is no such account"}"#

    /// A part at a time: whoever asks continues with `next`, and others are answered in between.
    private func count(after first: IdentityID?) throws(StoreError) -> String {
        var counts = AccountCounts()
        var last = first
        repeat {
            let page = try page(after: last)
            for row in page.rows { counts.add(row.account) }
            last = page.next
        } while last != nil && counts.all < countedAtOnce
        return String(counts.json.dropLast()) + next(last) + "}"
    }

    private func list(after first: IdentityID?, clockWasAhead: Bool) throws(StoreError) -> String {
        let now = clock.now
        var (entries, last, seen): ([String], IdentityID?, Int) = ([], first, 0)
        // Of those that a clock has marked there may be few: as many are looked at as are counted at once.
        repeat {
            let page = try page(after: last)
            for row in page.rows {
                let end = row.account?.markedUntil(now: now)
                if !clockWasAhead || end != nil { entries.append(Self.entry(row, markedUntil: end)) }
            }
            (last, seen) = (page.next, seen + page.rows.count)
        } while clockWasAhead && last != nil && entries.count < Self.page && seen < countedAtOnce
        return #"{"accounts":[\#(entries.joined(separator: ","))]\#(next(last))}"#
    }

    private static func entry(_ row: StoredAccount, markedUntil end: Timestamp?) -> String {
        let name = row.identity.map { #""identity":"\#($0)""# } ?? #""row":"\#(shown(row.name))""#
        guard let account = row.account else { return #"{\#(name),"state":"unreadable"}"# }
        let marked = end.map { #","markedUntil":"\#($0)""# } ?? ""
        return #"{\#(name),"state":"\#(account.state)","devices":\#(account.devices.count)\#(marked)}"#
    }

    private func next(_ last: IdentityID?) -> String { last.map { #","next":"\#($0)""# } ?? "" }

    /// Some accounts, and the identity to continue after; nil at the end. Rows whose name is no identity come with the
    /// next account that has one.
    private func page(after last: IdentityID?) throws(StoreError) -> (rows: [StoredAccount], next: IdentityID?) {
        var rows: [StoredAccount] = []
        while true {
            let found = try store.accounts(after: rows.last?.name ?? last?.rawBytes ?? [], most: Self.page)
            rows += found
            guard found.count == Self.page else { return (rows, nil) }
            guard let end = rows.lastIndex(where: { $0.identity != nil }) else { continue }
            return (Array(rows[...end]), rows[end].identity)
        }
    }

    /// The beginning of a name that no program gave, in hexadecimal digits.
    static func shown(_ name: [UInt8]) -> String {
        name.prefix(32).map { String(UInt16($0) | 0x100, radix: 16).dropFirst() }.joined()
    }

    private func apply(_ change: AccountChange, _ request: Request) throws(StoreError) -> String {
        let outcome = Monitor<Result<AccountOutcome, StoreError>?>(nil)
        store.apply(change) { result in
            outcome.withLock { $0 = result }
            outcome.wakeAll()
        }
        switch try outcome.withLock(when: { $0 != nil }, { $0 ?? .failure(.unavailable("no answer")) }).get() {
        case .committed, .repeated:
            // That it was done is known; what is read of it afterwards may fail.
            let account = (try? store.account(change.identity)).flatMap { $0 }
            return #"{"done":"\#(request.word)","identity":"\#(change.identity)"\#(account.map(warning) ?? "")}"#
        case .refused(let error):
            return error.code == .invalidDevice ? #"{"error":"the account has no such device"}"# : Self.unknown
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

    private func text(_ moment: Timestamp) -> String { moment > .never ? "\"\(moment)\"" : "null" }

    private var voidBefore: String { text(account.voidBefore) }

    /// - Parameter warning: A member that stands at its end.
    func shown(_ warning: String) -> String {
        let devices = account.devices.map {
            #"{"device":"\#($0.id)","changed":\#(moment($0.reply)),"sessionsBefore":\#(text(account.mark(of: $0)))}"#
        }
        return
            #"{"identity":"\#(identity)","state":"\#(account.state)","devices":[\#(devices.joined(separator: ","))],"#
            + #""former":\#(account.former.count)\#(warning)}"#
    }

    var exported: String {
        let devices = account.devices.map {
            #"{"device":"\#($0.id)","publicKey":"\#($0.publicKey)","rotationHash":"\#($0.rotationHash)","#
                + #""changed":\#(moment($0.reply)),"sessionsBefore":\#(text($0.voidBefore)),"reply":\#(kept($0.reply))}"#
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
