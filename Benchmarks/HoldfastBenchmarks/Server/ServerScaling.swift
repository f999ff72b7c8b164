import BetterAuthMessages
import CRawLoops
import Foundation
import RealParts

/// What more threads, and more processes over one database, bring.
struct ServerScaling: Suite {
    static let figures = [
        "server-cores", "server-processes", "server-processes-cost", "server-postgres-over-sqlite",
    ]

    static func measure(_ bench: Bench) throws -> [Figure] {
        guard let program = bench.options.server else {
            for figure in figures { bench.skip(figure, "--server names no holdfast-server") }
            return []
        }
        var found: [Figure] = []
        if bench.options.wants("server-cores") { found.append(try cores(program, bench)) }
        if figures.dropFirst().contains(where: bench.options.wants) { found += try processes(program, bench) }
        return found
    }

    /// Accounts per second.
    private static func rate(_ count: Int, _ post: ([[UInt8]]) throws -> Void) throws -> Double {
        let bodies = try (0..<count).map { _ in try LoadDevice().creation() }
        return try Double(count) / time { try post(bodies) } * 1e9
    }

    /// Sessions per second, which wait for no disk.
    private static func sessions(_ count: Int, _ server: LoadServer) throws -> Double {
        let devices = try (0..<count).map { _ in try LoadDevice() }
        _ = try server.post(CreateAccount.path, devices.map { try $0.creation() })
        let challenges = try server.post(RequestSession.path, devices.map { try $0.sessionRequest() })
        let openings = try zip(devices, challenges).map { try $0.opening($1) }
        return try Double(count) / time { _ = try server.post(CreateSession.path, openings) } * 1e9
    }

    /// Two processors by one, and that by what two threads bring for the signatures alone: two processors that are one
    /// core's do not do twice the work of one. The load takes its part of both.
    private static func cores(_ program: String, _ bench: Bench) throws -> Figure {
        let servers = try ["0", "0,1"].map { (processors: String) in
            try LoadServer(
                program, ["--database", bench.scratch.file("cores-\(processors).db")], processors: processors)
        }
        var (gains, signatures): ([Double], [Double]) = ([], [])
        for _ in 0..<bench.options.count(9, quick: 3) {
            let rates = try servers.map { server in
                try sessions(bench.options.count(2048, quick: 1024), server)
            }
            gains.append(rates[1] / rates[0])
            let loops: Int32 = 1500
            let alone = time { _ = raw_p256(loops, 1, 1, 1) }
            let together = time { DispatchQueue.concurrentPerform(iterations: 2) { _ in _ = raw_p256(loops, 1, 1, 1) } }
            signatures.append(2 * alone / together)
        }
        let (gain, most) = (median(gains), median(signatures))
        return Figure(
            name: "server-cores", value: gain / most, unit: "x", bound: .atLeast(0.7),
            detail: "two processors do \(number(gain)) times the work of one, signatures alone \(number(most)) times")
    }

    /// Two processes by one, over one PostgreSQL and one Redis, all on this machine.
    private static func processes(_ program: String, _ bench: Bench) throws -> [Figure] {
        let databases: (postgres: PostgresServer, redis: RedisServer)
        do { databases = (try PostgresServer(), try RedisServer()) } catch {
            for figure in figures.dropFirst() { bench.skip(figure, "\(error)") }
            return []
        }
        let made = try Command(path: program).run(["migrate", "--database", databases.postgres.url])
        guard made.status == 0 else { throw BenchmarkError("holdfast-server migrate ended with \(made.status)") }
        let arguments = [
            "--database", databases.postgres.url, "--redis", databases.redis.location, "--keys-file",
            bench.scratch.file("shared.keys"),
        ]
        let servers = try (0..<2).map { _ in try LoadServer(program, arguments) }
        let sqlite = try LoadServer(program, ["--database", bench.scratch.file("beside.db")])
        // Nothing below names them, and they end with their objects.
        defer { withExtendedLifetime((databases, servers, sqlite)) {} }
        let loads = try [Load([servers[0].port]), Load(servers.map(\.port))]
        let size = bench.options.count(4096, quick: 1024)
        var ratios: [Double] = []
        var rates: [[Double]] = [[], []]
        // Processor time for an account: by one process, by two, and by one over SQLite.
        var costs: [[Double]] = [[], [], []]
        for round in 0..<bench.options.count(11, quick: 5) {
            var measured: [Double] = [0, 0]
            // In turns, so that neither always finds the database as the other has left it.
            for index in round % 2 == 0 ? [0, 1] : [1, 0] {
                let before = servers.map(\.processorTime).reduce(0, +)
                measured[index] = try rate(size) { _ = try loads[index].post(CreateAccount.path, $0) }
                costs[index].append((servers.map(\.processorTime).reduce(0, +) - before) / Double(size))
                rates[index].append(measured[index])
            }
            ratios.append(measured[1] / measured[0])
            let bodies = try (0..<size).map { _ in try LoadDevice().creation() }
            costs[2].append(try sqlite.cost(size) { _ = try sqlite.post(CreateAccount.path, bodies) })
        }
        let (one, two, embedded) = (median(costs[0]), median(costs[1]), median(costs[2]))
        let detail = rates.map { "\(Int(median($0)))" }.joined(separator: " and ")
        return [
            Figure(
                name: "server-processes", value: median(ratios), unit: "x", bound: .atLeast(1),
                detail: "\(detail) accounts a second by one process and by two, PostgreSQL and Redis beside them"),
            Figure(
                name: "server-processes-cost", value: median(zip(costs[1], costs[0]).map { $0 / $1 }), unit: "x",
                absolute: .init(two / 1000, "us"), bound: .atMost(1.1),
                detail: "of processor for an account by two processes, \(number(one / 1000)) us by one"),
            Figure(
                name: "server-postgres-over-sqlite", value: median(zip(costs[0], costs[2]).map { $0 / $1 }), unit: "x",
                absolute: .init(one / 1000, "us"), bound: .atMost(2.3),
                detail: "of the server's own processor time for an account, PostgreSQL and Redis by SQLite, "
                    + "\(number(embedded / 1000)) us"),
        ]
    }
}
