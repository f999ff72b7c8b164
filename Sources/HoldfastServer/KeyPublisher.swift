internal import BetterAuthMessages
internal import BetterAuthServer

/// Has a server's keys endorsed and brings the records to the key service, again and again: it may have been restarted.
struct KeyPublisher {
    private let hsm: PlainHTTP
    private let service: PlainHTTP
    private let token: SecretText
    private var records: [PublicKeyText: SignedEndorsement] = [:]
    /// Keys that the key service has taken, and when their records end. What it refuses later is no longer among them.
    private(set) var published: [PublicKeyText: Timestamp] = [:]

    /// Seconds for which keys are endorsed (protocol.md 10.5).
    private static let lifetimes: [Endorsement.Purpose: Int64] = [.access: 86_400, .response: 43_260]

    init(hsm: PlainHTTP, service: PlainHTTP, token: SecretText) {
        self.hsm = hsm
        self.service = service
        self.token = token
    }

    mutating func publish(_ keys: ServerKeys, now: Timestamp) throws {
        let found = keys.published(now: now)
        let wanted = found.response.map { ($0, Endorsement.Purpose.response) } + found.access.map { ($0, .access) }
        func isWanted(_ key: PublicKeyText) -> Bool { wanted.contains { $0.0 == key } }
        records = records.filter { isWanted($0.key) }
        published = published.filter { isWanted($0.key) }
        // A key that is refused keeps no other from being published.
        var refusal: PlainHTTP.Failure?
        for (key, purpose) in wanted {
            do { try publish(key, purpose, now: now) } catch let failure as PlainHTTP.Failure
                where failure.status != nil
            {
                refusal = refusal ?? failure
            }
        }
        if let refusal { throw refusal }
    }

    private mutating func publish(_ key: PublicKeyText, _ purpose: Endorsement.Purpose, now: Timestamp) throws {
        let lifetime = KeyPublisher.lifetimes[purpose] ?? 0
        if let known = records[key], known.payload.expiration > now.adding(seconds: lifetime / 2) {
            // A generation that was tainted since is refused by the service, and another record asked for.
            if try bring(known) { return }
        }
        let record = try endorse(key, purpose, until: now.adding(seconds: lifetime))
        guard try bring(record) else {
            throw PlainHTTP.Failure(
                description: "the key service refuses what the key chain's keeper signs",
                status: ErrorCode.wrongSignature.httpStatus)
        }
        records[key] = record
    }

    private func endorse(
        _ key: PublicKeyText, _ purpose: Endorsement.Purpose, until end: Timestamp
    ) throws -> SignedEndorsement {
        let request =
            #"{"payload":{"purpose":"\#(purpose.rawValue)","publicKey":"\#(key)","expiration":"\#(end)"}}"#
        let answer: [UInt8]?
        do { answer = try hsm.post("/sign", Array(request.utf8), token: token) } catch let failure as PlainHTTP.Failure
            where failure.status == HSMService.taintedKey.httpStatus
        {
            throw PlainHTTP.Failure(
                description:
                    "the key chain's keeper does not endorse a key that a tainted generation has endorsed; make "
                    + "others with holdfast-server rotate-keys --compromised, and bring the file to every server",
                status: failure.status)
        }
        guard let answer else {
            throw PlainHTTP.Failure(description: "what --hsm names is no keeper of a key chain")
        }
        return try unsafe SignedEndorsement(record: answer.span.bytes)
    }

    /// Brings a record to the key service.
    /// - Returns: False when it was refused.
    private mutating func bring(_ record: SignedEndorsement) throws -> Bool {
        let key = record.payload.publicKey
        do {
            guard try service.post("/keys", record.bytes) != nil else {
                throw PlainHTTP.Failure(description: "what --key-service names is no key service")
            }
            published[key] = record.payload.expiration
            return true
        } catch let failure as PlainHTTP.Failure where failure.status == ErrorCode.wrongSignature.httpStatus {
            published[key] = nil
            return false
        }
    }
}
