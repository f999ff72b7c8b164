package import BetterAuthMessages
package import BetterAuthServer
internal import Synchronization

/// A store that forgets everything with its process. No server has it: tests, tours and fuzzers do.
package final class MemoryStore: ServerStore {
    private struct State {
        var accounts: [IdentityID: Account] = [:]
        var challenges = ChallengeBook()
        var keys: KeyMark?
        var word: [UInt8]?
        var reservations: ExpiringMap<RotationHash, OperationKey>
    }

    private let state: Mutex<State>

    /// - Parameter reservations: Refreshes that can be remembered at one time; none is forgotten before its time.
    package init(reservations: Int = 1 << 20) {
        state = Mutex(State(reservations: ExpiringMap(capacity: reservations)))
    }

    package var isRemote: Bool { false }

    package func account(_ identity: IdentityID) throws(StoreError) -> Account? {
        state.withLock { $0.accounts[identity] }
    }

    package func apply(_ change: AccountChange, then: @escaping Completion<AccountOutcome>) {
        let outcome: AccountOutcome = state.withLock { state in
            switch change.decision(on: state.accounts[change.identity]) {
            case .commit(let account, _):
                state.accounts[change.identity] = account
                return .committed
            case .repeated(let reply): return .repeated(reply)
            case .refused(let error): return .refused(error)
            }
        }
        then(.success(outcome))
    }

    package func open(_ challenge: Challenge, then: @escaping Completion<Void>) {
        state.withLock { $0.challenges.open(challenge) }
        then(.success(()))
    }

    package func challenge(
        _ nonce: NonceText, answeredBy operation: OperationKey, now: Timestamp
    ) throws(StoreError) -> ChallengeState {
        state.withLock { $0.challenges.state(of: nonce, answeredBy: operation, now: now) }
    }

    package func answer(_ answer: ChallengeAnswer, then: @escaping Completion<SessionOutcome>) {
        let outcome: SessionOutcome = state.withLock { state in
            let account = state.accounts[answer.reply.identity]
            guard account?.isActive == true, account?.device(answer.reply.device)?.publicKey == answer.publicKey else {
                return .revoked
            }
            return state.challenges.answer(answer)
        }
        then(.success(outcome))
    }

    package func reserve(_ refresh: RefreshReservation, then: @escaping Completion<SessionOutcome>) {
        let result: Result<SessionOutcome, StoreError> = state.withLock { state in
            guard let account = state.accounts[refresh.reply.identity],
                account.honours(refresh.reply.device, issuedAt: refresh.issuedAt)
            else { return .success(.revoked) }
            if let operation = state.reservations.value(refresh.revealed, now: refresh.moment) {
                guard operation == refresh.operation,
                    let reply = state.challenges.reply(to: operation, now: refresh.moment)
                else { return .success(.used) }
                return .success(.repeated(reply))
            }
            guard
                state.reservations.insert(
                    refresh.operation, for: refresh.revealed, until: refresh.reservedUntil, now: refresh.moment)
            else { return .failure(.full) }
            state.challenges.keep(
                refresh.reply, of: refresh.operation, until: refresh.until, now: refresh.moment)
            return .success(.committed)
        }
        then(result)
    }

    package func probe(now: Timestamp) {}

    package func keyMark() throws(StoreError) -> KeyMark? { state.withLock { $0.keys } }

    package func setKeyMark(_ mark: KeyMark, over known: KeyMark?) throws(StoreError) -> Bool {
        state.withLock { state in
            guard state.keys == known else { return false }
            state.keys = mark
            return true
        }
    }

    package func leave(word: [UInt8]) throws(StoreError) -> Bool {
        state.withLock { $0.word = word }
        return true
    }

    package func word() throws(StoreError) -> [UInt8]? { state.withLock { $0.word } }

    package func accounts(after name: [UInt8], most count: Int) throws(StoreError) -> [StoredAccount] {
        let known = state.withLock { $0.accounts }.map { StoredAccount(name: $0.key.rawBytes, account: $0.value) }
        let later = known.filter { name.lexicographicallyPrecedes($0.name) }
        return Array(later.sorted { $0.name.lexicographicallyPrecedes($1.name) }.prefix(count))
    }

    package func close() {}
}
