package import BetterAuthMessages

/// Challenges and the replies of the sessions that answered them, in the memory of one process.
///
/// Anybody can ask for a challenge, so everything here is bounded and the earliest goes first. A challenge that is
/// lost, by a bound or a kill, is unknown: its device asks for another one.
package struct ChallengeBook: Sendable {
    /// Challenges of one identity at one time.
    package static let maximumPerIdentity = 16
    /// Most challenges, and most replies, at one time.
    package static let (maximum, maximumReplies) = (65_536, 4096)

    private var open: ExpiringMap<NonceText, IdentityID>
    private var byIdentity: [IdentityID: [NonceText]] = [:]
    private var replies: ExpiringMap<OperationKey, SessionReply>

    /// - Parameters:
    ///   - challenges: Most challenges at one time.
    ///   - replies: Most replies at one time; each is about a kilobyte.
    package init(challenges: Int = maximum, replies: Int = maximumReplies) {
        open = ExpiringMap(capacity: challenges)
        self.replies = ExpiringMap(capacity: replies)
    }

    package var count: Int { open.count }

    /// What has not expired, the earliest end first.
    func openChallenges(now: Timestamp) -> [(key: NonceText, value: IdentityID, until: Timestamp)] {
        open.entries(now: now)
    }

    func keptReplies(now: Timestamp) -> [(key: OperationKey, value: SessionReply, until: Timestamp)] {
        replies.entries(now: now)
    }

    package mutating func open(_ challenge: Challenge) {
        var own = byIdentity[challenge.identity, default: []].filter { open.value($0, now: challenge.moment) != nil }
        if own.count >= ChallengeBook.maximumPerIdentity { open.remove(own.removeFirst()) }
        own.append(challenge.nonce)
        byIdentity[challenge.identity] = own
        _ = open.insertEvicting(
            challenge.identity, for: challenge.nonce, until: challenge.until, now: challenge.moment)
        // Identities whose challenges have all gone are let go together, now and then.
        if byIdentity.count > 2 * open.count + 64 {
            let now = challenge.moment
            byIdentity = byIdentity.filter { $0.value.contains { open.value($0, now: now) != nil } }
        }
    }

    package func state(
        of nonce: NonceText, answeredBy operation: OperationKey, now: Timestamp
    ) -> ChallengeState {
        if let identity = open.value(nonce, now: now) { return .open(identity) }
        if let reply = replies.value(operation, now: now) { return .answered(reply) }
        return .unknown
    }

    /// Uses a challenge up, unless another operation did, and keeps the reply.
    package mutating func answer(_ answer: ChallengeAnswer) -> SessionOutcome {
        let outcome = use(answer)
        if outcome == .committed {
            keep(answer.reply, of: answer.operation, until: answer.until, now: answer.moment)
        }
        return outcome
    }

    /// Uses a challenge up; the reply is kept later.
    package mutating func use(_ answer: ChallengeAnswer) -> SessionOutcome {
        if let reply = replies.value(answer.operation, now: answer.moment) { return .repeated(reply) }
        guard open.value(answer.challenge, now: answer.moment) == answer.reply.identity else { return .used }
        open.remove(answer.challenge)
        return .committed
    }

    /// Forgets a challenge.
    package mutating func remove(_ nonce: NonceText) { open.remove(nonce) }

    /// The reply to an operation that was committed.
    package func reply(to operation: OperationKey, now: Timestamp) -> SessionReply? {
        replies.value(operation, now: now)
    }

    /// Keeps a reply.
    package mutating func keep(
        _ reply: SessionReply, of operation: OperationKey, until: Timestamp, now: Timestamp
    ) {
        _ = replies.insertEvicting(reply, for: operation, until: until, now: now)
    }
}
