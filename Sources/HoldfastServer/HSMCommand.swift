internal import BetterAuthHTTP
internal import BetterAuthMessages
internal import BetterAuthServer
internal import CommandLineArguments
internal import SecretMemory
internal import Synchronization
internal import SystemCalls

extension ServerCommand {
    static let hsm = ServerCommand(
        "hsm", summary: "keep a key chain, and endorse servers' keys with it",
        details: [
            "Endorses the keys of servers that send the sign token. Rotating and tainting the chain needs the admin "
                + "token: someone who broke into a server has only the other one.",
            "When it is ready it prints one line: ready, its URL, and the identity of the key chain.",
        ],
        example: "holdfast-server hsm --listen 127.0.0.1:8081 --folder chain --sign-token-file sign.token "
            + "--admin-token-file admin.token",
        required: [
            ServerOptions.listen.option, ServerOptions.folder.option, ServerOptions.signToken.option,
            ServerOptions.adminToken.option,
        ],
        options: [ServerOptions.keysIn.option] + ServerOptions.listening, run: keepChain)
}

private func keepChain(_ arguments: Arguments) throws -> ServerExit {
    Signals.hold()
    let chain = try KeyChainFolder(
        arguments.required(ServerOptions.folder), KeyPlace.protection(arguments), now: SystemClock().now)
    let identity = chain.identity
    let service = HSMService(
        chain, sign: try HSMService.token(arguments, ServerOptions.signToken),
        admin: try HSMService.token(arguments, ServerOptions.adminToken), log: FrontOptions.log(arguments))
    let settings = try FrontOptions.settings(arguments)
    let front = try HTTPServer(listening: arguments.required(ServerOptions.listen), service, settings)
    FrontOptions.announce(front, settings, key: identity.description)
    while !Signals.wait(seconds: 3600) {}
    return front.stop() ? .done : .failure
}

extension HSMService {
    /// The first line of the file that an option names.
    static func token(_ arguments: Arguments, _ option: TextOption) throws(UsageError) -> [UInt8] {
        let path = try arguments.required(option)
        let token = Array(try TextFile.read(path).prefix { $0 != "\n" }.utf8)
        guard token.count >= 32 else { throw UsageError("\(path): a token must have at least 32 characters") }
        return token
    }
}

/// The paths of the key chain's keeper.
final class HSMService: HTTPService {
    /// Seconds for which a key is vouched for at the most.
    private static let longest: Int64 = 86_400 + 3600

    private let chain: Mutex<KeyChainFolder>
    private let sign: [UInt8]
    private let admin: [UInt8]
    private let log: ServerLog
    private let rates = AddressRates(perSecond: 20, burst: 100)

    init(_ chain: KeyChainFolder, sign: [UInt8], admin: [UInt8], log: ServerLog) {
        self.chain = Mutex(chain)
        self.sign = sign
        self.admin = admin
        self.log = log
    }

    enum Route: Sendable { case health, chain, sign, rotate, taint }

    func route(_ path: String) -> Route? {
        switch path {
        case "/health": .health
        case "/hsm/keys": .chain
        case "/sign": .sign
        case "/rotate": .rotate
        case "/taint": .taint
        default: nil
        }
    }

    func refusal(_ method: HTTPRequest.Method?, at route: Route, _ address: ClientAddress) -> HTTPReply? {
        switch (method, route) {
        case (.post, _), (.get, .health), (.get, .chain): break
        default: return HTTPReply(.plain(.wrongMethod))
        }
        return rates.admit(address, now: MonotonicClock.seconds) ? nil : HTTPReply(.plain(.limited))
    }

    func handle(_ request: HTTPRequest, at route: Route, _ answer: @escaping @Sendable (HTTPReply) -> Void) {
        switch route {
        case .health: answer(.text("ok\n"))
        case .chain: answer(HTTPReply(.json, chain.withLock { $0.published }))
        case .sign: answer(isAllowed(request, sign) ? endorsement(request.body) : HTTPReply(.plain(.wrongSignature)))
        case .rotate, .taint:
            guard isAllowed(request, admin) else { return answer(HTTPReply(.plain(.wrongSignature))) }
            answer(rotation(taintPrevious: route == .taint))
        }
    }

    private func isAllowed(_ request: HTTPRequest, _ token: [UInt8]) -> Bool {
        let given = Array((request.authorization ?? "").utf8)
        let expected = Array("Bearer ".utf8) + token
        return unsafe constantTimeEquals(given.span.bytes, expected.span.bytes)
    }

    /// `{"payload":{"purpose":…,"publicKey":…,"expiration":…}}`, of which nothing else is signed: what comes from a server
    /// can never be taken for an event of the chain.
    private func endorsement(_ body: [UInt8]) -> HTTPReply {
        guard let message = unsafe try? ApplicationData(json: body.span.bytes),
            let payload = message.members()?["payload"]?.members(), payload.count == 3,
            let purpose = payload["purpose"].flatMap({ Endorsement.Purpose(rawValue: HSMService.text($0)) }),
            let key = payload["publicKey"].flatMap({ PublicKeyText(HSMService.text($0)) }),
            let expiration = payload["expiration"].flatMap({ Timestamp(HSMService.text($0)) })
        else { return HTTPReply(.plain(.invalidMessage)) }
        let now = SystemClock().now
        guard expiration > now, expiration <= now.adding(seconds: HSMService.longest) else {
            return HTTPReply(.plain(.invalidMessage))
        }
        guard let record = try? chain.withLock({ try $0.endorse(key, purpose, until: expiration) }) else {
            return HTTPReply(.plain(.base))
        }
        return HTTPReply(.json, record.bytes + [0x0A])
    }

    private func rotation(taintPrevious: Bool) -> HTTPReply {
        do {
            let number = try chain.withLock { chain in
                try chain.append(taintPrevious: taintPrevious, now: SystemClock().now)
                return chain.events.count - 1
            }
            log.write(.notice, taintPrevious ? "tainted" : "rotated", ["generation": String(number)])
            return .text("generation \(number)\n")
        } catch {
            log.write(.error, "chain", ["reason": "\(error)"])
            return HTTPReply(.plain(.base))
        }
    }

    func sent(_ reply: HTTPReply, to path: String, at route: Route?, _ address: ClientAddress, duration: Int) {
        guard reply.status >= 400 else { return }
        log.write(.notice, "refused", ["status": String(reply.status), "address": address.description])
    }

    /// A string without its quotation marks; what is read so has no escapes.
    static func text(_ data: ApplicationData) -> String {
        guard data.bytes.first == UInt8(ascii: "\""), data.bytes.count >= 2 else { return "" }
        return String(decoding: data.bytes.dropFirst().dropLast(), as: UTF8.self)
    }
}
