import Foundation
import Synchronization

/// The built server in a process of its own, and load on it.
final class LoadServer {
    /// Threads of the load and of the server.
    static let threads = 2
    static let connectionsPerThread = 32

    private let process: Process
    let port: UInt16
    private let connections: [[LoadConnection]]

    init(_ program: String, _ arguments: [String]) throws {
        process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments =
            ["serve", "--listen", "127.0.0.1:0", "--threads", "\(LoadServer.threads)", "--log", "error"]
            + ["--address-rate", "0", "--creation-rate", "0", "--challenge-rate", "0"] + arguments
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
        connections = try (0..<LoadServer.threads).map { _ in
            try (0..<LoadServer.connectionsPerThread).map { _ in try LoadConnection(port) }
        }
    }

    deinit {
        process.terminate()
        process.waitUntilExit()
    }

    /// Posts bodies over all connections and returns the replies in their order.
    func post(_ path: String, _ bodies: [[UInt8]]) throws -> [[UInt8]] {
        let results = Mutex<[Int: [[UInt8]]]>([:])
        let failure = Mutex<(any Error)?>(nil)
        let connections = connections
        let half = (bodies.count + LoadServer.threads - 1) / LoadServer.threads
        DispatchQueue.concurrentPerform(iterations: LoadServer.threads) { thread in
            do {
                let own = Array(bodies.dropFirst(thread * half).prefix(half))
                var replies: [[UInt8]] = []
                var index = 0
                while index < own.count {
                    let group = Array(own[index..<min(own.count, index + LoadServer.connectionsPerThread)])
                    for (connection, body) in zip(connections[thread], group) { try connection.send(path, body) }
                    for (connection, _) in zip(connections[thread], group) { replies.append(try connection.reply()) }
                    index += group.count
                }
                let all = replies
                results.withLock { $0[thread] = all }
            } catch { failure.withLock { $0 = error } }
        }
        if let error = failure.withLock({ $0 }) { throw error }
        return results.withLock { results in (0..<LoadServer.threads).flatMap { results[$0] ?? [] } }
    }

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

    /// Processor time per operation.
    func cost(_ count: Int, _ body: () throws -> Void) rethrows -> Double {
        let before = processorTime
        try body()
        return (processorTime - before) / Double(count)
    }
}
