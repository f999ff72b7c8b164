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
            "With PostgreSQL, --redis and --keys-file are required.",
        ],
        example: "holdfast-server serve --listen 127.0.0.1:8080 --database accounts.db",
        required: [ServerOptions.listen.option, ServerOptions.database.option],
        options: [
            ServerOptions.redis.option, ServerOptions.keysFile.option, ServerOptions.keysIn.option,
            ServerOptions.attributes.option, ServerOptions.challenges.option, ServerOptions.cache.option,
            ServerOptions.access.option, ServerOptions.refresh.option, ServerOptions.challenge.option,
            ServerOptions.accessWindow.option, ServerOptions.reply.option, ServerOptions.addressRate.option,
            ServerOptions.creationRate.option, ServerOptions.challengeRate.option, ServerOptions.rotateKeys.option,
            ServerOptions.publish.option, ServerOptions.hsm.option, ServerOptions.hsmToken.option,
            ServerOptions.keyService.option, ServerOptions.metricsFrom.option, ServerOptions.workers.option,
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
        let file = KeyFile(
            try arguments[ServerOptions.keysFile] ?? defaultKeyFile(database), try KeyPlace.protection(arguments))
        let keys =
            database == ":memory:" && !arguments.contains(ServerOptions.keysFile.option)
            ? try ServerKeys.fresh(lifetimes) : try load(file)
        let attributes = try attributes()
        let metrics = HTTPMetrics()
        let redis = try redis()
        let store = try store(database, redis)
        defer { store.close() }
        var publish = try publisher()
        let server = AuthServer(
            store: store, keys: keys, lifetimes: lifetimes, compression: ZlibTokenCompression(),
            attributes: { _ in attributes },
            report: { error in
                metrics.countStoreFailure()
                log.write(.error, "store", ["reason": error.description])
            })
        let service = AuthService(
            server, example: try example(server, redis, log), metrics: metrics, log: log, rates: rates(),
            metricsFor: try FrontOptions.addressBlocks(arguments, ServerOptions.metricsFrom),
            workers: arguments[ServerOptions.workers])
        defer { service.close() }
        // Before anybody is answered: a key is published before it is used.
        try publish?.publish(keys, now: SystemClock().now)
        let front = try HTTPServer(listening: arguments.required(ServerOptions.listen), service, settings)
        let key = keys.responseKey(now: SystemClock().now).publicKey.description
        FrontOptions.announce(front, settings, key: key)
        log.write(.notice, "start", ["address": front.address])
        try watch(
            keys, file, &publish, isKept: database != ":memory:" || arguments.contains(ServerOptions.keysFile.option),
            log)
        service.beginStopping()
        let isClean = front.stop()
        log.write(.notice, "stop", ["unanswered": isClean ? "0" : "some"])
        return isClean ? .done : .failure
    }

    /// Until a signal asks to stop: rotates keys if asked to, and reads keys that another process has rotated.
    private func watch(
        _ keys: ServerKeys, _ file: KeyFile, _ publisher: inout KeyPublisher?, isKept: Bool, _ log: ServerLog
    ) throws {
        let interval = Int64(arguments[ServerOptions.rotateKeys])
        let publish = Int64(arguments[ServerOptions.publish])
        var version = file.version
        while !Signals.wait(seconds: 15) {
            do { try publisher?.publish(keys, now: SystemClock().now) } catch {
                log.write(.error, "publishing keys", ["reason": "\(error)"])
            }
            guard isKept else { continue }
            do {
                // A chip is not asked again for what has not changed.
                if let found = file.version, found != version {
                    keys.adopt(try load(file))
                    version = found
                }
                let now = SystemClock().now
                guard interval > 0, now > keys.youngest.adding(seconds: interval) else { continue }
                try keys.rotate(now: now, publishedSeconds: publish)
                try file.save(keys)
                log.write(.notice, "keys rotated")
            } catch {
                log.write(.error, "keys", ["reason": "\(error)"])
            }
        }
    }

    private func publisher() throws(UsageError) -> KeyPublisher? {
        guard arguments.contains(ServerOptions.hsm.option) else { return nil }
        return KeyPublisher(
            hsm: try FrontOptions.service(arguments, ServerOptions.hsm),
            service: try FrontOptions.service(arguments, ServerOptions.keyService),
            token: try HSMService.token(arguments, ServerOptions.hsmToken))
    }

    private func load(_ file: KeyFile) throws -> ServerKeys {
        try file.load(responseLifetime: Serve.responseLifetime, accessLifetime: lifetimes.refresh * 1000)
    }

    private func defaultKeyFile(_ database: String) throws(UsageError) -> String {
        guard !Maintenance.isPostgres(database) else {
            throw UsageError("with PostgreSQL, --keys-file is required: all processes over one database share it")
        }
        return database + ".keys"
    }

    private func redis() throws(UsageError) -> RedisLocation? {
        guard let text = try arguments.perhapsFromFile(ServerOptions.redis) else { return nil }
        guard let location = RedisLocation(text) else { throw UsageError("--redis must be redis://HOST:PORT") }
        return location
    }

    private func store(_ database: String, _ redis: RedisLocation?) throws -> any ServerStore {
        if Maintenance.isPostgres(database) {
            guard let redis else { throw UsageError("with PostgreSQL, --redis is required: it keeps what expires") }
            try PostgresStore.migrate(database)
            return PostgresStore(database, redis, lifetimes: lifetimes)
        }
        if database == ":memory:" { return MemoryStore() }
        var settings = SQLiteSettings()
        settings.cache = arguments[ServerOptions.cache]
        settings.challenges =
            arguments[ServerOptions.challenges].flatMap(SQLiteSettings.Challenges.init) ?? settings.challenges
        return try SQLiteStore(database, settings, now: SystemClock().now)
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
            verifier, name: arguments[ServerOptions.name], report: { log.write(.error, "access", ["reason": "\($0)"]) },
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
