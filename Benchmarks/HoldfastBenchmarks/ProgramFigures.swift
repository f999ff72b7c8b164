import AgentMessages
import CRawLoops
import Foundation
import HoldfastAgent
import RealParts
import VaultFormat

/// The agent against what it stands beside: a bare client of its socket, gnome-keyring, ssh-agent.
struct ProgramFigures: Suite {
    static let figures = [
        "agent-get-to-bare", "command-get-to-keyring", "ssh-sign-to-agent", "agent-programs-resident",
        "agent-programs-wakeups", "agent-crowd-resident", "agent-locked-wakeups",
    ]

    static func measure(_ bench: Bench) throws -> [Figure] {
        guard let command = Command.found(bench, for: figures) else { return [] }
        // The path of a socket has 107 bytes.
        let folder = NSTemporaryDirectory() + "holdfast-bench-\(getpid())"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(atPath: folder) }
        guard PrivateBus.isInstalled else {
            for figure in figures { bench.skip(figure, "dbus-daemon is not installed") }
            return []
        }
        let bus = try PrivateBus()
        let usual = ["XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"].map {
            ($0, ProcessInfo.processInfo.environment[$0])
        }
        defer {
            for (name, value) in usual {
                unsafe unsetenv(name)
                if let value { unsafe setenv(name, value, 1) }
            }
        }
        unsafe setenv("XDG_RUNTIME_DIR", folder, 1)
        unsafe setenv("DBUS_SESSION_BUS_ADDRESS", bus.address, 1)
        let home = bench.scratch.file("faces")
        let passcode = ["--home", home, "--passcode-fd", "3"]
        try command.expect(command.run(["init", "--phrase-out-fd", "1"] + passcode, passcode: true), "init")
        try command.expect(command.run(["put", "name"] + passcode, passcode: true), "put")
        try command.expect(command.run(["unlock"] + passcode, passcode: true), "unlock")
        defer { _ = try? command.run(["lock", "--shut-down", "--home", home]) }
        try command.expect(command.run(["secrets", "serve", "--home", home]), "secrets serve")
        var all = [try bare(bench, home: home, runtime: folder)]
        all += try keyring(bench, command, home: home)
        all += try ssh(bench, command, home: home, folder: folder)
        let agent = try AgentFigures.agent(of: home)
        let seconds = bench.options.count(30, quick: 5)
        let open = try rest(agent, seconds)
        try crowd(home: home, runtime: folder)
        try command.expect(command.run(["lock", "--home", home]), "lock")
        let locked = try rest(agent, seconds)
        return all + [
            Figure(
                name: "agent-programs-resident", value: open.resident, unit: "MB", bound: .atMost(30),
                detail: "as agent-resident, with SSH and the Secret Service served and used"),
            Figure(
                name: "agent-programs-wakeups", value: Double(open.wakeups), unit: "", bound: .atMost(0),
                detail: "unlocked and at rest with both, in \(seconds) s"),
            Figure(
                name: "agent-crowd-resident", value: locked.resident, unit: "MB", bound: .atMost(30),
                detail: "the same, locked, after 1,000 clients of each socket that asked came and went"),
            Figure(
                name: "agent-locked-wakeups", value: Double(locked.wakeups), unit: "", bound: .atMost(0),
                detail: "locked and at rest after them, in \(seconds) s"),
        ]
    }

    /// What an agent costs when nobody asks.
    private static func rest(_ agent: Int, _ seconds: Int) throws -> (resident: Double, wakeups: Int) {
        // What the last client set in motion comes to rest.
        Thread.sleep(forTimeInterval: 1)
        let before = try AgentFigures.value("voluntary_ctxt_switches", of: agent)
        Thread.sleep(forTimeInterval: Double(seconds))
        let after = try AgentFigures.value("voluntary_ctxt_switches", of: agent)
        return (Double(try AgentFigures.value("VmRSS", of: agent)) * 1.024 / 1000, after - before)
    }

    /// As many clients at each socket as may ever come at once, all there before the first one goes.
    private static func crowd(home: String, runtime: String) throws {
        guard let path = RecordName(collection: "default", name: "name"),
            let client = try AgentClient(home: home, runtime: runtime)
        else { throw BenchmarkError("the agent has gone") }
        var limit = rlimit()
        unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = min(4096, limit.rlim_max)
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        let requests = [
            (try socket(of: home, in: runtime), Request.records(.get(path)).head()),
            (try client.serveSSH(), [0, 0, 0, 1, 11]),
        ]
        var all: [Int32] = []
        defer { for socket in all { close(socket) } }
        for (socket, request) in requests {
            for _ in 0..<1000 {
                let one = unsafe raw_socket_open(socket)
                all.append(one)
                // It may have been closed for another one.
                unsafe send(one, request, request.count, Int32(MSG_NOSIGNAL))
            }
        }
    }

    /// A value over a connection of its own, as `holdfast get` reads it, and the same bytes sent and received by
    /// nothing but C.
    private static func bare(_ bench: Bench, home: String, runtime: String) throws -> Figure {
        guard let path = RecordName(collection: "default", name: "name") else { throw BenchmarkError("no path") }
        let request = Request.records(.get(path)).head()
        let socket = try socket(of: home, in: runtime)
        let rounds = try Rounds(
            bench.options.count(301, quick: 51),
            [
                { _ in
                    try time {
                        guard let client = try AgentClient(home: home, runtime: runtime) else {
                            throw BenchmarkError("the agent has gone")
                        }
                        try client.get(path) { _ in }
                    }
                },
                { _ in
                    try time {
                        let client = unsafe raw_socket_open(socket)
                        defer { close(client) }
                        guard unsafe raw_socket_frames(client, request, request.count, 136) == 1 else {
                            throw BenchmarkError("the agent does not answer")
                        }
                    }
                },
            ])
        return Figure(
            name: "agent-get-to-bare", value: rounds.ratio(0, to: 1), unit: "x",
            absolute: .init(rounds.median(0) / 1e3, "us"), bound: .atMost(1.5),
            detail: "a value from the agent: \(number(rounds.median(0) / 1e3)) us with checks and locked memory, "
                + "\(number(rounds.median(1) / 1e3)) us by a bare socket client")
    }

    private static func socket(of home: String, in runtime: String) throws -> String {
        var status = stat()
        guard unsafe stat(home, &status) == 0 else { throw BenchmarkError("no home") }
        return "\(runtime)/holdfast/\(String(status.st_dev, radix: 16))-\(String(status.st_ino, radix: 16)).sock"
    }

    private static func keyring(_ bench: Bench, _ command: Command, home: String) throws -> [Figure] {
        let tool = Command(path: "/usr/bin/secret-tool")
        guard SessionKeyring.isInstalled, FileManager.default.isExecutableFile(atPath: tool.path) else {
            bench.skip("command-get-to-keyring", "gnome-keyring or secret-tool is not installed")
            return []
        }
        let keyring = try SessionKeyring()
        let own = ProcessInfo.processInfo.environment["DBUS_SESSION_BUS_ADDRESS"] ?? ""
        unsafe setenv("DBUS_SESSION_BUS_ADDRESS", keyring.bus.address, 1)
        defer { unsafe setenv("DBUS_SESSION_BUS_ADDRESS", own, 1) }
        try tool.expect(tool.run(["store", "--label=name", "user", "ada"]), "store")
        let rounds = try Rounds(
            bench.options.count(101, quick: 31),
            [
                { _ in
                    let got = try command.run(["get", "name", "--home", home])
                    try command.expect(got, "get")
                    return got.time
                },
                { _ in
                    let got = try tool.run(["lookup", "user", "ada"])
                    try tool.expect(got, "lookup")
                    return got.time
                },
            ])
        return [
            Figure(
                name: "command-get-to-keyring", value: rounds.ratio(0, to: 1), unit: "x",
                absolute: .init(rounds.median(0) / 1e6, "ms"), bound: .atMost(1),
                detail: "holdfast get \(number(rounds.median(0) / 1e6)) ms, secret-tool lookup with gnome-keyring "
                    + "\(number(rounds.median(1) / 1e6)) ms, from spawn to exit")
        ]
    }

    private static func ssh(_ bench: Bench, _ command: Command, home: String, folder: String) throws -> [Figure] {
        let programs = ["/usr/bin/ssh-agent", "/usr/bin/ssh-add", "/usr/bin/ssh-keygen"]
        guard programs.allSatisfy({ FileManager.default.isExecutableFile(atPath: $0) }) else {
            bench.skip("ssh-sign-to-agent", "OpenSSH is not installed")
            return []
        }
        let (key, other) = (folder + "/key", folder + "/other.sock")
        func run(_ words: [String]) throws {
            guard try Spawned(words, environment: ["SSH_AUTH_SOCK": other]).wait() == 0 else {
                throw BenchmarkError("\(words[0]) failed")
            }
        }
        try run([programs[2], "-q", "-t", "ed25519", "-N", "", "-f", key])
        let agent = try Spawned([programs[0], "-D", "-a", other])
        defer { agent.end(SIGTERM) }
        while !FileManager.default.fileExists(atPath: other), agent.isRunning { usleep(1000) }
        try run([programs[1], "-q", key])
        try command.expect(command.run(["ssh", "import", "key", "--in", key, "--home", home]), "ssh import")
        guard let client = try AgentClient(home: home, runtime: folder) else {
            throw BenchmarkError("the agent has gone")
        }
        let paths: [String] = [try client.serveSSH(), other]
        let sockets = paths.map { path in unsafe raw_socket_open(path) }
        defer { for socket in sockets { close(socket) } }
        let text = try String(contentsOfFile: key + ".pub", encoding: .utf8).split(separator: " ")
        guard text.count > 1, let blob = Data(base64Encoded: String(text[1])) else {
            throw BenchmarkError("no public key")
        }
        func string(_ bytes: [UInt8]) -> [UInt8] {
            [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: bytes.count >> $0) } + bytes
        }
        let message = string([13] + string(Array(blob)) + string(Array("what is signed".utf8)) + [0, 0, 0, 0])
        let rounds = try Rounds(
            bench.options.count(301, quick: 51),
            sockets.map { socket in
                { _ in
                    try time {
                        guard unsafe raw_socket_ssh(socket, message, message.count) == 14 else {
                            throw BenchmarkError("an agent does not sign")
                        }
                    }
                }
            })
        return [
            Figure(
                name: "ssh-sign-to-agent", value: rounds.ratio(0, to: 1), unit: "x",
                absolute: .init(rounds.median(0) / 1e3, "us"), bound: .atMost(1.1),
                detail: "a signature with Ed25519: \(number(rounds.median(0) / 1e3)) us, ssh-agent of OpenSSH "
                    + "\(number(rounds.median(1) / 1e3)) us")
        ]
    }
}
