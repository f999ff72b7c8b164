internal import BetterAuthMessages
internal import BetterAuthServer
internal import Synchronization

/// What expires, in Redis. Keys that one script touches share a tag in braces, so that they lie on one node of a
/// cluster.
///
///     holdfast:c:{NONCE}  identity           holdfast:r:{NONCE}  operation, identity, device, reply
///     holdfast:h:{HASH}   1                  holdfast:r:{HASH}   the same
///     holdfast:l:{IDENTITY}  challenges of an identity, the earliest first
///     holdfast:n:NONCE    1                  holdfast:d:DEVICE   1        holdfast:v:IDENTITY  milliseconds
///     holdfast:w:DEVICE   milliseconds
///     holdfast:mark       a name, without an end
final class ExpiringEntries: Sendable {
    private let connections: ConnectionPool<RedisConnection, StoreError>

    init(_ location: RedisLocation) {
        connections = ConnectionPool { () throws(StoreError) in try RedisConnection(location) }
    }

    private static let prefix = "holdfast:"

    private func key(_ kind: String, _ name: some CESRValue) -> [UInt8] {
        Array("\(ExpiringEntries.prefix)\(kind):{\(name)}".utf8)
    }

    private func milliseconds(from moment: Timestamp, to end: Timestamp) -> [UInt8] {
        Array(String(max(1, end.milliseconds - moment.milliseconds + 1)).utf8)
    }

    private func word(_ text: String) -> [UInt8] { Array(text.utf8) }

    /// - Parameter isRepeatable: Whether doing it twice is the same as once, so that a connection that turns out to be
    ///   dead is no reason to give up.
    private func run(_ words: [[UInt8]], isRepeatable: Bool = true) throws(StoreError) -> RedisConnection.Answer {
        func once() throws(StoreError) -> RedisConnection.Answer {
            try connections.use({ connection throws(StoreError) in try connection.run(words) }, isGood: \.isGood)
        }
        do throws(StoreError) {
            do throws(StoreError) {
                return try noted(once())
            } catch {
                connections.clear()
                guard isRepeatable else { throw error }
                return try noted(once())
            }
        } catch {
            works.store(false, ordering: .relaxed)
            throw error
        }
    }

    private func noted(_ answer: RedisConnection.Answer) -> RedisConnection.Answer {
        works.store(true, ordering: .relaxed)
        return answer
    }

    private let works = Atomic(true)

    /// Whether the last command was done.
    var isUp: Bool { works.load(ordering: .relaxed) }

    var connectionCounts: (idle: Int, used: Int) { connections.counts }

    // Challenges.

    func open(_ challenge: Challenge) throws(StoreError) {
        let life = milliseconds(from: challenge.moment, to: challenge.until)
        _ = try run([
            word("SET"), key("c", challenge.nonce), challenge.identity.rawBytes, word("PX"), life,
        ])
        let list = key("l", challenge.identity)
        let length = try run([word("RPUSH"), list, challenge.nonce.rawBytes], isRepeatable: false)
        _ = try run([word("PEXPIRE"), list, life])
        guard case .number(let count) = length, count > Int64(ChallengeBook.maximumPerIdentity) else { return }
        guard case .bytes(let raw) = try run([word("LPOP"), list], isRepeatable: false),
            let earliest = unsafe NonceText(raw: raw.span.bytes)
        else { return }
        _ = try run([word("DEL"), key("c", earliest)])
    }

    func challenge(_ nonce: NonceText, answeredBy operation: OperationKey) throws(StoreError) -> ChallengeState {
        if case .bytes(let raw) = try run([word("GET"), key("c", nonce)]) {
            guard let identity = unsafe IdentityID(raw: raw.span.bytes) else { throw .damaged }
            return .open(identity)
        }
        guard case .bytes(let kept) = try run([word("GET"), key("r", nonce)]) else { return .unknown }
        return try reply(kept, to: operation).map { .answered($0) } ?? .unknown
    }

    /// One winner: the script runs alone.
    private static let answerScript = """
        \(markCondition) if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) \
        redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3]) return 1 end \
        return redis.call('GET', KEYS[2])
        """

    /// - Parameter mark: What Redis must still have; nil when that does not matter.
    func answer(_ answer: ChallengeAnswer, if mark: String?) throws(StoreError) -> SessionOutcome {
        let result = try evaluate(
            ExpiringEntries.answerScript, [key("c", answer.challenge), key("r", answer.challenge)],
            [
                answer.reply.identity.rawBytes, kept(answer.reply, answer.operation),
                milliseconds(from: answer.moment, to: answer.until),
            ], if: mark)
        return try outcome(result, answer.operation)
    }

    // Keys that refresh.

    private static let reserveScript = """
        \(markCondition) if redis.call('SET', KEYS[1], '1', 'NX', 'PX', ARGV[1]) then \
        redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3]) return 1 end \
        return redis.call('GET', KEYS[2])
        """

    /// - Parameters:
    ///   - seconds: For which it is remembered at least: under a clock that is ahead little of the session seems left.
    ///   - mark: As for answers.
    func reserve(
        _ refresh: RefreshReservation, seconds: Int64, if mark: String?
    ) throws(StoreError) -> SessionOutcome {
        let end = max(refresh.reservedUntil, refresh.moment.adding(seconds: seconds))
        let result = try evaluate(
            ExpiringEntries.reserveScript, [key("h", refresh.revealed), key("r", refresh.revealed)],
            [
                milliseconds(from: refresh.moment, to: end), kept(refresh.reply, refresh.operation),
                milliseconds(from: refresh.moment, to: refresh.until),
            ], if: mark)
        return try outcome(result, refresh.operation)
    }

    private func evaluate(
        _ script: String, _ keys: [[UInt8]], _ values: [[UInt8]], if mark: String?
    ) throws(StoreError) -> RedisConnection.Answer {
        let all = keys + (mark == nil ? [] : [ExpiringEntries.markKey])
        return try run(
            [word("EVAL"), word(script), word(String(all.count))] + all + values + (mark.map { [word($0)] } ?? []))
    }

    private func outcome(
        _ result: RedisConnection.Answer, _ operation: OperationKey
    ) throws(StoreError) -> SessionOutcome {
        switch result {
        case .number(-1): throw .unavailable("Redis has forgotten what it was told")
        case .number: return .committed
        case .bytes(let kept): return try reply(kept, to: operation).map { .repeated($0) } ?? .used
        case .none, .status: return .used
        }
    }

    private func kept(_ reply: SessionReply, _ operation: OperationKey) -> [UInt8] {
        operation.rawBytes + reply.identity.rawBytes + reply.device.rawBytes + reply.bytes
    }

    /// Nil when it is the reply to another operation.
    private func reply(_ kept: [UInt8], to operation: OperationKey) throws(StoreError) -> SessionReply? {
        let size = DigestText.rawSize
        guard kept.count >= 3 * size,
            let identity = unsafe IdentityID(raw: kept.span.bytes.extracting(size..<2 * size)),
            let device = unsafe DeviceID(raw: kept.span.bytes.extracting(2 * size..<3 * size))
        else { throw .damaged }
        guard kept.starts(with: operation.rawBytes) else { return nil }
        return SessionReply(identity: identity, device: device, bytes: Array(kept[(3 * size)...]))
    }

    // What application servers share.

    /// Takes a nonce; false when it is taken.
    func reserve(_ nonce: NonceText, until: Timestamp, now: Timestamp) throws(StoreError) -> Bool {
        let answer = try run(
            [word("SET"), key("n", nonce), word("1"), word("NX"), word("PX"), milliseconds(from: now, to: until)],
            isRepeatable: false)
        if case .status = answer { return true }
        return false
    }

    /// Tells application servers that devices, and tokens of others from before a moment, count no longer.
    func publish(
        devices: [DeviceID], marks: [(device: DeviceID, voidBefore: Timestamp)], seconds: Int64
    ) throws(StoreError) {
        let life = word(String(seconds * 1000))
        for device in devices { _ = try run([word("SET"), key("d", device), word("1"), word("PX"), life]) }
        for (device, moment) in marks {
            _ = try run([word("SET"), key("w", device), word(String(moment.milliseconds)), word("PX"), life])
        }
    }

    func isVoid(_ device: DeviceID, of identity: IdentityID, issuedAt: Timestamp) throws(StoreError) -> Bool {
        if case .bytes = try run([word("GET"), key("d", device)]) { return true }
        if try isVoid(issuedAt, by: key("w", device)) { return true }
        // Earlier programs mark the whole account; what they have written ends with the last token that it is about.
        return try isVoid(issuedAt, by: key("v", identity))
    }

    private func isVoid(_ issuedAt: Timestamp, by key: [UInt8]) throws(StoreError) -> Bool {
        guard case .bytes(let text) = try run([word("GET"), key]) else { return false }
        guard let moment = Int64(String(decoding: text, as: UTF8.self)) else { throw .damaged }
        return issuedAt.milliseconds < moment
    }

    // Whether Redis remembers.

    private static let markKey = Array("\(prefix)mark".utf8)

    /// In front of scripts that must not believe a memory that is gone.
    private static let markCondition = "if KEYS[3] and redis.call('GET', KEYS[3]) ~= ARGV[4] then return -1 end"

    /// What Redis is like at this moment.
    struct State {
        /// The mark that it was given; nil when it has none.
        let mark: String?
        /// Of its process; empty when it does not tell.
        let run: String
        /// Whether what it is told survives it. Where it does not tell, it is believed.
        let writesDown: Bool
        let evicts: Bool
    }

    func state() throws(StoreError) -> State {
        var mark: String?
        if case .bytes(let found) = try run([word("GET"), ExpiringEntries.markKey]) {
            mark = String(decoding: found, as: UTF8.self)
        }
        // Its user may not be allowed to ask.
        let text: String
        if case .bytes(let told) = try? run([word("INFO")]) {
            text = String(decoding: told, as: UTF8.self)
        } else {
            text = ""
        }
        func value(_ name: String) -> String? {
            text.split(whereSeparator: \.isNewline).first { $0.hasPrefix(name + ":") }
                .map { String($0.dropFirst(name.count + 1)) }
        }
        return State(
            mark: mark, run: value("run_id") ?? "", writesDown: value("aof_enabled") != "0",
            evicts: value("maxmemory_policy").map { $0 != "noeviction" } ?? false)
    }

    /// The mark that Redis has; this one if it has none.
    func mark(orElse mark: String) throws(StoreError) -> String {
        _ = try run([word("SET"), ExpiringEntries.markKey, word(mark), word("NX")])
        guard case .bytes(let found) = try run([word("GET"), ExpiringEntries.markKey]) else {
            throw .unavailable("Redis does not keep what it is told")
        }
        return String(decoding: found, as: UTF8.self)
    }

    /// Writes something: a replica that cannot be written, a full memory and a disk that fails all refuse that.
    func probe() throws(StoreError) {
        _ = try run([word("SET"), word(ExpiringEntries.prefix + "probe"), word("1"), word("PX"), word("60000")])
    }

    func close() { connections.clear() }
}
