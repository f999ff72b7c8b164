internal import BetterAuthVerification
internal import BetterAuthHTTP
internal import BetterAuthMessages
internal import BetterAuthPostgres
internal import BetterAuthServer
internal import CommandLineArguments

/// What `serve` is to do, read from its options and from the files that they name. Nothing is made, and nothing is
/// asked over the network.
struct ServeSettings {
    let arguments: Arguments
    let front: HTTPSettings
    let database: DatabaseLocation
    let redis: RedisLocation?
    let keyFile: KeyFile
    let attributes: ApplicationData
    let publisher: KeyPublisher?
    let metricsAccess: MetricsAccess
    let lifetimes: Lifetimes

    /// - Parameter before: Those that a reload replaces.
    /// - Throws: ``UsageError`` for what cannot be used.
    init(_ arguments: Arguments, replacing before: ServeSettings? = nil) throws {
        self.arguments = arguments
        let own = try FrontOptions.settings(arguments)
        front = before.map { own.counting(with: $0.front) } ?? own
        database = try Maintenance.database(arguments)
        redis = try ServeSettings.redis(arguments)
        keyFile = try ServedData.keyFile(arguments, database)
        attributes = try ServeSettings.attributes(arguments)
        publisher = try ServeSettings.publisher(arguments)
        metricsAccess = try FrontOptions.metricsAccess(arguments, front)
        lifetimes = ServeSettings.lifetimes(arguments)
        try ServeSettings.checkRotation(arguments, lifetimes)
    }

    /// Keys stay for as long as what they signed is valid, and a file of keys has room for so many.
    private static func checkRotation(_ arguments: Arguments, _ lifetimes: Lifetimes) throws(UsageError) {
        let seconds = Int64(arguments[ServerOptions.rotateKeys])
        let shortest = KeyRoom.shortestInterval(
            publishedSeconds: Int64(arguments[ServerOptions.publish]),
            lifetimes: [Serve.responseLifetime / 1000, lifetimes.refresh])
        guard seconds == 0 || seconds >= shortest else {
            throw UsageError(
                "--rotate-keys-seconds \(seconds): the file of keys has no room for so many; with these "
                    + "--refresh-seconds and --publish-seconds \(shortest) is the least")
        }
    }

    /// Whether a server could start with it, as far as that can be told without making anything.
    /// - Throws: ``HTTPError``, ``UsageError``, ``KeyFile/Failure``.
    func check() throws {
        let place = try arguments.required(ServerOptions.listen)
        if place != ServiceManager.listening { try HTTPListener.check(place) }
        try HTTPServer.check(front)
        if case .postgres = database, redis == nil { throw ServedData.needsRedis }
        do throws(KeyFile.Failure) {
            _ = try keyFile.load(responseLifetime: Serve.responseLifetime, accessLifetime: lifetimes.refresh * 1000)
        } catch {
            // The first start makes it.
            guard case .missing = error else { throw error }
        }
    }

    /// How often addresses may ask.
    var rates: AuthService.Rates {
        arguments[ServerOptions.addressRate].map { AuthService.Rates(perSecond: $0) } ?? AuthService.Rates()
    }

    private static func lifetimes(_ arguments: Arguments) -> Lifetimes {
        var lifetimes = Lifetimes()
        lifetimes.access = Int64(arguments[ServerOptions.access])
        lifetimes.refresh = Int64(arguments[ServerOptions.refresh])
        return lifetimes
    }

    private static func publisher(_ arguments: Arguments) throws(UsageError) -> KeyPublisher? {
        guard arguments.contains(ServerOptions.hsm.option) else { return nil }
        return KeyPublisher(
            hsm: try FrontOptions.service(arguments, ServerOptions.hsm),
            service: try FrontOptions.service(arguments, ServerOptions.keyService),
            token: try HSMService.token(arguments, ServerOptions.hsmToken))
    }

    static func redis(_ arguments: Arguments) throws(UsageError) -> RedisLocation? {
        guard let text = try arguments.perhapsFromFile(ServerOptions.redis) else { return nil }
        guard let location = RedisLocation(text) else { throw notRedis(text) }
        return location
    }

    /// Why a text names no Redis. It may have a password, so it is not repeated.
    static func notRedis(_ text: SecretText) -> UsageError {
        text.hasPrefix("rediss://")
            ? UsageError(
                "--redis has no TLS (rediss://): use a tunnel to the other machine, such as stunnel or WireGuard, and "
                    + "redis:// or unix: on this side")
            : UsageError(
                "--redis must be redis://[USER][:PASSWORD@]HOST[:PORT][/DATABASE], unix:PATH or "
                    + "unix://[USER]:PASSWORD@PATH")
    }

    private static func attributes(_ arguments: Arguments) throws -> ApplicationData {
        guard let path = arguments[ServerOptions.attributes] else {
            return try ApplicationData(json: #"{"permissionsByRole":{"user":["read"]}}"#)
        }
        let text = try TextFile.read(path)
        let attributes: ApplicationData
        do throws(MessageError) {
            attributes = try ApplicationData(json: text.hasSuffix("\n") ? String(text.dropLast()) : text)
        } catch {
            throw UsageError("\(path) is not one line of compact JSON: \(error)")
        }
        guard try AuthServer.admits(attributes, ZlibTokenCompression()) else {
            throw UsageError(
                "\(path): a token with these attributes is longer than any that is taken; make them shorter")
        }
        return attributes
    }
}
