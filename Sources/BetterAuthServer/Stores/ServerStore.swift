package import BetterAuthMessages

/// What the server remembers (protocol.md 7.14). Each call is one transaction: it happened whole or
/// not at all, and of two that exclude each other one wins.
///
/// Completions are called once, from any thread, possibly before the call returns. What a completion is told to be
/// committed survives the end of the process, where the store survives it.
package protocol ServerStore: Sendable {
    /// Whether reading waits for another machine, so that no event loop may do it.
    var isRemote: Bool { get }

    /// What is known of an identity; nil when it was never seen.
    /// - Throws: ``StoreError``.
    func account(_ identity: IdentityID) throws(StoreError) -> Account?

    /// Applies what ``AccountChange/decision(on:)`` says, comparing and swapping the account's row.
    func apply(_ change: AccountChange, then: @escaping Completion<AccountOutcome>)

    /// Remembers a challenge, for an identity that may not exist. The earliest challenges of the identity, and of all,
    /// are forgotten beyond a bound. One that a kill takes away is unknown, and its device asks for another.
    func open(_ challenge: Challenge, then: @escaping Completion<Void>)

    /// What is known of a challenge. Looking does not use it up.
    /// - Throws: ``StoreError``.
    func challenge(
        _ nonce: NonceText, answeredBy operation: OperationKey, now: Timestamp
    ) throws(StoreError) -> ChallengeState

    /// Uses a challenge up and keeps the reply.
    ///
    /// Where challenges and accounts lie in one database, the device must still have the key that answered.
    func answer(_ answer: ChallengeAnswer, then: @escaping Completion<SessionOutcome>)

    /// Reserves the key that refreshes a session, and keeps the reply, unless the account no longer honours the token.
    func reserve(_ refresh: RefreshReservation, then: @escaping Completion<SessionOutcome>)

    /// Whether access tokens of a device are void although they have not expired.
    /// - Throws: ``StoreError``.
    func isVoid(_ device: DeviceID, of identity: IdentityID, issuedAt: Timestamp) throws(StoreError) -> Bool

    /// Whether the store does its work: something is written, as an operation would be.
    ///
    /// This and the other functions that return waits; none of them is to be called in a ``Completion``.
    /// - Throws: ``StoreError`` when it does not.
    func probe(now: Timestamp) throws(StoreError)

    /// The keys that the accounts belong to; nil when no server has had the store yet.
    /// - Throws: ``StoreError``.
    func keyMark() throws(StoreError) -> KeyMark?

    /// Replaces the mark of the keys.
    /// - Returns: False when it was another one than `known`, and is as it was.
    /// - Throws: ``StoreError``.
    func setKeyMark(_ mark: KeyMark, over known: KeyMark?) throws(StoreError) -> Bool

    /// Leaves a word in the database, in the place of the one before, for another process over the same database.
    /// - Returns: False where no other process can have it.
    /// - Throws: ``StoreError``.
    func leave(word: [UInt8]) throws(StoreError) -> Bool

    /// The word that was left last, by whatever process; nil for none.
    /// - Throws: ``StoreError``.
    func word() throws(StoreError) -> [UInt8]?

    /// Some accounts in the order of their names, deleted ones and damaged ones too.
    /// - Parameter name: That after which they begin; nothing for the first.
    /// - Throws: ``StoreError``.
    func accounts(after name: [UInt8], most count: Int) throws(StoreError) -> [StoredAccount]

    /// What it tells of itself, for metrics.
    var gauges: [StoreGauge] { get }

    /// Ends after what was accepted is done. No call may follow.
    func close()
}

extension ServerStore {
    package var gauges: [StoreGauge] { [] }

    package func leave(word: [UInt8]) throws(StoreError) -> Bool { false }
    package func word() throws(StoreError) -> [UInt8]? { nil }

    package typealias Completion<Value> = @Sendable (Result<Value, StoreError>) -> Void

    /// From the account's own row, which is always right.
    package func isVoid(
        _ device: DeviceID, of identity: IdentityID, issuedAt: Timestamp
    ) throws(StoreError) -> Bool {
        guard let account = try account(identity) else { return true }
        return !account.honours(device, issuedAt: issuedAt)
    }
}

/// A row of accounts, which may be none that this program has written.
package struct StoredAccount: Sendable {
    /// An identity's bytes.
    package let name: [UInt8]
    /// Nil when the row cannot be read.
    package let account: Account?

    package init(name: [UInt8], account: Account?) {
        self.name = name
        self.account = account
    }

    /// - Parameter row: As ``AccountCoding`` writes it.
    package init(name: [UInt8], row: [UInt8]) {
        let isNamed = name.count == IdentityID.rawSize
        self.init(name: name, account: isNamed ? try? unsafe AccountCoding.decode(row.span.bytes) : nil)
    }

    /// Nil for a name that no program gave.
    package var identity: IdentityID? { unsafe IdentityID(raw: name.span.bytes) }
}

/// The server's challenge to a device that wants a session (protocol.md 7.9).
package struct Challenge: Sendable, Hashable {
    package let nonce: NonceText
    package let identity: IdentityID
    package let until: Timestamp
    package let moment: Timestamp

    package init(nonce: NonceText, identity: IdentityID, until: Timestamp, moment: Timestamp) {
        self.nonce = nonce
        self.identity = identity
        self.until = until
        self.moment = moment
    }
}

/// What a store knows of a challenge.
package enum ChallengeState: Sendable, Hashable {
    case open(IdentityID)
    /// Used up by the very operation that asks.
    case answered(SessionReply)
    /// Never given, expired, or used up by another operation.
    case unknown
}

/// A reply that carries a token, kept for a byte-identical repeat.
package struct SessionReply: Sendable, Hashable {
    package let identity: IdentityID
    package let device: DeviceID
    /// The whole message.
    package let bytes: [UInt8]

    package init(identity: IdentityID, device: DeviceID, bytes: [UInt8]) {
        self.identity = identity
        self.device = device
        self.bytes = bytes
    }
}

/// A session that a device opens.
package struct ChallengeAnswer: Sendable, Hashable {
    package let challenge: NonceText
    package let operation: OperationKey
    package let reply: SessionReply
    /// The device's key whose signature was verified.
    package let publicKey: PublicKeyText
    /// The last moment at which the reply is repeated.
    package let until: Timestamp
    package let moment: Timestamp
}

/// A session that continues.
package struct RefreshReservation: Sendable, Hashable {
    /// The digest of the key that refreshes: one generation of a token can be refreshed once.
    package let revealed: RotationHash
    /// How long that must be remembered: as long as the token could be refreshed.
    package let reservedUntil: Timestamp
    package let issuedAt: Timestamp
    package let operation: OperationKey
    package let reply: SessionReply
    /// The last moment at which the reply is repeated.
    package let until: Timestamp
    package let moment: Timestamp

    package init(
        revealed: RotationHash, reservedUntil: Timestamp, issuedAt: Timestamp, operation: OperationKey,
        reply: SessionReply, until: Timestamp, moment: Timestamp
    ) {
        self.revealed = revealed
        self.reservedUntil = reservedUntil
        self.issuedAt = issuedAt
        self.operation = operation
        self.reply = reply
        self.until = until
        self.moment = moment
    }
}

/// The outcome of a session.
package enum SessionOutcome: Sendable, Hashable {
    case committed
    /// The same operation was committed before.
    case repeated(SessionReply)
    /// The challenge or the key is used up, by another operation.
    case used
    /// The account no longer honours the device, its key or the token.
    case revoked
}

/// Why a store did not do its work. Nothing was changed, or a repeat of the same operation tells that it was.
package enum StoreError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The database cannot be reached, is full, or did not answer in time; its own words, without values.
    case unavailable(String)
    /// There is no such database.
    case missing(String)
    /// The tables are of an earlier version than the program: theirs, and its own. 0 for no tables.
    case tooOld(Int, Int)
    /// The tables are of a later version than the program.
    case tooNew(Int, Int)
    /// The file of an earlier version cannot be copied to this name, and was not changed; why.
    case notCopied(String, String)
    /// This name, which the copy would have, is that of something else. The file of an earlier version was not changed.
    case copyInTheWay(String)
    /// The tables are of an earlier version, and nobody says that there is a backup: theirs, and the program's.
    case needsBackup(Int, Int)
    /// A row is not what any version of this program writes.
    case damaged
    /// A bounded part is full of entries that must not be forgotten before their time.
    case full

    package var description: String {
        switch self {
        case .unavailable(let reason): "the store is unavailable: \(reason)"
        case .missing(let path): "\(path) does not exist"
        case .tooOld(0, _): "the database has none of the server's tables"
        case .tooOld(let found, let own): "the database has version \(found), and this program has version \(own)"
        case .tooNew(let found, let own): "the database has version \(found), and this program knows \(own)"
        case .notCopied(let copy, let reason):
            "the database was not updated, since \(copy), a copy to go back to, cannot be made: \(reason)"
        case .copyInTheWay(let copy):
            "the database was not updated, since \(copy) exists and is no copy of what the database is now"
        case .needsBackup(let found, let own):
            "the database has version \(found), and an update to version \(own) cannot be undone"
        case .damaged: "a row of the store is damaged"
        case .full: "the store is full"
        }
    }

    /// Every ``subject``.
    package static let subjects = ["store", "row", "limit"]

    /// What fails, in a word for a log.
    package var subject: String {
        switch self {
        case .unavailable, .missing, .tooOld, .tooNew, .notCopied, .copyInTheWay, .needsBackup: "store"
        case .damaged: "row"
        case .full: "limit"
        }
    }
}
