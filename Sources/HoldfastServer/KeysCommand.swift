internal import BetterAuthHTTP
internal import BetterAuthMessages
internal import BetterAuthServer
internal import BetterAuthVerification
internal import CommandLineArguments
internal import Synchronization
internal import SystemCalls

extension ServerCommand {
    static let keys = ServerCommand(
        "keys", summary: "publish the key chain and the keys that it endorses",
        details: [
            "Needs no secret: records prove themselves, and servers send theirs again and again.",
            "When it is ready it prints one line: ready, its URL, and the identity of the key chain.",
        ],
        example: "holdfast-server keys --listen 127.0.0.1:8082 --hsm http://127.0.0.1:8081 --trust EAbc...",
        required: [ServerOptions.listen.option, ServerOptions.hsm.option, ServerOptions.trust.option],
        options: ServerOptions.listening, run: publishKeys)
}

private func publishKeys(_ arguments: Arguments) throws -> ServerExit {
    var judgement = Judgement(arguments)
    let settings = judgement.front()
    let access = judgement.metricsAccess(settings)
    let asked = judgement.service(ServerOptions.hsm)
    let trusted = judgement.value(ServerOptions.trust.option) { try FrontOptions.chainIdentity(arguments) }
    try judgement.conclude()
    guard let hsm = asked, let identity = trusted else { throw Mistakes(judgement.mistakes) }
    let listener = try HTTPListener(arguments.required(ServerOptions.listen))
    let log = FrontOptions.log(arguments)
    let service = KeysService(hsm, identity, log)
    let conditions = Conditions(log)
    let rounds = Rounds { RequestTrace.$current.withValue(.fresh()) { service.renew(conditions) } }
    defer { rounds.finish() }
    guard rounds.first(seconds: .infinity) else { return .done }
    // Without a chain there is nothing to publish.
    if let problem = service.problem { throw problem }
    let operated = OperatedService(
        service, access,
        failing: { conditions.isFailing("hsm") ? ["hsm"] : [] },
        more: { $0.gauge("holdfast_endorsed_keys", service.count, "Keys that are published.") })
    let front = try HTTPServer(listener, operated, settings)
    FrontOptions.announce(front, settings, key: identity.description)
    rounds.run(every: 5)
    return front.stop() ? .done : .failure
}

/// The paths of the key service.
final class KeysService: HTTPService {
    private struct State {
        var list: [UInt8] = []
        var chain: KeyChain?
        var records: [PublicKeyText: SignedEndorsement] = [:]
        var problem: (any Error)?
    }

    /// Keys at one time; each server has two or three.
    private static let most = 4096

    private let hsm: PlainHTTP
    private let identity: DigestText
    private let log: ServerLog
    private let clock: any ServerClock
    private let state = Mutex(State())
    private let rates = AddressRates(perSecond: 50, burst: 200)
    /// Of records that are brought: readers at the same address, as behind a proxy, do not keep a server from
    /// publishing.
    private let bringing = AddressRates(perSecond: 50, burst: 200)

    init(_ hsm: PlainHTTP, _ identity: DigestText, _ log: ServerLog, clock: any ServerClock = SystemClock()) {
        self.hsm = hsm
        self.clock = clock
        self.log = log
        self.identity = identity
    }

    /// Fetches the chain anew, and tells when that fails.
    func renew(_ conditions: Conditions) {
        do {
            try refresh(now: clock.now)
            conditions.recover("hsm")
        } catch {
            let isFirst = state.withLock { state in
                state.problem = error
                return state.chain == nil
            }
            // What is thrown is told too.
            if !isFirst { conditions.fail("hsm", OperatorAdvice.line(for: error)) }
        }
    }

    /// Why the chain could not be fetched the last time.
    var problem: (any Error)? { state.withLock { $0.problem } }

    private func refresh(now: Timestamp) throws {
        guard let list = try hsm.get("/hsm/keys") else { throw PlainHTTP.Failure(description: "no key chain") }
        // One that was verified is asked about the present at each record.
        let known = state.withLock { $0.list == list ? $0.chain : nil }
        let chain = try known ?? verified(list, now: now)
        state.withLock { state in
            // What a generation endorsed that is tainted now is nobody's key any more.
            let isSame = state.list == list
            state.list = list
            state.chain = chain
            state.problem = nil
            state.records = state.records.filter { key, record in
                guard record.payload.expiration >= now, KeysService.isTimely(record, now: now) else { return false }
                return isSame || (try? chain.check(record, of: key, for: record.payload.purpose, now: now)) != nil
            }
        }
    }

    private func verified(_ list: [UInt8], now: Timestamp) throws -> KeyChain {
        let events = try unsafe KeyEventList(parsing: list.span.bytes)
        return try KeyChain(events, identity: identity, window: KeyChain.Window.authServer, now: now)
    }

    /// Keys that are published.
    var count: Int { state.withLock { $0.records.count } }

    enum Route: Sendable {
        case health, chain, keys
        /// One of them; nil for a name that no key has.
        case key(PublicKeyText?)
    }

    func route(_ path: String) -> Route? {
        switch path {
        case "/health": .health
        case "/hsm/keys": .chain
        case "/keys": .keys
        default: path.hasPrefix("/keys/") ? .key(PublicKeyText(path.dropFirst("/keys/".count))) : nil
        }
    }

    func refusal(_ method: HTTPRequest.Method?, at route: Route, _ address: ClientAddress) -> HTTPReply? {
        switch (method, route) {
        case (.get, _), (.post, .keys): break
        case (_, .keys): return .wrongMethod(allowed: "GET, HEAD, POST")
        default: return .wrongMethod(allowed: "GET, HEAD")
        }
        if case (.post, .keys) = (method, route) { return bringing.refusal(address, now: MonotonicClock.seconds) }
        return rates.refusal(address, now: MonotonicClock.seconds)
    }

    func handle(_ request: HTTPRequest, at route: Route, _ answer: @escaping @Sendable (HTTPReply) -> Void) {
        switch route {
        case .health: answer(.text("ok\n"))
        case .chain: answer(HTTPReply(.json, state.withLock { $0.list }))
        case .keys: answer(request.method == .post ? publish(request.body) : HTTPReply(.json, all()))
        case .key(let name):
            let record = name.flatMap { name in state.withLock { $0.records[name] } }
            answer(record.map { HTTPReply(.json, $0.bytes) } ?? HTTPReply(.plain(.unknownPath)))
        }
    }

    private func all() -> [UInt8] {
        let records = state.withLock { $0.records }.sorted { $0.key.description < $1.key.description }
        let members = records.map { Array("\"\($0.key)\":".utf8) + $0.value.bytes }
        return [UInt8(ascii: "{")] + Array(members.joined(separator: [UInt8(ascii: ",")])) + [UInt8(ascii: "}")]
    }

    /// Whether a record was signed by a clock that was right, as far as its end tells: one that was ahead would keep a
    /// key published for as long as that. Its server has another signed when this one is refused.
    private static func isTimely(_ record: SignedEndorsement, now: Timestamp) -> Bool {
        record.payload.expiration <= now.adding(seconds: 2 * HSMService.longest)
    }

    /// Takes a record that the chain has signed.
    private func publish(_ body: [UInt8]) -> HTTPReply {
        guard let record = unsafe try? SignedEndorsement(record: body.span.bytes) else {
            return HTTPReply(.plain(.invalidMessage))
        }
        let now = clock.now
        let (name, purpose) = (record.payload.publicKey, record.payload.purpose)
        let isTaken = state.withLock { state in
            guard KeysService.isTimely(record, now: now), let chain = state.chain,
                (try? chain.check(record, of: name, for: purpose, now: now)) != nil,
                state.records[name] != nil || state.records.count < KeysService.most
            else { return false }
            state.records[name] = record
            return true
        }
        return isTaken ? .text("published\n") : HTTPReply(.plain(.wrongSignature))
    }

    func sent(_ reply: HTTPReply, to path: String, at route: Route?, _ request: AnsweredRequest) {
        guard log.wants(.info) else { return }
        log.write(
            .info, "reply",
            ["status": .number(reply.status), "address": .text(request.address.description)], of: request.trace)
    }
}

extension ServerCommand {
    static let initialize = ServerCommand(
        "init", summary: "make a SQLite database and the server's keys",
        details: [
            "Makes what is missing, with mode 0600, and prints the key that signs responses. serve does the same at "
                + "its first start; init lets you see the key, or copy the keys to other machines, before that."
        ],
        example: "holdfast-server init --database accounts.db", required: [ServerOptions.database.option],
        options: [ServerOptions.keysFile.option, ServerOptions.keysIn.option], isConfigured: true, run: makeData)
}

private func makeData(_ arguments: Arguments) throws -> ServerExit {
    let database = try Maintenance.database(arguments)
    let path = try database.file(for: "init")
    try FolderOwner.become(path, arguments[ServerOptions.keysFile] ?? path)
    var judgement = Judgement(arguments)
    judgement.isDatabase(path)
    let found = judgement.data(database)
    judgement.differ([(ServerOptions.database.option, path), (ServerOptions.keysFile.option, found?.path)])
    try judgement.conclude()
    guard let file = found else { throw Mistakes(judgement.mistakes) }
    let store = try SQLiteStore(path, onUpdate: Maintenance.tell)
    defer { store.close() }
    if store.isNew { ServerOutput.say("Made \(path).\n") }
    let custody = try KeyCustody(
        file, of: store, Lifetimes(), takesNewKeys: false, ServerLog(.error),
        onNew: { ServerOutput.say("Made \($0).\n") })
    ServerOutput.say("\(custody.keys.responseKey(now: SystemClock().now).publicKey)\n")
    return .done
}
