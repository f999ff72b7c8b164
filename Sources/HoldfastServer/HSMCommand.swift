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
                + "token: someone who broke into a server has only the other one. The chain is made by init-chain.",
            "When it is ready it prints one line: ready, its URL, and the identity of the key chain.",
        ],
        example: "holdfast-server hsm --listen 127.0.0.1:8081 --folder chain --sign-token-file sign.token "
            + "--admin-token-file admin.token",
        required: [
            ServerOptions.listen.option, ServerOptions.folder.option, ServerOptions.signToken.option,
            ServerOptions.adminToken.option,
        ],
        options: [ServerOptions.keysIn.option] + ServerOptions.listening, run: keepChain)

    static let initializeChain = ServerCommand(
        "init-chain", summary: "begin a key chain",
        details: [
            "Makes the folder, with mode 0700, and the first keys of a chain in it, and prints the identity that clients "
                + "must trust. Where there is a chain it only prints that. hsm keeps the chain; it never begins one: "
                + "another chain has another identity."
        ],
        example: "holdfast-server init-chain --folder chain", required: [ServerOptions.folder.option],
        options: [ServerOptions.keysIn.option], run: beginChain)
}

private func beginChain(_ arguments: Arguments) throws -> ServerExit {
    let folder = try arguments.required(ServerOptions.folder)
    try FolderOwner.become(folder + "/keys")
    let made = try KeyChainFolder.make(folder, KeyPlace.protection(arguments), now: SystemClock().now)
    if made.isNew { ServerOutput.say("Made the key chain in \(folder).\n") }
    ServerOutput.say("\(made.chain.identity)\n")
    return .done
}

private func keepChain(_ arguments: Arguments) throws -> ServerExit {
    var judgement = Judgement(arguments)
    let settings = judgement.front()
    let access = judgement.metricsAccess(settings)
    let tokens = [ServerOptions.signToken, ServerOptions.adminToken].map { option in
        judgement.value(option.option) { try HSMService.token(arguments, option) }
    }
    if let sign = tokens[0], let admin = tokens[1], sign.isEqual(to: admin) {
        judgement.add(ServerOptions.adminToken.option, "it contains the same token as --sign-token-file; make two")
    }
    let kept = judgement.value(ServerOptions.keysIn.option) { try KeyPlace.protection(arguments) }
    try judgement.conclude()
    guard let sign = tokens[0], let admin = tokens[1], let protection = kept else {
        throw Mistakes(judgement.mistakes)
    }
    let folder = try arguments.required(ServerOptions.folder)
    let listener = try HTTPListener(arguments.required(ServerOptions.listen))
    try FolderOwner.become(folder + "/keys")
    let chain = try KeyChainFolder.held(folder, protection)
    let identity = chain.identity
    let service = HSMService(chain, sign: sign, admin: admin, log: FrontOptions.log(arguments))
    let operated = OperatedService(
        service, access, failing: { service.failing }, more: { service.write(to: &$0) })
    let front = try HTTPServer(listener, operated, settings)
    FrontOptions.announce(front, settings, key: identity.description)
    while !Signals.stops(within: 3600) {}
    return front.stop() ? .done : .failure
}

extension HSMService {
    /// The first line of the file that an option names, which only its owner may read.
    static func token(_ arguments: Arguments, _ option: TextOption) throws(UsageError) -> SecretText {
        let path = try arguments.required(option)
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { throw UsageError("\(path): \(SystemError.last)", mayPass: true) }
        guard status.st_mode & 0o077 == 0 else {
            throw UsageError("\(path) can be read by other users; give it the mode 0600, and write a new token into it")
        }
        let token = try TextFile.firstLine(path) { _ in true }
        guard token.withArray({ $0.count >= 32 && $0.allSatisfy { $0 > 0x20 && $0 < 0x7F } }) else {
            throw UsageError("\(path): a token must have at least 32 characters, without spaces, in the first line")
        }
        return token
    }
}

/// The paths of the key chain's keeper.
final class HSMService: HTTPService {
    /// Seconds for which a key is vouched for at the most.
    static let longest: Int64 = 86_400 + 3600
    /// Rotations that are left when it is told that the chain gets full.
    private static let littleRoom = 2000

    private let chain: Mutex<KeyChainFolder>
    private let sign: SecretText
    private let admin: SecretText
    private let log: ServerLog
    private let clock: any ServerClock
    private let rates = AddressRates(perSecond: 20, burst: 100)
    /// How often a wrong token is told.
    private let told = AddressRates(perSecond: 0.1, burst: 20)

    init(
        _ chain: KeyChainFolder, sign: SecretText, admin: SecretText, log: ServerLog,
        clock: any ServerClock = SystemClock()
    ) {
        self.chain = Mutex(chain)
        self.clock = clock
        self.sign = sign
        self.admin = admin
        self.log = log
    }

    /// Whether the files of the chain are there still, and others can verify it.
    var isSound: Bool { chain.withLock { $0.isThere && !$0.isAhead(of: clock.now) } }

    /// What is not ready: with a full list it endorses no new keys of servers.
    var failing: [String] {
        (isSound ? [] : ["key chain"]) + (chain.withLock { $0.endorsementRoom } > 0 ? [] : ["endorsements"])
    }

    /// The number of the generation that signs.
    var generation: Int { chain.withLock { $0.events.count - 1 } }

    /// How often the chain can be rotated still.
    var room: Int { chain.withLock { $0.room } }

    /// The families of its limits.
    func write(to text: inout MetricsText) {
        text.gauge("holdfast_chain_generation", generation, "The generation of the key chain.")
        text.gauge("holdfast_chain_room", room, "How often the key chain can be rotated still.")
        text.gauge(
            "holdfast_endorsement_room", chain.withLock { $0.endorsementRoom },
            "Keys of servers that the key chain can endorse still.")
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

    private func isAllowed(_ request: HTTPRequest, _ token: SecretText) -> Bool {
        let given = Array((request.authorization ?? "").utf8)
        let scheme = Array("Bearer ".utf8)
        guard given.starts(with: scheme) else { return false }
        return token.withBytes { token in
            unsafe constantTimeEquals(given.span.bytes.extracting(scheme.count..<given.count), token)
        }
    }

    /// `{"payload":{"purpose":…,"publicKey":…,"expiration":…}}`, of which nothing else is signed: what comes from a
    /// server can never be taken for an event of the chain.
    private func endorsement(_ body: [UInt8]) -> HTTPReply {
        guard let message = unsafe try? ApplicationData(json: body.span.bytes),
            let payload = message.members()?["payload"]?.members(), payload.count == 3,
            let purpose = payload["purpose"].flatMap({ Endorsement.Purpose(rawValue: HSMService.text($0)) }),
            let key = payload["publicKey"].flatMap({ PublicKeyText(HSMService.text($0)) }),
            let expiration = payload["expiration"].flatMap({ Timestamp(HSMService.text($0)) })
        else { return HTTPReply(.plain(.invalidMessage)) }
        let now = clock.now
        guard expiration > now, expiration <= now.adding(seconds: HSMService.longest) else {
            return HTTPReply(.plain(.invalidMessage))
        }
        do {
            guard let record = try chain.withLock({ try $0.endorse(key, purpose, until: expiration) }) else {
                return HSMService.isTainted
            }
            return HTTPReply(.json, record.bytes + [0x0A])
        } catch {
            log.write(.error, "chain", ["reason": .text(OperatorAdvice.line(for: error))])
            return HTTPReply(.plain(.base))
        }
    }

    /// What a server is told whose key a tainted generation has endorsed.
    static let taintedKey = ErrorCode.alreadyRegistered

    private static let isTainted: HTTPReply = {
        let body =
            #"{"error":{"code":"\#(taintedKey.rawValue)","message":"a tainted generation has endorsed this key"}}"#
        return HTTPReply(status: taintedKey.httpStatus, .json, Array(body.utf8), code: taintedKey)
    }()

    /// `{"generation":N}` with the number of the generation that is replaced: a slip or a repeat does nothing. For a
    /// taint `"keep":["KEY",…]` may follow.
    private static func confirmed(_ body: [UInt8]) -> (generation: Int, kept: Set<PublicKeyText>?)? {
        guard let members = unsafe (try? ApplicationData(json: body.span.bytes))?.members(),
            let number = members["generation"],
            let generation = Int(String(decoding: number.bytes, as: UTF8.self))
        else { return nil }
        guard let list = members["keep"] else { return members.count == 1 ? (generation, nil) : nil }
        let text = String(decoding: list.bytes, as: UTF8.self)
        guard members.count == 2, text.hasPrefix("["), text.hasSuffix("]") else { return nil }
        var kept: Set<PublicKeyText> = []
        for item in text.dropFirst().dropLast().split(separator: ",") {
            guard item.count >= 2, item.hasPrefix("\""), item.hasSuffix("\""),
                let key = PublicKeyText(item.dropFirst().dropLast())
            else { return nil }
            kept.insert(key)
        }
        return (generation, kept)
    }

    private func rotation(_ body: [UInt8], taintPrevious: Bool) -> HTTPReply {
        do {
            guard let confirmed = HSMService.confirmed(body), taintPrevious || confirmed.kept == nil else {
                return HTTPReply(.plain(.invalidMessage))
            }
            let made: (generation: Int, room: Int)? = try chain.withLock { chain in
                guard confirmed.generation == chain.events.count - 1 else { return nil }
                try chain.append(
                    taintingAllBut: taintPrevious ? confirmed.kept ?? [] : nil, now: clock.now)
                return (chain.events.count - 1, chain.room)
            }
            guard let made else { return HTTPReply(.plain(.invalidMessage)) }
            log.write(.notice, taintPrevious ? "tainted" : "rotated", ["generation": .number(made.generation)])
            if made.room < HSMService.littleRoom {
                log.write(.warning, "chain", ["reason": "it is nearly full", "rotations": .number(made.room)])
            }
            return .text("generation \(made.generation)\n")
        } catch {
            log.write(.error, "chain", ["reason": .text(OperatorAdvice.line(for: error))])
            return HTTPReply(.plain(.base))
        }
    }

    func sent(_ reply: HTTPReply, to path: String, at route: Route?, _ request: AnsweredRequest) {
        // Of refusals only wrong tokens are told without being asked for, and no client fills the log with them: the
        // metrics count them all.
        let isWrongToken = reply.code == .wrongSignature && told.admit(.unknown, now: MonotonicClock.seconds)
        guard isWrongToken || log.wants(.info) else { return }
        log.write(
            isWrongToken ? .warning : .info, reply.status >= 400 ? "refused" : "reply",
            [
                "path": .text(route == nil ? "other" : path), "status": .number(reply.status),
                "address": .text(request.address.description),
            ], of: request.trace)
    }

    /// A string without its quotation marks; what is read so has no escapes.
    static func text(_ data: ApplicationData) -> String {
        guard data.bytes.first == UInt8(ascii: "\""), data.bytes.count >= 2 else { return "" }
        return String(decoding: data.bytes.dropFirst().dropLast(), as: UTF8.self)
    }
}
