import BetterAuth
import BetterAuthMessages
import BetterAuthServer
import Synchronization
import TestSupport
import Testing

/// What comes back in place of the server's answer.
enum WrongAnswer: String, CaseIterable, Hashable, CustomTestStringConvertible {
    case page401, page404, page502, page200, empty404, empty500, empty200, noise200, gatewayJSON, refusal, half, huge
    case redirect, otherType, otherRequest, stale, wrongSigner, claimedKey, informational
    case late, dropped, cutTLS, unreachable
    var testDescription: String { rawValue }

    /// What must never be shown: it would be obeyed by a terminal, or believed by its reader.
    static let hostileText = "\u{1b}[2Jcall +1 555 0100"
    static let page = Array("<!DOCTYPE html><html><title>\(hostileText)</title><h1>404 Not Found</h1></html>\n".utf8)

    /// Comes before a path was named.
    var isOfTheHost: Bool { self == .cutTLS || self == .unreachable }
}

/// The true server, and somebody who stands in front of it for a while.
final class HostileNetwork: Transport {
    /// What it does.
    struct Attack: Hashable, CustomStringConvertible {
        let answer: WrongAnswer
        /// The server hears the request before the answer is replaced.
        let isProcessed: Bool
        /// Answers that are replaced.
        let times: Int
        /// Not only on the operation's own path.
        let isEverywhere: Bool

        var description: String {
            "\(answer.rawValue), \(isProcessed ? "after" : "before") it is processed, "
                + "\(times == .max ? "until he goes" : "\(times) times"), \(isEverywhere ? "everywhere" : "on one path")"
        }
    }

    private struct State {
        var attack: Attack?
        var path = ""
        var left = 0
        /// Before a request to this path what was held back arrives.
        var overtaken = ""
        /// The last true answer of each path, and of any.
        var answers: [String: [UInt8]] = [:]
        var lastAnswer: [UInt8] = []
    }

    static let appPath = "/notes"

    let world: World
    private let key: SoftwareSigningKey
    private let appKey: SoftwareSigningKey
    private let verifier: AccessVerifier
    private let state = Mutex(State())

    init(_ world: World) throws {
        self.world = world
        key = try .generate()
        appKey = try SoftwareSigningKey(scalar: world.responseKey.scalar())
        let accessKey = world.server.keys.accessKey(now: world.clock.now).publicKey
        verifier = AccessVerifier(
            keys: PinnedServerKeys(access: [try VerificationKey(accessKey)]), nonces: MemoryNonceStore(),
            revocations: MemoryRevocationList())
    }

    func begin(_ attack: Attack, on path: String) {
        state.withLock { state in
            state.attack = attack
            state.path = path
            state.left = attack.times
        }
    }

    /// What it holds back arrives just before the next request to this path.
    func release(before path: String) { state.withLock { $0.overtaken = path } }

    /// It goes, and what it held back arrives.
    func end() {
        state.withLock { $0.attack = nil }
        world.deliverLate(all: true)
    }

    func send(_ request: TransportRequest) async throws(TransportError) -> TransportReply {
        world.clock.advance(5)
        let attack = state.withLock { state -> Attack? in
            guard let attack = state.attack, state.left > 0, attack.isEverywhere || state.path == request.path else {
                return nil
            }
            if state.left < .max { state.left -= 1 }
            return attack
        }
        // Most servers say 200 to everything.
        guard let attack else {
            if state.withLock({ $0.overtaken == request.path }) { world.deliverLate(all: true) }
            return TransportReply(status: 200, body: await truth(request), contentType: "application/json")
        }
        let genuine = attack.isProcessed ? await truth(request, isSeen: false) : nil
        return try lie(attack.answer, request, genuine)
    }

    private func truth(_ request: TransportRequest, isSeen: Bool = true) async -> [UInt8] {
        let body = request.body ?? []
        let answer = request.path == HostileNetwork.appPath ? await app(body) : world.deliver(request.path, body)
        if isSeen {
            state.withLock { state in
                state.answers[request.path] = answer
                state.lastAnswer = answer
            }
        }
        return answer
    }

    private func app(_ body: [UInt8]) async -> [UInt8] {
        do throws(AccessRefusal) {
            let access = try await verifier.verify(body, now: world.clock.now)
            guard let data = try? ApplicationData(json: #"{"done":"yes"}"#),
                let reply = try? access.reply(data, signedBy: appKey)
            else { return [] }
            return reply
        } catch { return error.reply.encoded }
    }

    private func lie(
        _ answer: WrongAnswer, _ request: TransportRequest, _ genuine: [UInt8]?
    ) throws(TransportError) -> TransportReply {
        func html(_ status: Int) -> TransportReply {
            TransportReply(status: status, body: WrongAnswer.page, contentType: "text/html; charset=\u{1b}[2J")
        }
        func json(_ body: [UInt8], _ status: Int = 200) -> TransportReply {
            TransportReply(status: status, body: body, contentType: "application/json")
        }
        switch answer {
        case .page401: return html(401)
        case .page404: return html(404)
        case .page502: return html(502)
        case .page200: return html(200)
        case .empty404: return TransportReply(status: 404, body: [])
        case .empty500: return TransportReply(status: 500, body: [])
        case .empty200: return TransportReply(status: 200, body: [])
        case .noise200: return TransportReply(status: 200, body: [0, 0xFF, 0x1B], contentType: "\u{1b}[2J/x")
        case .gatewayJSON: return json(Array(#"{"message":"Service Unavailable"}"#.utf8), 503)
        case .refusal: return json(Array(#"{"error":{"code":"BA104","message":"no"}}"#.utf8), 400)
        case .half:
            let whole = genuine ?? Array(#"{"payload":{"access":{"nonce":"0AAAAQIDBAUGBwgJCgsMDQ4P","serverIden"#.utf8)
            return json(Array(whole.prefix(whole.count / 2)))
        case .huge: throw .tooLarge
        case .redirect: return TransportReply(status: 302, body: [])
        case .otherType: return TransportReply(status: 200, body: Array("OK".utf8), contentType: "text/plain")
        case .otherRequest: return json(state.withLock { $0.lastAnswer })
        case .stale: return json(state.withLock { $0.answers[request.path] ?? $0.lastAnswer })
        case .wrongSigner: return json(forged(request, naming: key.publicKey))
        case .claimedKey: return json(forged(request, naming: world.responseKey.publicKey))
        case .informational: return TransportReply(status: 101, body: [])
        case .late:
            if genuine == nil, request.path != HostileNetwork.appPath { world.late(request.path, request.body ?? []) }
            throw .timedOut
        case .dropped: throw .broken("the connection was closed")
        case .cutTLS: throw .untrusted("the handshake broke off")
        case .unreachable: throw .unreachable("nobody listens")
        }
    }

    /// A yes to this very request, signed by a stranger.
    private func forged(_ request: TransportRequest, naming name: PublicKeyText) -> [UInt8] {
        let text = (request.body ?? []).text
        guard let start = text.firstRange(of: #""nonce":""#)?.upperBound,
            let nonce = NonceText(text[start...].prefix(NonceText.textSize)),
            let message = try? SignedMessage(
                Response<RotateDevice>(nonce: nonce, serverIdentity: name, body: EmptyBody()), signedBy: key)
        else { return [] }
        return message.bytes
    }
}
