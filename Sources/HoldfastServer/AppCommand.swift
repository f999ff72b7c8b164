internal import BetterAuthVerification
internal import BetterAuthHTTP
internal import BetterAuthMessages
internal import BetterAuthPostgres
internal import BetterAuthServer
internal import CommandLineArguments

extension ServerCommand {
    static let app = ServerCommand(
        "app", summary: "an example application in a process of its own",
        details: [
            "Verifies access requests and answers /foo/bar. It trusts the keys of a key chain (--keys and --trust), "
                + "or those that --access-key names."
        ],
        example: "holdfast-server app --listen 127.0.0.1:8090 --access-key 1AAIA...",
        required: [ServerOptions.listen.option],
        options: [
            ServerOptions.keys.option, ServerOptions.trust.option, ServerOptions.accessKey.option,
            ServerOptions.redis.option, ServerOptions.name.option, ServerOptions.responseKeysFile.option,
            ServerOptions.addressRate.option,
        ] + ServerOptions.listening
    ) { arguments in try AppCommand(arguments: arguments).run() }
}

struct AppCommand {
    let arguments: Arguments

    func run() throws -> ServerExit {
        let log = FrontOptions.log(arguments)
        var judgement = Judgement(arguments)
        let settings = judgement.front()
        let access = judgement.metricsAccess(settings)
        let conditions = Conditions(log)
        var checks: [Readiness.Check] = []
        let shares = judgement.value(ServerOptions.redis.option) { try shared(&checks) }
        let trusted = keySource(&judgement, &checks)
        let keyFile = arguments[ServerOptions.responseKeysFile].map { KeyFile($0) }
        if let keyFile { judgement.keys(keyFile, ServerOptions.responseKeysFile.option, isWritten: false) }
        try judgement.conclude()
        guard let (nonces, revocations) = shares, let source = trusted else { throw Mistakes(judgement.mistakes) }
        let listener = try HTTPListener(arguments.required(ServerOptions.listen))
        let verifier = AccessVerifier(
            keys: source, nonces: nonces, revocations: revocations)
        let keys =
            if let keyFile {
                try keyFile.loadOrCreate(
                    responseLifetime: Serve.responseLifetime, accessLifetime: 0, usedFrom: SystemClock().now
                ).keys
            } else {
                try ServerKeys.fresh(Lifetimes())
            }
        let example = ExampleApp(
            verifier, name: arguments[ServerOptions.name] ?? "app",
            report: { conditions.fail("access", "\($0)") }, key: { keys.responseKey(now: $0) })
        let rate = arguments[ServerOptions.addressRate] ?? AuthService.Rates.standard
        let service = AppService(example, keys, rate: rate, log: log)
        let readiness = Readiness(checks, conditions: conditions)
        defer { readiness.close() }
        let operated = OperatedService(service, access, readiness: readiness)
        let front = try HTTPServer(listener, operated, settings)
        FrontOptions.announce(
            front, settings, key: keys.responseKey(now: SystemClock().now).publicKey.description)
        repeat {
            // What requests need is there again; the next that fails tells if something else is not.
            readiness.ask { if $0.isEmpty { conditions.recover("access") } }
        } while !Signals.stops(within: 5)
        return front.stop() ? .done : .failure
    }

    /// - Parameter checks: Gets what is to be ready for it.
    private func shared(_ checks: inout [Readiness.Check]) throws -> (any NonceStore, any RevocationList) {
        guard let text = try arguments.perhapsFromFile(ServerOptions.redis) else {
            return (MemoryNonceStore(), MemoryRevocationList())
        }
        guard let location = RedisLocation(text) else { throw ServeSettings.notRedis(text) }
        let shared = SharedAccess(location)
        checks.append(
            Readiness.Check("redis") {
                do throws(StoreError) {
                    try shared.probe()
                    return nil
                } catch { return error.description }
            })
        return (shared, shared)
    }

    /// Nil for a mistake.
    private func keySource(
        _ judgement: inout Judgement, _ checks: inout [Readiness.Check]
    ) -> (any ServerKeySource)? {
        let option = ServerOptions.accessKey.option
        let pinned = arguments[ServerOptions.accessKey].enumerated().compactMap { index, text in
            judgement.value(option, at: index) {
                guard let name = PublicKeyText(text), let key = try? VerificationKey(name) else {
                    throw UsageError("\(text) is not a public key")
                }
                return key
            }
        }
        guard arguments[ServerOptions.accessKey].isEmpty else { return PinnedServerKeys(access: pinned) }
        let found = judgement.value(ServerOptions.keys.option) {
            guard let service = HTTPKeyService(try arguments.required(ServerOptions.keys)) else {
                throw UsageError("--keys must be http://HOST:PORT")
            }
            return service
        }
        let trusted = judgement.value(ServerOptions.trust.option) { try FrontOptions.chainIdentity(arguments) }
        guard let service = found, let identity = trusted else { return nil }
        checks.append(
            Readiness.Check("key service") {
                do {
                    try service.probe()
                    return nil
                } catch { return OperatorAdvice.line(for: error) }
            })
        return EndorsedServerKeys(trusting: identity, from: service, window: EndorsedServerKeys.appServerWindow)
    }
}

extension ServerKeys {
    /// Keys for one run.
    static func fresh(_ lifetimes: Lifetimes) throws -> ServerKeys {
        let now = SystemClock().now
        return ServerKeys(
            response: KeySchedule(try .generate(), usedFrom: now, lifetime: Serve.responseLifetime),
            access: KeySchedule(try .generate(), usedFrom: now, lifetime: lifetimes.refresh * 1000))
    }
}
