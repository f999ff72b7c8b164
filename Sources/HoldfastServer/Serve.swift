internal import BetterAuthVerification
internal import BetterAuthGzip
internal import BetterAuthHTTP
internal import BetterAuthMessages
internal import BetterAuthPostgres
internal import BetterAuthServer

/// `holdfast-server serve`.
struct Serve {
    /// Milliseconds for which clients may take a response for good after its key was replaced (protocol.md 10.4).
    static let responseLifetime: Int64 = 43_260_000

    private let arguments: Arguments
    private let lifetimes: Lifetimes

    init(_ words: [String]) throws(UsageError) {
        let own: Set<String> = [
            "database", "redis", "keys-file", KeyPlace.option, "attributes", "challenges", "cache-mib",
            "access-seconds",
            "refresh-seconds", "challenge-seconds", "access-window-seconds", "reply-seconds", "address-rate",
            "creation-rate", "challenge-rate", "metrics-from", "workers", "rotate-keys-seconds", "publish-seconds",
            "name", "hsm", "hsm-token-file", "key-service",
        ]
        arguments = try Arguments(words, valued: FrontOptions.valued.union(own), flags: ["example-app"])
        lifetimes = try Serve.lifetimes(arguments)
    }

    private static func lifetimes(_ arguments: Arguments) throws(UsageError) -> Lifetimes {
        var lifetimes = Lifetimes()
        func seconds(_ name: String, _ other: Int64) throws(UsageError) -> Int64 {
            Int64(try arguments.number("\(name)-seconds", 1...31_536_000, default: Int(other)))
        }
        lifetimes.access = try seconds("access", lifetimes.access)
        lifetimes.refresh = try seconds("refresh", lifetimes.refresh)
        lifetimes.challenge = try seconds("challenge", lifetimes.challenge)
        lifetimes.accessWindow = try seconds("access-window", lifetimes.accessWindow)
        lifetimes.reply = try seconds("reply", lifetimes.reply)
        return lifetimes
    }

    func run() throws -> Int32 {
        Signals.hold()
        let log = try FrontOptions.log(arguments)
        let settings = try FrontOptions.settings(arguments)
        let database = try arguments.perhapsFromFile("database") ?? arguments.required("database")
        let file = KeyFile(
            try arguments.text("keys-file") ?? defaultKeyFile(database), try KeyPlace.protection(arguments))
        let keys =
            database == ":memory:" && !arguments.has("keys-file")
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
            server, example: try example(server, redis, log), metrics: metrics, log: log, rates: try rates(),
            metricsFor: try metricsFor(), workers: try arguments.number("workers", 1...1024, default: 32))
        defer { service.close() }
        // Before anybody is answered: a key is published before it is used.
        try publish?.publish(keys, now: SystemClock().now)
        let front = try HTTPServer(listening: arguments.required("listen"), service, settings)
        let key = keys.responseKey(now: SystemClock().now).publicKey.description
        FrontOptions.announce(front, settings, key: key)
        log.write(.notice, "start", ["address": front.address])
        try watch(keys, file, &publish, isKept: database != ":memory:" || arguments.has("keys-file"), log)
        service.beginStopping()
        let isClean = front.stop()
        log.write(.notice, "stop", ["unanswered": isClean ? "0" : "some"])
        return isClean ? 0 : 1
    }

    /// Until a signal asks to stop: rotates keys where that is wanted, and sees keys that another process has rotated.
    private func watch(
        _ keys: ServerKeys, _ file: KeyFile, _ publisher: inout KeyPublisher?, isKept: Bool, _ log: ServerLog
    ) throws {
        let interval = Int64(try arguments.number("rotate-keys-seconds", 0...31_536_000, default: 0))
        let publish = Int64(try arguments.number("publish-seconds", 0...86_400, default: 300))
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
        guard let hsm = try arguments.text("hsm") else { return nil }
        guard let keeper = PlainHTTP(hsm), let service = PlainHTTP(try arguments.required("key-service")) else {
            throw UsageError("--hsm and --key-service take http://HOST:PORT")
        }
        return KeyPublisher(
            hsm: keeper, service: service, token: try HSMCommand.token(arguments.required("hsm-token-file")))
    }

    private func load(_ file: KeyFile) throws -> ServerKeys {
        try file.load(responseLifetime: Serve.responseLifetime, accessLifetime: lifetimes.refresh * 1000)
    }

    private func defaultKeyFile(_ database: String) throws(UsageError) -> String {
        guard !Maintenance.isPostgres(database) else {
            throw UsageError("--keys-file is missing: all processes over one database share it")
        }
        return database + ".keys"
    }

    private func redis() throws(UsageError) -> RedisLocation? {
        guard let text = try arguments.perhapsFromFile("redis") else { return nil }
        guard let location = RedisLocation(text) else { throw UsageError("--redis takes redis://HOST:PORT") }
        return location
    }

    private func store(_ database: String, _ redis: RedisLocation?) throws -> any ServerStore {
        if Maintenance.isPostgres(database) {
            guard let redis else { throw UsageError("with PostgreSQL --redis is needed, for what expires") }
            try PostgresStore.migrate(database)
            return PostgresStore(database, redis, lifetimes: lifetimes)
        }
        if database == ":memory:" { return MemoryStore() }
        var settings = SQLiteSettings()
        settings.cache = try arguments.number("cache-mib", 2...65_536, default: settings.cache)
        if let text = try arguments.text("challenges") {
            guard let place = SQLiteSettings.Challenges(rawValue: text) else {
                throw UsageError("--challenges takes memory or database")
            }
            settings.challenges = place
        }
        return try SQLiteStore(database, settings, now: SystemClock().now)
    }

    private func attributes() throws -> ApplicationData {
        guard let path = try arguments.text("attributes") else {
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
        guard arguments.has("example-app") else { return nil }
        var settings = AccessVerifier.Settings()
        settings.window = .seconds(lifetimes.accessWindow)
        // Beside the accounts there is room for those that are in use now.
        settings.cachedTokens = 2048
        let nonces: any NonceStore = redis.map { SharedAccess($0) } ?? MemoryNonceStore()
        let verifier = AccessVerifier(
            keys: OwnServerKeys(server.keys), nonces: nonces, revocations: StoreRevocations(server.store),
            settings: settings)
        return ExampleApp(
            verifier, name: try arguments.text("name"), report: { log.write(.error, "access", ["reason": "\($0)"]) },
            key: { server.keys.responseKey(now: $0) })
    }

    private func rates() throws(UsageError) -> AuthService.Rates {
        var rates = AuthService.Rates()
        func set(_ name: String, _ rate: inout (perSecond: Double, burst: Double)) throws(UsageError) {
            guard let value = try arguments.text(name) else { return }
            guard let number = Double(value), number >= 0, number.isFinite else {
                throw UsageError("--\(name) takes requests per second, 0 for no limit")
            }
            rate = (number, max(10, number * 4))
        }
        try set("address-rate", &rates.requests)
        try set("creation-rate", &rates.creations)
        try set("challenge-rate", &rates.challenges)
        return rates
    }

    private func metricsFor() throws(UsageError) -> [AddressBlock] {
        var blocks: [AddressBlock] = []
        for text in arguments.all("metrics-from") {
            guard let block = AddressBlock(text) else { throw UsageError("\(text) is no block of addresses") }
            blocks.append(block)
        }
        return blocks
    }
}
