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
        let usual = ProcessInfo.processInfo.environment["XDG_RUNTIME_DIR"]
        unsafe setenv("XDG_RUNTIME_DIR", runtime, 1)
        defer {
            unsafe unsetenv("XDG_RUNTIME_DIR")
            if let usual { unsafe setenv("XDG_RUNTIME_DIR", usual, 1) }
        }
        let passcode = ["--home", home, "--passcode-fd", "3"]
        try command.expect(command.run(["init", "--phrase-out-fd", "1"] + passcode, passcode: true), "init")
        try command.expect(command.run(["put", "name"] + passcode, passcode: true), "put")
        try command.expect(command.run(["unlock"] + passcode, passcode: true), "unlock")
        defer { _ = try? command.run(["lock", "--shut-down", "--home", home]) }
        let hello = Command.hello(bench, for: ["command-get-agent"])
        let echo = try EchoServer(runtime + "/echo")
        let rounds = try Rounds(
            bench.options.count(101, quick: 31),
            [
                { _ in
                    let got = try command.run(["get", "name", "--home", home])
                    try command.expect(got, "get")
                    return got.time
                },
                { _ in
                    guard let hello else { return 1 }
                    let answered = try hello.run([echo.path])
                    try command.expect(answered, "hello")
                    return answered.time
                },
            ])
        let process = try agent(of: home)
        // What the last client set in motion comes to rest.
        Thread.sleep(forTimeInterval: 1)
        let before = try value("voluntary_ctxt_switches", of: process)
        let seconds = bench.options.count(30, quick: 5)
        Thread.sleep(forTimeInterval: Double(seconds))
        let after = try value("voluntary_ctxt_switches", of: process)
        let resident = Double(try value("VmRSS", of: process)) * 1.024 / 1000
        var found: [Figure] = []
        if hello != nil {
            found.append(
                Figure(
                    name: "command-get-agent", value: rounds.ratio(0, to: 1), unit: "x",
                    absolute: .init(rounds.median(0) / 1e6, "ms"), bound: .atMost(2.2),
                    detail:
                        "holdfast get through the agent, from spawn to exit; a static client of a socket that echoes "
                        + "takes \(number(rounds.median(1) / 1e6)) ms"))
        }
        return found + [
            Figure(
                name: "agent-resident", value: resident, unit: "MB", bound: .atMost(30),
                detail: "unlocked and at rest, shared pages of its program included"),
            Figure(
                name: "agent-wakeups", value: Double(after - before), unit: "", bound: .atMost(0),
                detail: "unlocked and at rest, in \(seconds) s"),
        ]
    }

    /// The process that holds the home's vault: the one whose arguments name it.
    static func agent(of home: String) throws -> Int {
        let option = "--home=\(home)"
        for entry in try FileManager.default.contentsOfDirectory(atPath: "/proc") {
            guard let number = Int(entry), let line = FileManager.default.contents(atPath: "/proc/\(entry)/cmdline")
            else { continue }
            let words = line.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
            if words.contains("agent") && words.contains(option) { return number }
        }
        throw BenchmarkError("the agent has gone")
    }

    static func value(_ field: String, of process: Int) throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let line = text.split(separator: "\n").first { $0.hasPrefix(field + ":") }
        guard let number = line.flatMap({ Int($0.filter(\.isNumber)) }) else { throw BenchmarkError("no \(field)") }
        return number
    }
}

/// Sends back what comes, to one client at a time.
private final class EchoServer {
    let path: String
    private let listener: Int32

    init(_ path: String) throws {
        self.path = path
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        self.listener = listener
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        guard path.utf8.count < MemoryLayout.size(ofValue: address.sun_path) else {
            throw BenchmarkError("\(path) is too long for a socket")
        }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
        let status = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard status == 0, listen(listener, 16) == 0 else { throw BenchmarkError("no socket at \(path)") }
        Thread.detachNewThread {
            var bytes = [UInt8](repeating: 0, count: 4096)
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { return }
                let count = unsafe recv(client, &bytes, bytes.count, 0)
                if count > 0 { unsafe send(client, bytes, count, Int32(MSG_NOSIGNAL)) }
                close(client)
            }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }
}
