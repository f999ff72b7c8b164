internal import BetterAuthServer
internal import CHiredis
internal import SystemCalls

/// One connection to Redis, used by one thread at a time.
@safe final class RedisConnection: @unchecked Sendable {  // handed from thread to thread, never shared
    private let context: UnsafeMutablePointer<redisContext>

    /// Seconds for connecting and for each answer.
    private static let timeout: Int32 = 3

    enum Answer {
        case none
        case number(Int64)
        case bytes([UInt8])
        case status
    }

    /// hiredis writes to a connection that Redis has closed as to any other: without this the signal would end the
    /// process.
    private static let ignoresBrokenPipes: Void = { _ = signal(SIGPIPE, SIG_IGN) }()

    /// - Throws: ``StoreError/unavailable(_:)``.
    init(_ location: RedisLocation) throws(StoreError) {
        RedisConnection.ignoresBrokenPipes
        guard
            let made = unsafe chiredis_connect(
                location.host, location.port, location.path, RedisConnection.timeout)
        else { throw .unavailable("Redis: no memory") }
        unsafe context = made
        guard unsafe context.pointee.err == 0 else {
            // Its own text may name anything.
            let number = unsafe context.pointee.err == REDIS_ERR_IO ? errno : 0
            throw .unavailable("Redis cannot be reached\(number == 0 ? "" : ": \(SystemError(number))")")
        }
        if let password = location.password {
            let words = (["AUTH"] + (location.user.map { [$0] } ?? [])).map { Array($0.utf8) }
            _ = try password.withArray { secret throws(StoreError) in try run(words + [secret], isSecret: true) }
        }
        if location.database != 0 { _ = try run(["SELECT", String(location.database)]) }
    }

    deinit { unsafe redisFree(context) }

    /// Whether it can continue.
    var isGood: Bool { unsafe context.pointee.err == 0 }

    func run(_ words: [String]) throws(StoreError) -> Answer { try run(words.map { Array($0.utf8) }) }

    /// - Parameter isSecret: Whether the copy that is made for the library is overwritten.
    func run(_ words: [[UInt8]], isSecret: Bool = false) throws(StoreError) -> Answer {
        let sizes = words.map(\.count)
        var flat = [UInt8](repeating: 0, count: sizes.reduce(0, +) + 1)
        var end = 0
        for word in words {
            flat.replaceSubrange(end..<end + word.count, with: word)
            end += word.count
        }
        defer { if isSecret { SecretText.wipe(&flat) } }
        let reply = unsafe flat.withUnsafeBytes { flat in
            var start = 0
            var pointers: [UnsafePointer<CChar>?] = unsafe []
            for word in words {
                unsafe pointers.append(flat.baseAddress?.advanced(by: start).assumingMemoryBound(to: CChar.self))
                start += word.count
            }
            return unsafe chiredis_command(context, Int32(words.count), &pointers, sizes)
        }
        guard let reply = unsafe reply else { throw .unavailable("Redis: the connection is lost") }
        defer { unsafe freeReplyObject(reply) }
        switch unsafe reply.pointee.type {
        case REDIS_REPLY_NIL: return .none
        case REDIS_REPLY_INTEGER: return .number(unsafe reply.pointee.integer)
        case REDIS_REPLY_STRING:
            return unsafe .bytes(Array(UnsafeRawBufferPointer(start: reply.pointee.str, count: reply.pointee.len)))
        case REDIS_REPLY_STATUS: return .status
        default:
            // Its text may repeat what was sent; the first word is a code.
            let text = unsafe reply.pointee.str.map { unsafe String(cString: $0) } ?? ""
            throw .unavailable("Redis: \(RedisConnection.words(String(text.prefix { $0.isUppercase })))")
        }
    }

    private static func words(_ code: String) -> String {
        let known = [
            "OOM": "its memory is full (maxmemory)", "MISCONF": "it cannot write to its disk",
            "READONLY": "it is a replica", "NOAUTH": "it wants a password", "WRONGPASS": "the password is wrong",
            "LOADING": "it is starting", "MASTERDOWN": "its primary is down", "NOPERM": "its user may not do this",
            "CLUSTERDOWN": "its cluster is down", "MOVED": "it is a part of a cluster, and was not named as one",
        ]
        return known[code].map { "\($0) (\(code))" } ?? code
    }
}
