import BetterAuthMessages
import Foundation

/// What lies in memory over a long time of load, on top of a million accounts.
struct ServerEndurance: Suite {
    static let figures = ["server-flat", "server-flat-resident"]

    static func measure(_ bench: Bench) throws -> [Figure] {
        guard let program = bench.options.server else {
            for figure in figures { bench.skip(figure, "--server names no holdfast-server") }
            return []
        }
        guard bench.options.isLong else {
            for figure in figures { bench.skip(figure, "it takes five minutes (--long)") }
            return []
        }
        // In quick runs the expiring tables are still filling when the first figure is taken.
        let seconds = Double(bench.options.count(300, quick: 100))
        let accounts = bench.options.count(1_000_000, quick: 100_000)
        let path = bench.scratch.file("flat.db")
        try ServerSize.fill(path, accounts)
        let server = try LoadServer(program, ["--database", path, "--new-keys"])
        let app = try LoadServer.app(program, trusting: path + ".keys")
        let load = try Load([server.port])
        let start = nanoseconds()
        var samples: [(second: Double, resident: Double)] = []
        var count = 0
        while case let second = (nanoseconds() - start) / 1e9, second < seconds {
            // Accounts, sessions and access requests, each of them by devices that were never seen before.
            let sessions = try load.sessions(512)
            _ = try app.post("/foo/bar", sessions.map { try $0.device.access($0.token) })
            count += 4 * sessions.count
            samples.append((second, try server.resident()))
        }
        // Challenges and nonces fill their room within the first two minutes: they expire after one.
        let before = samples.filter { (0.4 * seconds..<0.6 * seconds).contains($0.second) }.map(\.resident)
        let after = samples.filter { $0.second >= 0.8 * seconds }.map(\.resident)
        let most = samples.map(\.resident).max() ?? 0
        return [
            Figure(
                name: "server-flat", value: median(after) / median(before), unit: "x", bound: .atMost(1.05),
                detail: "\(number(median(before))) MB around the middle of \(Int(seconds)) seconds, "
                    + "\(number(median(after))) MB at their end, after \(count) operations"),
            Figure(
                name: "server-flat-resident", value: most, unit: "MB", bound: .atMost(60),
                detail: "the most of all that time; \(accounts) accounts in SQLite before it"),
        ]
    }
}
