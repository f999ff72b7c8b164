package import VaultFormat
internal import AgentMessages
internal import AppLockCore
package import Items
package import VaultHeader

/// What a lease opens.
package enum LeaseTarget: Sendable, Hashable {
    /// One item: both its place and its id, so that neither another item that takes its place nor one that claims its
    /// id is meant.
    case item(RecordName, id: [UInt8])
    /// All items with a tag.
    case tag(String)
    /// A key that an SSH program added with the constraint that each use is asked for.
    case sshKey([UInt8])
}

/// How long what the user allows holds.
package enum LeaseTerm: Sendable, Hashable {
    case once
    case seconds(UInt32)
    case untilLock

    /// What the user is asked for under a rule; nil where nothing is asked.
    package init?(_ rule: AskRule) {
        switch rule {
        case .never: return nil
        case .eachTime: self = .once
        case .minutes(let minutes): self = .seconds(UInt32(minutes) * 60)
        case .untilLock: self = .untilLock
        }
    }

    /// The same, but not for longer than so many seconds.
    package func atMost(_ seconds: UInt32) -> LeaseTerm {
        switch self {
        case .once: .once
        case .seconds(let own): .seconds(min(own, seconds))
        case .untilLock: .seconds(seconds)
        }
    }
}

/// A use of something that is asked for.
package struct LeaseRequest: Sendable, Hashable {
    package let asker: LeaseAsker
    package let target: LeaseTarget
    package let rule: AskRule
    /// The item's tags, for leases of tags.
    package let tags: [String]

    package init(asker: LeaseAsker, target: LeaseTarget, rule: AskRule, tags: [String] = []) {
        self.asker = asker
        self.target = target
        self.rule = rule
        self.tags = tags
    }
}

/// What is to be done about a request.
package enum LeaseDecision: Sendable, Hashable {
    case allow
    /// The user is asked to allow it for this time.
    case ask(LeaseTerm)
    case refuse(Reason)

    package enum Reason: Sendable, Hashable {
        /// Nobody knows who asks.
        case gone
        /// The user has just said no to the same.
        case refusedBefore
    }
}

/// A program that may use something without being asked for again.
package struct Lease: Sendable, Hashable {
    /// Never used for another one while the agent lives.
    package let number: UInt64
    package let client: LeaseClient
    package let target: LeaseTarget
    package let granted: BootInstant
    /// Nil until the vault locks.
    package let seconds: UInt32?
    /// What the program was called then, for people.
    package let program: String

    /// Milliseconds that are left; nil without an end. An instant that does not compare, as after a clock that went
    /// backwards, ends it.
    package func remaining(_ now: BootInstant) -> UInt64? {
        guard let passed = now.milliseconds(since: granted) else { return 0 }
        return seconds.map { UInt64($0) * 1000 }.map { $0 > passed ? $0 - passed : 0 }
    }

    fileprivate func holds(_ now: BootInstant) -> Bool { remaining(now) != 0 }
}

/// All leases of an agent, and what decides by them. A value without any effect; times come from the clock that
/// includes sleep.
///
/// A lease is for what its rule said when it was given: an item that asks each time has none, whatever was allowed
/// before.
package struct LeaseBook: Sendable {
    package private(set) var leases: [Lease] = []
    private var last: UInt64 = 0
    private var refusals: [(asker: LeaseAsker, target: LeaseTarget, at: BootInstant)] = []

    /// Leases at once; beyond that an answer counts once.
    package static let most = 256
    /// Milliseconds in which a no stands for the next questions, so that a program cannot ask until it gets a yes.
    package static let refusalTime: UInt64 = 5_000

    package init() {}

    /// What is to be done about a request now.
    package func decide(_ request: LeaseRequest, _ now: BootInstant) -> LeaseDecision {
        guard let term = LeaseTerm(request.rule) else { return .allow }
        if case .gone = request.asker { return .refuse(.gone) }
        if case .client(let client) = request.asker, term != .once {
            let isLeased = leases.contains { lease in
                lease.client == client && lease.holds(now) && LeaseBook.covers(lease, request)
                    && LeaseBook.isRecent(lease, term, now)
            }
            if isLeased { return .allow }
        }
        let isRefused = refusals.contains { refusal in
            refusal.asker == request.asker && refusal.target == request.target
                && now.milliseconds(since: refusal.at).map { $0 < LeaseBook.refusalTime } ?? false
        }
        if isRefused { return .refuse(.refusedBefore) }
        // Who gets no lease is not offered one.
        if case .client = request.asker { return .ask(term) }
        return .ask(.once)
    }

    private static func covers(_ lease: Lease, _ request: LeaseRequest) -> Bool {
        guard case .tag(let tag) = lease.target else { return lease.target == request.target }
        return request.tags.contains { $0.utf8.elementsEqual(tag.utf8) }
    }

    /// Whether a lease is as young as the rule of this item wants, which may be stricter than the one it was given
    /// under.
    private static func isRecent(_ lease: Lease, _ term: LeaseTerm, _ now: BootInstant) -> Bool {
        guard case .seconds(let most) = term else { return true }
        return now.milliseconds(since: lease.granted).map { $0 < UInt64(most) * 1000 } ?? false
    }

    /// The user has allowed something.
    /// - Parameters:
    ///   - term: Not longer than what was asked.
    ///   - program: What it is called, for people.
    /// - Returns: The lease, where one was made.
    @discardableResult
    package mutating func allow(
        _ request: LeaseRequest, for term: LeaseTerm, program: String = "", _ now: BootInstant
    ) -> Lease? {
        refusals.removeAll { $0.asker == request.asker && $0.target == request.target }
        guard case .client(let client) = request.asker, LeaseTerm(request.rule) != .once else { return nil }
        let seconds: UInt32?
        switch term {
        case .once: return nil
        case .seconds(let some): seconds = some
        case .untilLock: seconds = nil
        }
        expire(now)
        leases.removeAll { $0.client == client && $0.target == request.target }
        guard leases.count < LeaseBook.most else { return nil }
        last += 1
        let lease = Lease(
            number: last, client: client, target: request.target, granted: now, seconds: seconds,
            program: program)
        leases.append(lease)
        return lease
    }

    /// The user has said no.
    package mutating func refuse(_ request: LeaseRequest, _ now: BootInstant) {
        refusals.removeAll { refusal in
            refusal.asker == request.asker && refusal.target == request.target
                || now.milliseconds(since: refusal.at).map { $0 >= LeaseBook.refusalTime } ?? true
        }
        if refusals.count >= LeaseBook.most { refusals.removeFirst() }
        refusals.append((request.asker, request.target, now))
    }

    /// Drops what has ended by time.
    package mutating func expire(_ now: BootInstant) { leases.removeAll { !$0.holds(now) } }

    /// Ends one lease, or all.
    /// - Returns: How many.
    package mutating func revoke(_ number: UInt64?, _ now: BootInstant) -> Int {
        expire(now)
        let before = leases.count
        leases.removeAll { number == nil || $0.number == number }
        return before - leases.count
    }

    /// The vault locks: nothing that was allowed or refused for what is in it outlives that.
    package mutating func end() {
        leases = []
        refusals = []
    }
}
