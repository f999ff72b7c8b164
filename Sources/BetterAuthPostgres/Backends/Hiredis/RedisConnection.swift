internal import BetterAuthServer
internal import CHiredis
internal import SystemCalls

/// Where Redis is: `redis://[:PASSWORD@]HOST[:PORT][/DATABASE]`, or `unix:PATH`.
package struct RedisLocation: Sendable, Hashable {
    let host: String
    let port: Int32
    let path: String?
    let password: String?
    let database: Int

    /// Nil when the text is none of the two forms.
    package init?(_ text: String) {
        if text.hasPrefix("unix:") {
            (host, port, password, database) = ("", 0, nil, 0)
            path = String(text.dropFirst(5))
            return
        }
        guard text.hasPrefix("redis://") else { return nil }
        path = nil
        var rest = text.dropFirst(8)
        if let at = rest.lastIndex(of: "@") {
            let credentials = rest[..<at]
            password = String(credentials.drop { $0 != ":" }.dropFirst())
            rest = rest[rest.index(after: at)...]
        } else {
            password = nil
        }
        let parts = rest.split(separator: "/", maxSplits: 1)
        guard let place = parts.first, let number = parts.count == 2 ? Int(parts[1]) : 0 else { return nil }
        database = number
        let pair = place.split(separator: ":")
        guard let name = pair.first, pair.count <= 2, let given = pair.count == 2 ? Int32(pair[1]) : 6379 else {
            return nil
        }
        (host, port) = (String(name), given)
    }
}

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

    /// hiredis writes to a connection that Redis has closed as to any other: without this the signal would end the process.
    private static let ignoresBrokenPipes: Void = { _ = signal(SIGPIPE, SIG_IGN) }()

    /// - Throws: ``StoreError/unavailable(_:)``.
    init(_ location: RedisLocation) throws(StoreError) {
        RedisConnection.ignoresBrokenPipes
        guard
            let made = unsafe chiredis_connect(
                location.host, location.port, location.path, RedisConnection.timeout)
        else { throw .unavailable("Redis: no memory") }
        unsafe context = made
        guard unsafe context.pointee.err == 0 else { throw .unavailable("Redis cannot be reached") }
        if let password = location.password { _ = try run(["AUTH", password]) }
        if location.database != 0 { _ = try run(["SELECT", String(location.database)]) }
    }

    deinit { unsafe redisFree(context) }

    /// Whether it can go on.
    var isGood: Bool { unsafe context.pointee.err == 0 }

    func run(_ words: [String]) throws(StoreError) -> Answer { try run(words.map { Array($0.utf8) }) }

    func run(_ words: [[UInt8]]) throws(StoreError) -> Answer {
        let sizes = words.map(\.count)
        let flat = words.flatMap(\.self) + [0]
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
