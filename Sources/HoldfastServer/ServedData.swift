internal import BetterAuthHTTP
internal import BetterAuthPostgres
internal import BetterAuthServer
internal import CommandLineArguments

/// The database and the keys of a server, as the options name them.
enum ServedData {
    static let needsRedis = UsageError("with PostgreSQL, --redis is required: it keeps what expires")

    static func keyFile(
        _ arguments: Arguments, _ database: DatabaseLocation, _ protection: KeyProtection
    ) throws(UsageError) -> KeyFile {
        if let path = arguments[ServerOptions.keysFile] { return KeyFile(path, protection) }
        switch database {
        case .file(let path): return KeyFile(path + ".keys", protection)
        case .postgres:
            throw UsageError("with PostgreSQL, --keys-file is required: all processes over one database share it")
        }
    }

    /// Opens the store. A file that is not there is made, and that is logged.
    static func store(
        _ arguments: Arguments, _ database: DatabaseLocation, _ redis: RedisLocation?, _ lifetimes: Lifetimes,
        _ log: ServerLog
    ) throws -> any ServerStore {
        switch database {
        case .postgres(let url):
            guard let redis else { throw needsRedis }
            let loss = arguments[ServerOptions.redisLost].flatMap(RedisLoss.init) ?? .warn
            let store = PostgresStore(url, redis, lifetimes: lifetimes, loss: loss) { notice in
                let advice =
                    notice == .lost && loss == .refuse ? "; sessions wait for holdfast-server accept-redis" : ""
                log.write(
                    notice == .lost ? .error : .warning, "redis", ["reason": .text(notice.description + advice)])
            }
            try store.check()
            return store
        case .file(let path):
            let store = try SQLiteStore(path, lifetimes: lifetimes) { seconds, isStart in
                // A machine that was off is no reason to worry.
                let mayBeOff = isStart && seconds > 0
                log.write(
                    mayBeOff ? .notice : .warning, "clock",
                    [
                        "seconds": .number(Int(clamping: seconds)),
                        "reason": .text(
                            mayBeOff ? "the server was off, or the clock was set" : "the clock was set"),
                    ])
            } onLoss: {
                log.write(.error, "sessions lost", ["reason": .text(OperatorAdvice.line(for: $0))])
            } onUpdate: {
                tell($0, path, log)
            }
            if store.isNew { log.write(.notice, "created", ["database": .text(path)]) }
            return store
        }
    }

    /// Bytes of a database that are copied, verified and changed in a second, on a slow disk.
    private static let updated = 4_000_000

    private static func tell(_ update: SQLiteUpdate, _ path: String, _ log: ServerLog) {
        switch update {
        case .begins(let bytes):
            // Whoever ended it for taking long would have it begin anew for ever.
            ServiceManager.tell(.starting(seconds: 120 + bytes / updated))
        case .done(let from, let to, let copy):
            log.write(
                .notice, "updated",
                [
                    "database": .text(path), "from": .number(from), "to": .number(to), "copy": .text(copy),
                    "reason": "an earlier version can go back to the copy; remove it when you will not go back",
                ])
        }
    }
}
