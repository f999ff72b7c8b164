import BetterAuthMessages
import Foundation

/// The identity server beside the example server that the protocol's authors publish (in Go), asked in turns for the
/// same. Theirs keeps everything in memory and forgets it at its end; ours has it on the disk before it answers.
struct ServerUpstream: Suite {
    static let figures = ["server-upstream-create", "server-upstream-session", "server-upstream-access"]

    static func measure(_ bench: Bench) throws -> [Figure] {
        guard let program = bench.options.server, let other = bench.options.upstream else {
            bench.skip("server-upstream-create", "--upstream-server names no example server of the protocol's authors")
            return []
        }
        let file = bench.scratch.file("accounts.db")
        let ours = try LoadServer(program, ["--database", file])
        let app = try LoadServer.app(program, trusting: file + ".keys")
        let theirs = try LoadServer(upstream: other)
        let count = bench.options.count(1024, quick: 512)
        var costs = [String: [[Double]]]()
        for round in 0..<bench.options.count(9, quick: 3) {
            for index in round % 2 == 0 ? [0, 1] : [1, 0] {
                let server = [ours, theirs][index]
                func note(_ name: String, _ cost: Double) { costs[name, default: [[], []]][index].append(cost) }
                let bodies = try (0..<count).map { _ in try LoadDevice().creation() }
                note(figures[0], try server.cost(count) { _ = try server.post(CreateAccount.path, bodies) })
                let sessions = try ServerFigures.sessions(server, count)
                note(figures[1], sessions.cost)
                let asked = try zip(sessions.devices, sessions.tokens).map { try $0.access($1) }
                let access = [app, theirs][index]
                note(figures[2], try access.cost(count) { _ = try access.post("/foo/bar", asked) })
            }
        }
        return figures.map { name in
            let (own, other) = (costs[name]?[0] ?? [], costs[name]?[1] ?? [])
            return Figure(
                name: name, value: median(zip(own, other).map { $0 / $1 }), unit: "x",
                absolute: .init(median(own) / 1000, "us"), bound: .atMost(1),
                detail: "of processor by \(number(median(other) / 1000)) us by the authors' server in Go, in memory")
        }
    }
}
