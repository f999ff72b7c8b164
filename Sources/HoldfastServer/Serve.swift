internal import BetterAuthVerification
internal import BetterAuthGzip
internal import BetterAuthHTTP
internal import BetterAuthMessages
internal import BetterAuthPostgres
internal import BetterAuthServer
internal import CommandLineArguments

extension ServerCommand {
    static let serve = ServerCommand(
        "serve", summary: "answer the operations of the identity protocol",
        details: [
            "When it is ready it prints one line: ready, its URL, and the key that signs responses.",
            "It stops on SIGTERM, SIGINT and SIGHUP, after finishing the requests that are under way.",
            "It makes a SQLite file and keys if there are none, and says so in its log. Keys are not made for a "
                + "database that has been served before: see --new-keys.",
            "With PostgreSQL, --redis and --keys-file are required.",
        ],
        example: "holdfast-server serve --listen 127.0.0.1:8080 --database accounts.db",
        required: [ServerOptions.listen.option, ServerOptions.database.option],
        options: [
            ServerOptions.redis.option, ServerOptions.keysFile.option, ServerOptions.keysIn.option,
            ServerOptions.newKeys.option,
            ServerOptions.attributes.option, ServerOptions.challenges.option, ServerOptions.cache.option,
            ServerOptions.access.option, ServerOptions.refresh.option, ServerOptions.challenge.option,
            ServerOptions.accessWindow.option, ServerOptions.reply.option, ServerOptions.addressRate.option,
            ServerOptions.creationRate.option, ServerOptions.challengeRate.option, ServerOptions.rotateKeys.option,
            ServerOptions.publish.option, ServerOptions.hsm.option, ServerOptions.hsmToken.option,
            ServerOptions.keyService.option, ServerOptions.workers.option, ServerOptions.adminSocket.option,
            ServerOptions.exampleApp.option, ServerOptions.name.option,
        ] + ServerOptions.listening
    ) { arguments in try Serve(arguments).run() }
}

struct Serve {
    /// Milliseconds for which clients may take a response for good after its key was replaced (protocol.md 10.4).
    static let responseLifetime: Int64 = 43_260_000

    private let arguments: Arguments
    private let lifetimes: Lifetimes

    init(_ arguments: Arguments) {
        self.arguments = arguments
        var lifetimes = Lifetimes()
        lifetimes.access = Int64(arguments[ServerOptions.access])
        lifetimes.refresh = Int64(arguments[ServerOptions.refresh])
        lifetimes.challenge = Int64(arguments[ServerOptions.challenge])
        lifetimes.accessWindow = Int64(arguments[ServerOptions.accessWindow])
        lifetimes.reply = Int64(arguments[ServerOptions.reply])
        self.lifetimes = lifetimes
    }

    func run() throws -> ServerExit {
        Signals.hold()
        let log = FrontOptions.log(arguments)
        let settings = try FrontOptions.settings(arguments)
        let database = try Maintenance.database(arguments)
        let redis = try redis()
        let file = try ServedData.keyFile(arguments, database)
        let attributes = try attributes()
        let metrics = HTTPMetrics()
        let conditions = Conditions(log)
        // Before anything is made: the port may be taken.
        let listener = try HTTPListener(arguments.required(ServerOptions.listen))
        let store = try ServedData.store(arguments, database, redis, lifetimes, log)
        defer { store.close() }
        let custody = try KeyCustody(
            file, of: store, lifetimes, takesNewKeys: arguments[ServerOptions.newKeys], log)
        var publication = try publisher().map { Publication($0, conditions) }
        // Before anybody is answered: a key is published before it is used.
        publication?.publish(custody.keys)
        let server = AuthServer(
            store: MeasuredStore(store) { metrics.count($0, duration: $1) }, keys: custody.keys, lifetimes: lifetimes,
            compression: ZlibTokenCompression(),
            attributes: { _ in attributes },
            report: { error in
                metrics.count(error)
                conditions.fail(error.subject, error.description)
            })
        let service = AuthService(
            server, example: try example(server, redis, log), metrics: metrics, log: log, conditions: conditions,
            checks: checks(custody, publication, settings), isHeld: publication?.isDone == false, rates: rates(),
            access: try FrontOptions.metricsAccess(arguments, settings), gauges: { custody.write(to: &$0) },
            workers: arguments[ServerOptions.workers])
        defer { service.close() }
        let admin = try arguments[ServerOptions.adminSocket].map {
            try AdminServer($0, AccountAdministration(store, lifetimes), log)
        }
        defer { admin?.close() }
        let front = try HTTPServer(listener, service, settings)
        let key = custody.keys.responseKey(now: SystemClock().now).publicKey.description
        FrontOptions.announce(front, settings, key: key)
        log.write(.notice, "start", ["address": .text(front.address)])
        watch(custody, service, &publication, log)
        service.beginStopping()
        let isClean = front.stop()
        log.write(.notice, "stop", ["unanswered": isClean ? "0" : "some"])
        return isClean ? .done : .failure
    }

    /// What must be ready beside the store.
    private func checks(
        _ custody: KeyCustody, _ publication: Publication?, _ settings: HTTPSettings
    ) -> [Readiness.Check] {
        var checks = [Readiness.Check("keys") { custody.examine() }]
        if let state = publication?.state { checks.append(Readiness.Check("key service") { state.reason }) }
        if let dates = settings.certificate.flatMap({ CertificateDates(pem: $0) }) {
            checks.append(
                Readiness.Check("certificate") {
                    dates.notAfter > SystemClock().now ? nil : "the certificate expired at \(dates.notAfter)"
                })
        }
        return checks
    }

    /// Until a signal asks to stop: rotates keys if asked to, publishes them, and checks that all is well.
    private func watch(
        _ custody: KeyCustody, _ service: AuthService, _ publication: inout Publication?, _ log: ServerLog
    ) {
        let interval = Int64(arguments[ServerOptions.rotateKeys])
        let publish = Int64(arguments[ServerOptions.publish])
        while !Signals.wait(seconds: publication?.isDone == false ? 1 : 5) {
            do {
                let now = SystemClock().now
                if try custody.rotate(after: interval, publishedSeconds: publish, now: now) {
                    log.write(.notice, "keys rotated")
                }
            } catch {
                log.write(.error, "keys", ["reason": .text(OperatorAdvice.line(for: error))])
            }
            service.examine()
            publication?.publish(custody.keys)
            if publication?.isDone == true { service.release() }
        }
    }

    private func publisher() throws(UsageError) -> KeyPublisher? {
        guard arguments.contains(ServerOptions.hsm.option) else { return nil }
        return KeyPublisher(
            hsm: try FrontOptions.service(arguments, ServerOptions.hsm),
            service: try FrontOptions.service(arguments, ServerOptions.keyService),
            token: try HSMService.token(arguments, ServerOptions.hsmToken))
    }

    private func redis() throws(UsageError) -> RedisLocation? {
        guard let text = try arguments.perhapsFromFile(ServerOptions.redis) else { return nil }
        guard let location = RedisLocation(text) else { throw UsageError("--redis must be redis://HOST:PORT") }
        return location
    }

    private func attributes() throws -> ApplicationData {
        guard let path = arguments[ServerOptions.attributes] else {
            return try ApplicationData(json: #"{"permissionsByRole":{"user":["read"]}}"#)
        }
        let text = try TextFile.read(path)
        do throws(MessageError) {
            return try ApplicationData(json: text.hasSuffix("\n") ? String(text.dropLast()) : text)
        } catch {
            throw UsageError("\(path) is not one line of compact JSON: \(error)")
        }
    }

    private func example(_ server: AuthServer, _ redis: RedisLocation?, _ log: ServerLog) throws -> ExampleApp? {
        guard arguments[ServerOptions.exampleApp] else { return nil }
        var settings = AccessVerifier.Settings()
        settings.window = .seconds(lifetimes.accessWindow)
        // Beside the accounts there is room for those that are in use now.
        settings.cachedTokens = 2048
        let nonces: any NonceStore = redis.map { SharedAccess($0) } ?? MemoryNonceStore()
        let verifier = AccessVerifier(
            keys: OwnServerKeys(server.keys), nonces: nonces, revocations: StoreRevocations(server.store),
            settings: settings)
        return ExampleApp(
            verifier, name: arguments[ServerOptions.name],
            report: { log.write(.error, "access", ["reason": .text("\($0)")]) },
            key: { server.keys.responseKey(now: $0) })
    }

    private func rates() -> AuthService.Rates {
        var rates = AuthService.Rates()
        func set(_ option: RateOption, _ rate: inout (perSecond: Double, burst: Double)) {
            guard let number = arguments[option] else { return }
            rate = (number, max(10, number * 4))
        }
        set(ServerOptions.addressRate, &rates.requests)
        set(ServerOptions.creationRate, &rates.creations)
        set(ServerOptions.challengeRate, &rates.challenges)
        return rates
    }
}
