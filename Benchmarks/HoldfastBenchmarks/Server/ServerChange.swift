import BetterAuthMessages

/// Two builds of the identity server, asked in turns for the same: what a change brings, on a machine whose load moves
/// absolute figures by half.
struct ServerChange: Suite {
    static let figures = [
        "server-change-create", "server-change-session", "server-change-access",
    ]

    static func measure(_ bench: Bench) throws -> [Figure] {
        guard let program = bench.options.server, let earlier = bench.options.earlier else { return [] }
        return try figures.filter(bench.options.wants).map { figure in
            let costs = try [earlier, program].enumerated().map { index, program in
                try measurement(of: figure, program, bench.scratch.file("\(figure)-\(index).db"))
            }
            var (ratios, spent): ([Double], [[Double]]) = ([], [[], []])
            for round in 0..<bench.options.count(15, quick: 5) {
                var measured: [Double] = [0, 0]
                for index in round % 2 == 0 ? [0, 1] : [1, 0] {
                    measured[index] = try costs[index]()
                    spent[index].append(measured[index])
                }
                ratios.append(measured[1] / measured[0])
            }
            let times = spent.map { number(median($0) / 1000) }
            return Figure(
                name: figure, value: median(ratios), unit: "x", bound: .atMost(1),
                detail: "\(times[1]) us of processor, \(times[0]) us by the earlier build")
        }
    }

    private static func measurement(
        of figure: String, _ program: String, _ file: String
    ) throws -> () throws -> Double {
        let count = 1024
        switch figure {
        case "server-change-create":
            let server = try LoadServer(program, ["--database", file])
            return {
                let bodies = try (0..<count).map { _ in try LoadDevice().creation() }
                return try server.cost(count) { _ = try server.post(CreateAccount.path, bodies) }
            }
        case "server-change-access":
            let server = try LoadServer(program, ["--database", file])
            let app = try LoadServer.app(program, trusting: file + ".keys")
            return {
                let sessions = try ServerFigures.sessions(server, count)
                let bodies = try zip(sessions.devices, sessions.tokens).map { try $0.access($1) }
                return try app.cost(count) { _ = try app.post("/foo/bar", bodies) }
            }
        default:
            let server = try LoadServer(program, ["--database", file])
            return { try ServerFigures.sessions(server, count).cost }
        }
    }
}
