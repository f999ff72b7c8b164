internal import BetterAuthVerification
internal import BetterAuthHTTP
internal import BetterAuthMessages
internal import BetterAuthPostgres
internal import BetterAuthServer
internal import CommandLineArguments
internal import SystemCalls

/// What `serve` is to do, read from its options and from the files that they name.
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

    /// Judges all of it: `serve`, a reload and `check-config` do, and nothing else decides.
    /// - Parameter before: Those that a reload replaces.
    /// - Throws: ``Mistakes``: each mistake with the place where it stands.
    init(_ arguments: Arguments, replacing before: ServeSettings? = nil) throws(Mistakes) {
        var judgement = Judgement(arguments)
        let own = judgement.front()
        let front = before.map { own.counting(with: $0.front) } ?? own
        let metricsAccess = judgement.metricsAccess(front)
        let lifetimes = ServeSettings.lifetimes(arguments)
        let database =
            arguments.contains(ServerOptions.database.option)
            ? judgement.value(ServerOptions.database.option) { try Maintenance.database(arguments) } : nil
        let redis = judgement.value(ServerOptions.redis.option) { try ServeSettings.redis(arguments) } ?? nil
        let keyFile = judgement.data(database, rotates: arguments[ServerOptions.rotateKeys] > 0)
        if case .postgres? = database, !arguments.contains(ServerOptions.redis.option) {
            judgement.add(ServerOptions.database.option, ServedData.needsRedis.description)
        }
        if case .file? = database, redis != nil {
            judgement.add(ServerOptions.redis.option, "it is for PostgreSQL; with a SQLite file it does nothing")
        }
        judgement.require(ServerOptions.redis.option, with: ServerOptions.redisLost.option)
        for option in [ServerOptions.auditFull.option, ServerOptions.auditAddresses.option] {
            judgement.require(ServerOptions.auditLog.option, with: option)
        }
        if case .file(let path)? = database, before == nil { judgement.isDatabase(path) }
        if let path = arguments[ServerOptions.auditLog] { judgement.auditLog(path) }
        if let path = arguments[ServerOptions.adminSocket] { judgement.adminSocket(path) }
        var files: [(option: Option, path: String?)] = [
            (ServerOptions.keysFile.option, keyFile?.path),
            (ServerOptions.auditLog.option, arguments[ServerOptions.auditLog]),
            (ServerOptions.adminSocket.option, arguments[ServerOptions.adminSocket]),
        ]
        if case .file(let path)? = database { files.insert((ServerOptions.database.option, path), at: 0) }
        judgement.differ(files)
        let attributes = judgement.value(ServerOptions.attributes.option) { try ServeSettings.attributes(arguments) }
        let publisher = judgement.publisher()
        _ = judgement.value(ServerOptions.rotateKeys.option) { try ServeSettings.checkRotation(arguments, lifetimes) }
        try judgement.conclude()
        guard let database, let keyFile, let attributes else { throw Mistakes(judgement.mistakes) }
        self.arguments = arguments
        self.front = front
        self.database = database
        self.redis = redis
        self.keyFile = keyFile
        self.attributes = attributes
        self.publisher = publisher
        self.metricsAccess = metricsAccess
        self.lifetimes = lifetimes
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

extension Judgement {
    /// The database's own file, where it is one, and the file of keys; nil for what is wrong.
    mutating func data(_ database: DatabaseLocation?, rotates: Bool = false) -> KeyFile? {
        if case .file(let path)? = database { self.database(path) }
        guard
            let protection = value(ServerOptions.keysIn.option, { [arguments] in try KeyPlace.protection(arguments) }),
            let database
        else { return nil }
        let file = value(ServerOptions.database.option) { [arguments] in
            try ServedData.keyFile(arguments, database, protection)
        }
        let given = ServerOptions.keysFile.option
        if let file {
            keys(file, arguments.contains(given) ? given : ServerOptions.database.option, isWritten: rotates)
        }
        return file
    }

    /// Who sets an option that does nothing believes that it does something.
    mutating func require(_ other: Option, with option: Option) {
        guard arguments.contains(option), !arguments.contains(other) else { return }
        add(option, "it does nothing without \(other.spelled)")
    }

    /// Whether a file that is there may be a database. Not in a process that has it open: closing it would drop
    /// SQLite's locks.
    mutating func isDatabase(_ path: String) {
        guard let file = try? OwnedDescriptor(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW),
            let start = try? file.readPrefix(SQLiteHeader.size), !start.isEmpty
        else { return }
        let hasLog = unsafe access(path + "-wal", F_OK) == 0
        guard let problem = SQLiteHeader.problem(start, hasLog: hasLog) else { return }
        add(ServerOptions.database.option, "\(path) \(problem)")
    }

    /// Nil for none, and for a mistake in one of the three.
    fileprivate mutating func publisher() -> KeyPublisher? {
        let wanted = [ServerOptions.hsm, ServerOptions.hsmToken, ServerOptions.keyService]
        let given = wanted.filter { arguments.contains($0.option) }
        guard let first = given.first else { return nil }
        let missing = wanted.filter { !arguments.contains($0.option) }.map(\.option.spelled)
        if !missing.isEmpty {
            add(first.option, "it also requires \(missing.joined(separator: " and "))")
        }
        let token =
            arguments.contains(ServerOptions.hsmToken.option)
            ? value(ServerOptions.hsmToken.option) { [arguments] in
                try HSMService.token(arguments, ServerOptions.hsmToken)
            } : nil
        guard let hsm = service(ServerOptions.hsm), let service = service(ServerOptions.keyService), let token else {
            return nil
        }
        return KeyPublisher(hsm: hsm, service: service, token: token)
    }
}
