import Foundation

/// The built command and its agent: how fast a value comes, and what the agent costs when nobody asks.
struct AgentFigures: Suite {
    static let figures = ["command-get-agent", "agent-resident", "agent-wakeups"]

    static func measure(_ bench: Bench) throws -> [Figure] {
        guard let command = Command.found(bench, for: figures) else { return [] }
        let home = bench.scratch.file("agent")
        // Only the agent's own socket: not that of whoever runs this.
        let runtime = bench.scratch.file("runtime")
        try FileManager.default.createDirectory(
            atPath: runtime, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        unsafe setenv("XDG_RUNTIME_DIR", runtime, 1)
        let passcode = ["--home", home, "--passcode-fd", "3"]
        try command.expect(command.run(["init", "--phrase-out-fd", "1"] + passcode, passcode: true), "init")
        try command.expect(command.run(["put", "name"] + passcode, passcode: true), "put")
        try command.expect(command.run(["unlock"] + passcode, passcode: true), "unlock")
        defer { _ = try? command.run(["lock", "--shut-down", "--home", home]) }
        let rounds = try Rounds(
            bench.options.count(101, quick: 31),
            [
                { _ in
                    let got = try command.run(["get", "name", "--home", home])
                    try command.expect(got, "get")
                    return got.time
                }
            ])
        let process = try agent(of: home)
        // What the last client set in motion comes to rest.
        Thread.sleep(forTimeInterval: 1)
        let before = try value("voluntary_ctxt_switches", of: process)
        let seconds = bench.options.count(30, quick: 5)
        Thread.sleep(forTimeInterval: Double(seconds))
        let after = try value("voluntary_ctxt_switches", of: process)
        let resident = Double(try value("VmRSS", of: process)) * 1.024 / 1000
        return [
            Figure(
                name: "command-get-agent", value: rounds.median(0) / 1e6, unit: "ms", bound: .atMost(8),
                detail: "holdfast get through the agent, from spawn to exit"),
            Figure(
                name: "agent-resident", value: resident, unit: "MB", bound: .atMost(30),
                detail: "unlocked and at rest, shared pages of its program included"),
            Figure(
                name: "agent-wakeups", value: Double(after - before), unit: "", bound: .atMost(0),
                detail: "unlocked and at rest, in \(seconds) s"),
        ]
    }

    /// The process that holds the home's vault: the one whose arguments name it.
    private static func agent(of home: String) throws -> Int {
        let option = "--home=\(home)"
        for entry in try FileManager.default.contentsOfDirectory(atPath: "/proc") {
            guard let number = Int(entry), let line = FileManager.default.contents(atPath: "/proc/\(entry)/cmdline")
            else { continue }
            let words = line.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
            if words.contains("agent") && words.contains(option) { return number }
        }
        throw BenchmarkError("the agent has gone")
    }

    private static func value(_ field: String, of process: Int) throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let line = text.split(separator: "\n").first { $0.hasPrefix(field + ":") }
        guard let number = line.flatMap({ Int($0.filter(\.isNumber)) }) else { throw BenchmarkError("no \(field)") }
        return number
    }
}
