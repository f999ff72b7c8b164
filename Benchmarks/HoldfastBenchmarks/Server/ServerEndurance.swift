import BetterAuthMessages
import Foundation

/// What lies in memory over a long time of load.
struct ServerEndurance: Suite {
    static let figures = ["server-flat"]
    private static let seconds = 300.0

    static func measure(_ bench: Bench) throws -> [Figure] {
        guard let program = bench.options.server else {
            bench.skip("server-flat", "--server names no holdfast-server")
            return []
        }
        guard bench.options.isLong else {
            bench.skip("server-flat", "it takes five minutes (--long)")
            return []
        }
        let server = try LoadServer(
            program, ["--database", bench.scratch.file("flat.db"), "--challenges", "database", "--example-app"])
        let load = try Load([server.port])
        let start = nanoseconds()
        var samples: [(second: Double, resident: Double)] = []
        var count = 0
        while case let second = (nanoseconds() - start) / 1e9, second < seconds {
            // Accounts, sessions and access requests, each of them by devices that were never seen before.
            let sessions = try load.sessions(512)
            _ = try load.post("/foo/bar", sessions.map { try $0.device.access($0.token) })
            count += 4 * sessions.count
            samples.append((second, try server.resident()))
        }
        // Challenges and nonces fill their room within the first two minutes: they expire after one.
        let before = samples.filter { (120..<180).contains($0.second) }.map(\.resident)
        let after = samples.filter { $0.second >= seconds - 60 }.map(\.resident)
        return [
            Figure(
                name: "server-flat", value: median(after) / median(before), unit: "x", bound: .atMost(1.05),
                detail: "\(number(median(before))) MB in the third minute, \(number(median(after))) MB in the fifth, "
                    + "after \(count) operations")
        ]
    }
}
