package import BetterAuthMessages
internal import SystemCalls

/// What a store can be asked, as far as its time is measured.
package enum StoreCall: String, Sendable, CaseIterable {
    case read = "read", change = "change", session = "session", challenge = "challenge"
}

/// A number that a store tells of itself.
package struct StoreGauge: Sendable {
    package let name: String
    package let help: String
    /// A label's name, its value, and the number.
    package let samples: [(label: String, value: String, number: Int)]
    /// Whether it only grows.
    package let isCounter: Bool

    package init(
        _ name: String, _ help: String, _ samples: [(label: String, value: String, number: Int)],
        isCounter: Bool = false
    ) {
        self.isCounter = isCounter
        self.name = name
        self.help = help
        self.samples = samples
    }
}

/// A store whose calls are timed.
package final class MeasuredStore: ServerStore {
    private let store: any ServerStore
    private let record: @Sendable (StoreCall, Int) -> Void

    /// - Parameter record: Told of each call, with microseconds.
    package init(_ store: any ServerStore, record: @escaping @Sendable (StoreCall, Int) -> Void) {
        self.store = store
        self.record = record
    }

    package var isRemote: Bool { store.isRemote }

    private func timed<Value>(
        _ call: StoreCall, _ body: () throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        let start = MonotonicClock.nanoseconds
        defer { record(call, Int(MonotonicClock.nanoseconds - start) / 1000) }
        return try body()
    }

    private func timed<Value: Sendable>(
        _ call: StoreCall, _ then: @escaping Completion<Value>
    ) -> Completion<Value> {
        let start = MonotonicClock.nanoseconds
        return { [record] result in
            record(call, Int(MonotonicClock.nanoseconds - start) / 1000)
            then(result)
        }
    }

    package func account(_ identity: IdentityID) throws(StoreError) -> Account? {
        try timed(.read) { () throws(StoreError) in try store.account(identity) }
    }

    package func apply(_ change: AccountChange, then: @escaping Completion<AccountOutcome>) {
        store.apply(change, then: timed(.change, then))
    }

    package func open(_ challenge: Challenge, then: @escaping Completion<Void>) {
        store.open(challenge, then: timed(.challenge, then))
    }

    package func challenge(
        _ nonce: NonceText, answeredBy operation: OperationKey, now: Timestamp
    ) throws(StoreError) -> ChallengeState {
        try timed(.challenge) { () throws(StoreError) in
            try store.challenge(nonce, answeredBy: operation, now: now)
        }
    }

    package func answer(_ answer: ChallengeAnswer, then: @escaping Completion<SessionOutcome>) {
        store.answer(answer, then: timed(.session, then))
    }

    package func reserve(_ refresh: RefreshReservation, then: @escaping Completion<SessionOutcome>) {
        store.reserve(refresh, then: timed(.session, then))
    }

    package func isVoid(
        _ device: DeviceID, of identity: IdentityID, issuedAt: Timestamp
    ) throws(StoreError) -> Bool {
        try timed(.read) { () throws(StoreError) in try store.isVoid(device, of: identity, issuedAt: issuedAt) }
    }

    package func probe(now: Timestamp) throws(StoreError) { try store.probe(now: now) }

    package func keyMark() throws(StoreError) -> KeyMark? { try store.keyMark() }

    package func setKeyMark(_ mark: KeyMark, over known: KeyMark?) throws(StoreError) -> Bool {
        try store.setKeyMark(mark, over: known)
    }

    package func leave(word: [UInt8]) throws(StoreError) -> Bool { try store.leave(word: word) }

    package func word() throws(StoreError) -> [UInt8]? { try store.word() }

    package func accounts(after name: [UInt8], most count: Int) throws(StoreError) -> [StoredAccount] {
        try store.accounts(after: name, most: count)
    }

    package var gauges: [StoreGauge] { store.gauges }

    package func close() { store.close() }
}
