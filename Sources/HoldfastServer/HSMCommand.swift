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
    let sign = try HSMService.token(arguments, ServerOptions.signToken)
    let admin = try HSMService.token(arguments, ServerOptions.adminToken)
    guard sign != admin else {
        throw UsageError("--sign-token-file and --admin-token-file contain the same token; make two")
    }
    let settings = try FrontOptions.settings(arguments)
    let folder = try arguments.required(ServerOptions.folder)
    let protection = try KeyPlace.protection(arguments)
    let listener = try HTTPListener(arguments.required(ServerOptions.listen))
    let chain = try KeyChainFolder(folder, protection, now: SystemClock().now)
    let identity = chain.identity
    let service = HSMService(chain, sign: sign, admin: admin, log: FrontOptions.log(arguments))
    let operated = OperatedService(
        service, try FrontOptions.metricsAccess(arguments, settings),
        more: { $0.gauge("holdfast_chain_generation", service.generation, "The generation of the key chain.") })
    let front = try HTTPServer(listener, operated, settings)
    FrontOptions.announce(front, settings, key: identity.description)
    Signals.waitForStop()
    return front.stop() ? .done : .failure
}

extension HSMService {
    /// The first line of the file that an option names, which only its owner may read.
    static func token(_ arguments: Arguments, _ option: TextOption) throws(UsageError) -> [UInt8] {
        let path = try arguments.required(option)
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { throw UsageError("\(path): \(SystemError.last)") }
        guard status.st_mode & 0o077 == 0 else {
            throw UsageError("\(path) can be read by other users; give it the mode 0600, and write a new token into it")
        }
        let token = Array(try TextFile.read(path).prefix { $0 != "\n" }.utf8)
        guard token.count >= 32, token.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw UsageError("\(path): a token must have at least 32 characters, without spaces, in the first line")
        }
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

    /// The number of the generation that signs.
    var generation: Int { chain.withLock { $0.events.count - 1 } }

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
        case (_, .health), (_, .chain): return .wrongMethod(allowed: "GET, HEAD, POST")
        default: return .wrongMethod(allowed: "POST")
        }
        return rates.refusal(address, now: MonotonicClock.seconds)
    }

    func handle(_ request: HTTPRequest, at route: Route, _ answer: @escaping @Sendable (HTTPReply) -> Void) {
        switch route {
        case .health: answer(.text("ok\n"))
        case .chain: answer(HTTPReply(.json, chain.withLock { $0.published }))
        case .sign: answer(isAllowed(request, sign) ? endorsement(request.body) : HTTPReply(.plain(.wrongSignature)))
        case .rotate, .taint:
            guard isAllowed(request, admin) else { return answer(HTTPReply(.plain(.wrongSignature))) }
            answer(rotation(request.body, taintPrevious: route == .taint))
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

    /// `{"generation":N}` with the number of the generation that is replaced: a slip or a repeat does nothing.
    private static func confirmed(_ body: [UInt8]) -> Int? {
        guard let members = unsafe (try? ApplicationData(json: body.span.bytes))?.members(), members.count == 1,
            let number = members["generation"]
        else { return nil }
        return Int(String(decoding: number.bytes, as: UTF8.self))
    }

    private func rotation(_ body: [UInt8], taintPrevious: Bool) -> HTTPReply {
        do {
            let confirmed = HSMService.confirmed(body)
            let made: Int? = try chain.withLock { chain in
                guard confirmed == chain.events.count - 1 else { return nil }
                try chain.append(taintPrevious: taintPrevious, now: SystemClock().now)
                return chain.events.count - 1
            }
            guard let made else { return HTTPReply(.plain(.invalidMessage)) }
            log.write(.notice, taintPrevious ? "tainted" : "rotated", ["generation": .number(made)])
            return .text("generation \(made)\n")
        } catch {
            log.write(.error, "chain", ["reason": .text(OperatorAdvice.line(for: error))])
            return HTTPReply(.plain(.base))
        }
    }

    func sent(_ reply: HTTPReply, to path: String, at route: Route?, _ request: AnsweredRequest) {
        guard reply.status >= 400 else { return }
        log.write(
            .notice, "refused", ["status": .number(reply.status), "address": .text(request.address.description)],
            of: request.trace)
    }

    /// A string without its quotation marks; what is read so has no escapes.
    static func text(_ data: ApplicationData) -> String {
        guard data.bytes.first == UInt8(ascii: "\""), data.bytes.count >= 2 else { return "" }
        return String(decoding: data.bytes.dropFirst().dropLast(), as: UTF8.self)
    }
}
