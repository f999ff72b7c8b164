internal import BetterAuthMessages
internal import BetterAuthServer

/// Has a server's keys endorsed and brings the records to the key service, again and again: it may have been restarted.
struct KeyPublisher {
    private let hsm: PlainHTTP
    private let service: PlainHTTP
    private let token: String
    private var records: [PublicKeyText: SignedEndorsement] = [:]

    /// Seconds for which keys are endorsed (protocol.md 10.5).
    private static let lifetimes: [Endorsement.Purpose: Int64] = [.access: 86_400, .response: 43_260]

    init(hsm: PlainHTTP, service: PlainHTTP, token: [UInt8]) {
        self.hsm = hsm
        self.service = service
        self.token = String(decoding: token, as: UTF8.self)
    }

    mutating func publish(_ keys: ServerKeys, now: Timestamp) throws {
        let published = keys.published(now: now)
        let wanted =
            published.response.map { ($0, Endorsement.Purpose.response) } + published.access.map { ($0, .access) }
        for (key, purpose) in wanted {
            let lifetime = KeyPublisher.lifetimes[purpose] ?? 0
            if let known = records[key], known.payload.expiration > now.adding(seconds: lifetime / 2) {
                // A generation that was tainted since is refused by the service, and another record asked for.
                if (try? service.post("/keys", known.bytes)) != nil { continue }
            }
            let request =
                #"{"payload":{"purpose":"\#(purpose.rawValue)","publicKey":"\#(key)","expiration":"\#(now.adding(seconds: lifetime))"}}"#
            guard let answer = try hsm.post("/sign", Array(request.utf8), token: token) else {
                throw PlainHTTP.Failure(description: "the key chain's keeper does not sign")
            }
            let record = try unsafe SignedEndorsement(record: answer.span.bytes)
            _ = try service.post("/keys", record.bytes)
            records[key] = record
        }
        records = records.filter { entry in wanted.contains { $0.0 == entry.key } }
    }
}
