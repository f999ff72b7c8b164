import AgentMessages
import Foundation
import HoldfastAgent
import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultCore
import VaultHeader
import VaultFormat

/// A scratch folder with a home and a runtime folder, and a vault of cheap costs in the home.
final class Scratch: Sendable {
    private let folder: ScratchFolder
    var path: String { folder.path }
    /// Starts where the subject's clock starts.
    let clock = TestClock()

    init(vault: Bool = true) throws {
        folder = try ScratchFolder("agent")
        try FileManager.default.createDirectory(
            atPath: runtime, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        if vault { try makeVault(at: home) }
    }

    var home: String { path + "/home" }
    var runtime: String { path + "/runtime" }
    var settings: VaultSettings { .costsForTests(clock: clock) }

    func makeVault(at path: String, passcode: String = "right") throws {
        let passcode = try secret(passcode)
        _ = try Vault.create(at: path, passcode: passcode, settings: settings)
    }

    /// The vault as another process sees it.
    func vault() throws -> Vault { try Vault(at: home, settings: settings) }
}

/// An agent as a process of its own; ended, by its number, with this object.
final class TestAgent {
    let scratch: Scratch
    let home: String
    let runtime: String?
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    /// - Parameter patience: Milliseconds that a message may take.
    init(
        _ scratch: Scratch, home: String? = nil, runtime: String? = nil, inHome: Bool = false, idle: UInt32? = nil,
        timeout: UInt32? = nil, patience: UInt64 = 600_000, parts: [String: String] = [:]
    ) throws {
        self.scratch = scratch
        self.home = home ?? scratch.home
        self.runtime = inHome ? nil : runtime ?? scratch.runtime
        let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        process.executableURL = URL(fileURLWithPath: tests).deletingLastPathComponent()
            .appendingPathComponent("AgentSubject")
        process.arguments = [
            self.home, self.runtime ?? "-", idle.map { "\($0)" } ?? "-", timeout.map { "\($0)" } ?? "-", "\(patience)",
        ]
        if let names = parts["SUBJECT_PASSED"], let subject = process.executableURL {
            process.arguments = ["-c", Self.passing, names, scratch.runtime, subject.path] + (process.arguments ?? [])
            process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
        }
        process.environment = ProcessInfo.processInfo.environment.merging(parts) { $1 }
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        let line = TestAgent.line(output.fileHandleForReading)
        guard line == "ready" else {
            process.waitUntilExit()
            throw Refused(code: line)
        }
    }

    /// Becomes the agent, with sockets that are there as a service manager has made them.
    private static let passing = """
        import os, socket, sys
        names, folder = sys.argv[1].split(":"), sys.argv[2] + "/holdfast"
        os.makedirs(folder, 0o700, exist_ok=True)
        for i, name in enumerate(names):
            made = socket.socket(socket.AF_UNIX)
            made.bind(f"{folder}/{name}.sock"); os.chmod(f"{folder}/{name}.sock", 0o600); made.listen()
            os.dup2(made.fileno(), 20 + i); made.close()
        for i in range(len(names)): os.dup2(20 + i, 3 + i); os.close(20 + i)
        os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS=str(len(names)), LISTEN_FDNAMES=sys.argv[1])
        os.execv(sys.argv[3], sys.argv[3:])
        """

    /// What an agent said that did not start.
    struct Refused: Error, Equatable {
        let code: String
    }

    deinit {
        kill()
        try? input.fileHandleForWriting.close()
    }

    private static func line(_ handle: FileHandle) -> String {
        var bytes = Data()
        while let next = try? handle.read(upToCount: 1), !next.isEmpty, next[0] != UInt8(ascii: "\n") { bytes += next }
        return String(decoding: bytes, as: UTF8.self)
    }

    var pid: Int32 { process.processIdentifier }

    /// Ends it as the system does when memory is short.
    func kill() {
        guard process.isRunning else { return }
        Foundation.kill(pid, SIGKILL)
        process.waitUntilExit()
    }

    /// Sends a signal and waits for the end.
    func end(with signal: Int32) -> Int32 {
        Foundation.kill(pid, signal)
        return waitForEnd()
    }

    func waitForEnd() -> Int32 {
        process.waitUntilExit()
        return process.terminationStatus
    }

    var isRunning: Bool { process.isRunning }

    /// Moves the agent's clock and that of the vaults beside it. Done when the agent has answered after it.
    func advance(seconds: UInt64) throws {
        pass(seconds: seconds)
        _ = try status()
    }

    /// As ``advance(seconds:)``, without being a client of the agent, which may have ended.
    func pass(seconds: UInt64) {
        scratch.clock.advance(seconds: seconds)
        var milliseconds = (seconds * 1000).littleEndian
        // It may end meanwhile: then the signal of a pipe that nobody reads is this thread's, and is taken back.
        var pipe = sigset_t()
        var before = sigset_t()
        unsafe sigemptyset(&pipe)
        unsafe sigaddset(&pipe, SIGPIPE)
        unsafe pthread_sigmask(SIG_BLOCK, &pipe, &before)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
        guard unsafe write(input.fileHandleForWriting.fileDescriptor, &milliseconds, 8) < 0 else { return }
        var now = timespec()
        unsafe sigtimedwait(&pipe, nil, &now)
    }

    func client() throws -> AgentClient {
        guard let client = try AgentClient(home: home, runtime: runtime) else { throw Refused(code: "none is there") }
        return client
    }

    func status() throws -> AgentStatus {
        let client = try client()
        return try client.status()
    }

    @discardableResult
    func unlock(_ passcode: String = "right", idle: UInt32? = nil, timeout: UInt32? = nil) throws -> UInt64? {
        let client = try client()
        let secret = try secret(passcode)
        return try client.unlock(.passcode, secret, idle: idle, timeout: timeout)
    }

    func lock() throws {
        let client = try client()
        try client.lock()
    }

    func get(_ name: String, _ collection: String = "default") throws -> [UInt8] {
        let client = try client()
        var all: [UInt8] = []
        try client.get(path(name, collection)) { piece in all += piece.array }
        return all
    }

    func put(_ bytes: [UInt8], _ name: String, _ collection: String = "default", replacing: Bool = false) throws {
        let client = try client()
        var position = 0
        let size = try client.put(path(name, collection), replacing: replacing) { memory in
            let count = min(memory.byteCount, bytes.count - position)
            for index in 0..<count {
                memory.storeBytes(of: bytes[position + index], toByteOffset: index, as: UInt8.self)
            }
            position += count
            return count
        }
        #expect(size == UInt64(bytes.count))
    }

    /// The path of the socket.
    var socketPath: String {
        var status = stat()
        unsafe stat(home, &status)
        let name = "\(String(status.st_dev, radix: 16))-\(String(status.st_ino, radix: 16)).sock"
        return (runtime.map { $0 + "/holdfast/" } ?? home + "/agent/") + name
    }

    /// A connection without a client behind it.
    func raw() throws -> RawConnection { try RawConnection(socketPath) }
}

func path(_ name: String, _ collection: String = "default") throws -> RecordName {
    try #require(RecordName(collection: collection, name: name))
}

/// Carries a noncopyable client through test code.
final class AgentClientBox {
    let client: AgentClient

    /// Nil where none is there.
    init?(home: String, runtime: String?) throws {
        guard let client = try AgentClient(home: home, runtime: runtime) else { return nil }
        self.client = client
    }
}

/// Runs `body` in as many threads at once, whatever the number of processors, and returns when all have ended.
func inThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    let group = DispatchGroup()
    for index in 0..<count {
        group.enter()
        Thread.detachNewThread {
            body(index)
            group.leave()
        }
    }
    group.wait()
}

/// A value that threads share.
final class Shared<Value: Sendable>: Sendable {
    private let mutex: Mutex<Value>

    init(_ value: Value) { mutex = Mutex(value) }

    var value: Value { mutex.withLock { $0 } }

    func change(_ body: (inout sending Value) -> Void) { mutex.withLock { body(&$0) } }
}
