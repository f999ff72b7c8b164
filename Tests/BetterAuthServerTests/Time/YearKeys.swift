import BetterAuthHTTP
import BetterAuthMessages
import BetterAuthServer
import BetterAuthVerification
import Foundation
import TestSupport
import Testing

@testable import HoldfastServer

/// A service without limits of addresses: an hour passes in a moment here.
private struct Unlimited<Service: HTTPService>: HTTPService {
    let service: Service

    func route(_ path: String) -> Service.Route? { service.route(path) }

    func refusal(_ method: HTTPRequest.Method?, at route: Service.Route, _ address: ClientAddress) -> HTTPReply? { nil }

    func handle(_ request: HTTPRequest, at route: Service.Route, _ answer: @escaping @Sendable (HTTPReply) -> Void) {
        service.handle(request, at: route, answer)
    }

    func sent(_ reply: HTTPReply, to path: String, at route: Service.Route?, _ request: AnsweredRequest) {
        service.sent(reply, to: path, at: route, request)
    }
}

/// A key chain's keeper and a key service around it, over HTTP, under a clock that a test sets.
final class YearKeys {
    let folder: String
    let identity: DigestText
    let publication: Publication
    private let hsm: HSMService
    private let keys: KeysService
    private let fronts: [HTTPServer]
    private let conditions: Conditions
    private let admin = String(repeating: "a", count: 40)

    /// - Parameter rotations: For which the new chain has room.
    init(_ folder: String, rotations: Int, clock: TestClock) throws {
        let log = ServerLog(.error, clock: clock)
        let chain = try YearKeys.chain(folder, rotations, clock.now)
        let sign = String(repeating: "s", count: 40)
        let hsm = try HSMService(chain, sign: SecretText(sign), admin: SecretText(admin), log: log, clock: clock)
        let keeper = try HTTPServer(listening: "127.0.0.1:0", Unlimited(service: hsm), HTTPSettings())
        let hsmClient = try YearKeys.client(keeper)
        let keys = KeysService(hsmClient, chain.identity, log, clock: clock)
        let front = try HTTPServer(listening: "127.0.0.1:0", Unlimited(service: keys), HTTPSettings())
        let publisher = KeyPublisher(
            hsm: hsmClient, service: try YearKeys.client(front), token: try SecretText(sign))
        conditions = Conditions(log)
        publication = Publication(publisher, conditions, clock: clock)
        (self.folder, self.hsm, self.keys, fronts) = (folder, hsm, keys, [keeper, front])
        identity = chain.identity
        renew()
    }

    private static func client(_ front: HTTPServer) throws -> PlainHTTP {
        try #require(PlainHTTP("http://\(front.address)"))
    }

    private static func chain(_ folder: String, _ rotations: Int, _ now: Timestamp) throws -> KeyChainFolder {
        _ = try KeyChainFolder.make(folder, .file, now: now)
        var chain = try KeyChainFolder.held(folder, .file)
        // Events have one size but for their numbers.
        chain.largest = 65_536 + 1024 + (rotations + 1) * (chain.published.count + 4)
        return chain
    }

    func close() { for front in fronts { front.stop() } }

    /// What the key service does every 5 seconds.
    func renew() { keys.renew(conditions) }

    var problem: (any Error)? { keys.problem }
    var room: Int { hsm.room }
    var generation: Int { hsm.generation }
    /// Keys of servers that clients can learn now.
    var count: Int { keys.count }

    /// A value of the keeper's metrics.
    func metric(_ name: String) -> Int? {
        var text = MetricsText()
        hsm.write(to: &text)
        return text.text.split(separator: "\n").first { $0.hasPrefix("\(name) ") }
            .flatMap { $0.split(separator: " ").last }.flatMap { Double($0) }.map { Int($0) }
    }

    /// Rotates the chain.
    /// - Returns: Whether it was done.
    func rotate() throws -> Bool {
        let reply = try HTTPClient(fronts[0].address).post(
            "/rotate", Array(#"{"generation":\#(hsm.generation)}"#.utf8), headers: "Authorization: Bearer \(admin)\r\n")
        return reply.status == 200
    }

    /// What a client learns that knows the identity alone, from the key service.
    func learned(_ key: PublicKeyText, _ purpose: Endorsement.Purpose, now: Timestamp) throws -> Bool {
        let client = try HTTPClient(fronts[1].address)
        let told = try client.get("/hsm/keys").body
        let list = try unsafe KeyEventList(parsing: told.span.bytes)
        let chain = try KeyChain(list, identity: identity, window: KeyChain.Window.client, now: now)
        let reply = try client.get("/keys/\(key)")
        guard reply.status == 200 else { return false }
        let record = try unsafe SignedEndorsement(record: reply.body.span.bytes)
        do { _ = try chain.check(record, of: key, for: purpose, now: now) } catch { return false }
        return true
    }

    /// Bytes of the files in the folder, all of which somebody else can read at this moment.
    func sizes() throws -> [String: Int] {
        let read = try KeyChainFolder(folder, .file)
        #expect(read.events.count == generation + 1)
        let names = ["keys", "events", "endorsed"]
        return Dictionary(uniqueKeysWithValues: try names.map { ($0, try YearKeys.size("\(folder)/\($0)")) })
    }

    static func size(_ path: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return try #require((attributes[.size] as? NSNumber)?.intValue)
    }
}
