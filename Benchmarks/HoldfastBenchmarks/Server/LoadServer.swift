import BetterAuthMessages
import BetterAuthServer
import Foundation
import Synchronization

/// The built server in a process of its own.
final class LoadServer {
    /// Threads of the load.
    static let threads = 2

    private let process: Process
    let port: UInt16
    /// Load on it.
    private let load: Load

    /// - Parameters:
    ///   - command: `serve`, or the example application beside it.
    ///   - processors: That it may use, as taskset(1) has them.
    init(_ program: String, _ arguments: [String], command: String = "serve", processors: String? = nil) throws {
        process = Process()
        let before = processors.map { ["taskset", "--cpu-list", $0] } ?? []
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            before + [program, command, "--listen", "127.0.0.1:0", "--log", "error", "--address-rate", "0"] + arguments
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        var line = Data()
        while !line.contains(10) {
            let more = output.fileHandleForReading.availableData
            guard !more.isEmpty else { throw BenchmarkError("the server does not start") }
            line += more
        }
        let words = String(decoding: line, as: UTF8.self).split(separator: " ")
        guard words.count == 3, let port = words[1].split(separator: ":").last.flatMap({ UInt16($0) }) else {
            throw BenchmarkError("the server says nothing of its address")
        }
        self.port = port
        load = try Load([port])
    }

    /// The example server of the protocol's authors, which always listens at port 8080.
    init(upstream program: String) throws {
        let port: UInt16 = 8080
        if (try? LoadConnection(port)) != nil { throw BenchmarkError("something listens at port \(port) already") }
        process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.standardError = FileHandle.nullDevice
        try process.run()
        let start = nanoseconds()
        while (try? LoadConnection(port)) == nil {
            guard process.isRunning, nanoseconds() - start < 10e9 else {
                process.terminate()
                throw BenchmarkError("\(program) does not listen at port \(port)")
            }
            usleep(10_000)
        }
        self.port = port
        load = try Load([port])
    }

    deinit {
        process.terminate()
        process.waitUntilExit()
    }

    /// Posts bodies over all connections and returns the replies in their order.
    func post(_ path: String, _ bodies: [[UInt8]]) throws -> [[UInt8]] { try load.post(path, bodies) }

    /// Nanoseconds of processor time that the server has used.
    var processorTime: Double {
        var clock = clockid_t()
        var time = timespec()
        unsafe clock_getcpuclockid(process.processIdentifier, &clock)
        unsafe clock_gettime(clock, &time)
        return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
    }

    /// Megabytes that lie in memory.
    func resident() throws -> Double {
        let text = try String(contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8)
        let line = text.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        guard let number = line.flatMap({ Double($0.filter(\.isNumber)) }) else { throw BenchmarkError("no VmRSS") }
        return number * 1.024 / 1000
    }

    /// The example application beside a server that has the keys in this file.
    static func app(_ program: String, trusting keys: String) throws -> LoadServer {
        let found = try KeyFile(keys).load(responseLifetime: 1, accessLifetime: 1)
        let key = found.accessKey(now: SystemClock().now).publicKey.description
        return try LoadServer(program, ["--access-key", key], command: "app")
    }

    /// Processor time per operation.
    func cost(_ count: Int, _ body: () throws -> Void) throws -> Double {
        try load.renew()
        let before = processorTime
        try body()
        return (processorTime - before) / Double(count)
    }
}
