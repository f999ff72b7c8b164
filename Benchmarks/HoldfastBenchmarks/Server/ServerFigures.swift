import BetterAuthMessages
import BetterAuthServer
import CRawLoops
import Foundation
import Synchronization

/// The identity server: its processor time for an operation, by that of the operation's signatures alone.
struct ServerFigures: Suite {
    static let figures = [
        "server-create-sqlite", "server-session-sqlite", "server-access-cold", "server-access-warm", "server-p99",
    ]

    static func measure(_ bench: Bench) throws -> [Figure] {
        guard let program = bench.options.server else {
            for figure in figures { bench.skip(figure, "--server names no holdfast-server") }
            return []
        }
        let rounds = bench.options.count(7, quick: 3)
        let count = bench.options.count(1024, quick: 512)
        let file = bench.scratch.file("accounts.db")
        let server = try LoadServer(program, ["--database", file])
        let app = try LoadServer.app(program, trusting: file + ".keys")
        var ratios = [String: [Double]]()
        var details = [String: [Double]]()
        func note(_ name: String, _ cost: Double, _ bound: Double) {
            ratios[name, default: []].append(cost / bound)
            details[name, default: []].append(cost / 1000)
        }
        for _ in 0..<rounds {
            let create = bound(1, 1, 1)
            let bodies = try (0..<count).map { _ in try LoadDevice().creation() }
            note(
                "server-create-sqlite", try server.cost(count) { _ = try server.post(CreateAccount.path, bodies) },
                create)
            let session = bound(0, 1, 3)
            let (cost, devices, tokens) = try sessions(server, count)
            note("server-session-sqlite", cost, session)
            // Each token is new to the verifier the first time, and known the second.
            for (name, bound) in [("server-access-cold", bound(1, 2, 1)), ("server-access-warm", bound(0, 1, 1))] {
                let bodies = try zip(devices, tokens).map { try $0.access($1) }
                note(name, try app.cost(count) { _ = try app.post("/foo/bar", bodies) }, bound)
            }
        }
        var found: [Figure] = []
        let limits: [(String, Double, String)] = [
            ("server-create-sqlite", 2.2, "an import, a verification and a signature"),
            ("server-session-sqlite", 2.3, "request and create: a verification and three signatures"),
            ("server-access-cold", 1.5, "an import, two verifications and a signature"),
            ("server-access-warm", 1.7, "a verification and a signature, the token known"),
        ]
        for (name, limit, detail) in limits {
            found.append(
                Figure(
                    name: name, value: median(ratios[name] ?? []), unit: "x",
                    absolute: .init(median(details[name] ?? []), "us"), bound: .atMost(limit),
                    detail: "by that of \(detail)"))
        }
        found.append(try latency(server, bench))
        return found
    }

    /// Nanoseconds of processor time for so many imports, verifications and signatures, on as many busy threads as the
    /// server has.
    private static func bound(_ imports: Int32, _ verifies: Int32, _ signs: Int32) -> Double {
        let times = Mutex<[Double]>([])
        DispatchQueue.concurrentPerform(iterations: LoadServer.threads) { _ in
            let time = raw_p256(1500, imports, verifies, signs)
            times.withLock { $0.append(time) }
        }
        return median(times.withLock { $0 }) * 1e9
    }

    /// Processor time of one session, for devices that have just been made.
    static func sessions(
        _ server: LoadServer, _ count: Int
    ) throws -> (cost: Double, devices: [LoadDevice], tokens: [TokenText]) {
        let devices = try (0..<count).map { _ in try LoadDevice() }
        _ = try server.post(CreateAccount.path, devices.map { try $0.creation() })
        let requests = try devices.map { try $0.sessionRequest() }
        var challenges: [[UInt8]] = []
        let asking = try server.cost(count) { challenges = try server.post(RequestSession.path, requests) }
        let openings = try zip(devices, challenges).map { try $0.opening($1) }
        var replies: [[UInt8]] = []
        let opening = try server.cost(count) { replies = try server.post(CreateSession.path, openings) }
        return (asking + opening, devices, try replies.map { try LoadDevice.token($0) })
    }

    /// At half of the rate that it can have, one request after another on some connections.
    private static func latency(_ server: LoadServer, _ bench: Bench) throws -> Figure {
        let count = bench.options.count(6000, quick: 1500)
        let bodies = try (0..<2 * count).map { _ in try LoadDevice().creation() }
        let peak = try time { _ = try server.post(CreateAccount.path, Array(bodies[..<count])) } / Double(count)
        let connections = try (0..<16).map { _ in try LoadConnection(server.port) }
        let latencies = Mutex<[Double]>([])
        let failure = Mutex<(any Error)?>(nil)
        let start = nanoseconds()
        let rest = Array(bodies[count...])
        DispatchQueue.global().sync {
            let group = DispatchGroup()
            for (index, connection) in connections.enumerated() {
                group.enter()
                Thread.detachNewThread {
                    defer { group.leave() }
                    do {
                        for number in stride(from: index, to: rest.count, by: connections.count) {
                            // Each has its moment, whether or not the one before was late.
                            let due = start + Double(number) * peak * 2
                            let wait = due - nanoseconds()
                            if wait > 0 { usleep(UInt32(wait / 1000)) }
                            try connection.send(CreateAccount.path, rest[number])
                            _ = try connection.reply()
                            let taken = nanoseconds() - due
                            latencies.withLock { $0.append(taken) }
                        }
                    } catch { failure.withLock { $0 = error } }
                }
            }
            group.wait()
        }
        if let error = failure.withLock({ $0 }) { throw error }
        let sorted = latencies.withLock { $0 }.sorted()
        return Figure(
            name: "server-p99", absolute: .init(sorted[sorted.count * 99 / 100] / 1e6, "ms"),
            detail: "create account at half of \(Int(1e9 / peak)) per second, the load on the same cores")
    }
}

/// What lies in memory and on the disk with many identities.
struct ServerSize: Suite {
    static let figures = ["server-resident", "server-bytes-per-account", "server-create-growth"]

    static func measure(_ bench: Bench) throws -> [Figure] {
        guard let program = bench.options.server else {
            for figure in figures { bench.skip(figure, "--server names no holdfast-server") }
            return []
        }
        let count = bench.options.scale.map { $0 * 1_000_000 } ?? bench.options.count(1_000_000, quick: 50_000)
        let path = bench.scratch.file("many.db")
        try fill(path, count)
        let size = try Double(
            (FileManager.default.attributesOfItem(atPath: path)[.size] as? NSNumber)?.intValue ?? 0)
        let server = try LoadServer(program, ["--database", path, "--new-keys"])
        let load = try Load([server.port])
        for _ in 0..<bench.options.count(20, quick: 4) { _ = try load.sessions(512) }
        let empty = try LoadServer(program, ["--database", bench.scratch.file("few.db"), "--new-keys"])
        let creations = try Rounds(
            bench.options.count(9, quick: 3),
            [empty, server].map { server in
                { _ in
                    let bodies = try (0..<512).map { _ in try LoadDevice().creation() }
                    return try server.cost(512) { _ = try server.post(CreateAccount.path, bodies) }
                }
            })
        return [
            Figure(
                name: "server-resident", value: try server.resident(), unit: "MB", bound: .atMost(60),
                detail: "after new accounts and sessions, \(count) accounts in SQLite"),
            Figure(
                name: "server-bytes-per-account", value: size / Double(count), unit: "B", bound: .atMost(600),
                detail: "of the database file, accounts of one device"),
            Figure(
                name: "server-create-growth", value: creations.ratio(1, to: 0), unit: "x",
                absolute: .init(creations.median(1) / 1000, "us"), bound: .atMost(1.5),
                detail: "of processor for a new account beside \(count) others, by that beside few"),
        ]
    }

    /// Accounts that nobody signed for; the rows are as those of real ones.
    static func fill(_ path: String, _ count: Int) throws {
        let now = SystemClock().now
        let store = try SQLiteStore(path)
        let device = try LoadDevice()
        let signature = try device.current.sign(RawSpan())
        let pending = DispatchSemaphore(value: 4096)
        for index in 0..<count {
            // Hashes of numbers lie anywhere, as those of keys do.
            let name = IdentityID(RotationHash(hash(index)).digest)
            let new = Account.Device(
                id: DeviceID(hash(index)), publicKey: device.current.publicKey, rotationHash: device.next)
            let reply = CommittedReply(
                operation: OperationKey(hash(index)), serverIdentity: device.current.publicKey, signature: signature,
                until: now)
            let change = AccountChange(
                identity: name, kind: .create(new, device.recovery), reply: reply, moment: now)
            pending.wait()
            store.apply(change) { _ in pending.signal() }
        }
        for _ in 0..<4096 { pending.wait() }
        for _ in 0..<4096 { pending.signal() }
        store.close()
    }

    private static func hash(_ index: Int) -> DigestText {
        let bytes = Array(String(index).utf8)
        return unsafe OperationKey(path: "", body: bytes.span.bytes).digest
    }
}
