import Foundation
import RealParts
import SeededNumbers
import Testing

/// Signals that come while a process has only begun.
@Suite struct SignalTests {
    private let folder: String

    init() throws {
        folder = NSTemporaryDirectory() + "holdfast-signals-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    }

    private var database: String { folder + "/accounts.db" }

    /// Starts a command that waits for the rest of its database's name, which comes through a pipe.
    /// - Returns: The process, and the end to write the rest to.
    private func begin(_ words: String..., output: Int32? = nil) throws -> (Spawned, FileHandle) {
        let pipe = Pipe()
        let here = pipe.fileHandleForReading.fileDescriptor
        let process = try Spawned(
            [ServerProcess.program] + words + ["--database", "@/dev/fd/3"], output: output, passing: here)
        try pipe.fileHandleForWriting.write(contentsOf: Data(database.prefix(1).utf8))
        var left: Int32 = 1
        let isReading = Patience.wait {
            unsafe ioctl(here, UInt(FIONREAD), &left) == 0 && left == 0 || !process.isRunning
        }
        try #require(isReading && process.isRunning)
        return (process, pipe.fileHandleForWriting)
    }

    @Test func `a reload that is asked for too early ends no server`() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let log = folder + "/log"
        let output = unsafe open(log, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(output) }
        let (process, end) = try begin("serve", "--listen", "127.0.0.1:0", output: output)
        process.signal(SIGHUP)
        try end.write(contentsOf: Data(database.dropFirst().utf8))
        try end.close()
        let isReady = Patience.wait {
            (try? String(contentsOfFile: log, encoding: .utf8))?.contains("ready ") == true || !process.isRunning
        }
        #expect(isReady && process.isRunning)
        process.signal(SIGTERM)
        #expect(process.wait() == 0)
    }

    /// The first round waits a while for a keeper of keys that does not answer.
    @Test func `a reload that is asked for before a server is ready is done then`() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let keeper = try DrippingService()
        defer { keeper.stop() }
        try writeSecret(String(repeating: "s", count: 40), to: folder + "/sign")
        let (configuration, log) = (folder + "/server.conf", folder + "/log")
        let text = """
            listen = 127.0.0.1:0
            database = \(folder)/accounts.db
            hsm = \(keeper.url)
            hsm-token-file = \(folder)/sign
            key-service = \(keeper.url)
            log =
            """
        try "\(text) notice\n".write(toFile: configuration, atomically: true, encoding: .utf8)
        let output = unsafe open(log, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(output) }
        let server = try Spawned([ServerProcess.program, "serve", "--config", configuration], output: output)
        func said(_ part: String) -> Bool {
            (try? String(contentsOfFile: log, encoding: .utf8))?.contains(part) == true
        }
        #expect(Patience.wait { keeper.connections > 0 || !server.isRunning })
        #expect(!said("ready "))
        server.signal(SIGHUP)
        #expect(Patience.wait { said(#""event":"reloaded""#) || !server.isRunning })
        #expect(said("ready "))
        server.signal(SIGTERM)
        #expect(server.wait() == 0)
    }

    @Test func `a configuration that was handed over is not taken for an empty one later`() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let (log, pipe) = (folder + "/log", Pipe())
        let output = unsafe open(log, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(output) }
        let text = "database = \(database)\nlisten = 127.0.0.1:0\naddress-rate = 7\n"
        try pipe.fileHandleForWriting.write(contentsOf: Data(text.utf8))
        try pipe.fileHandleForWriting.close()
        let process = try Spawned(
            [ServerProcess.program, "serve", "--config", "/dev/fd/3"], output: output,
            passing: pipe.fileHandleForReading.fileDescriptor)
        func waits(for word: String) -> Bool {
            Patience.wait {
                (try? String(contentsOfFile: log, encoding: .utf8))?.contains(word) == true || !process.isRunning
            }
        }
        try #require(waits(for: "ready ") && process.isRunning)
        process.signal(SIGHUP)
        #expect(waits(for: "reloaded") && process.isRunning)
        let said = try String(contentsOfFile: log, encoding: .utf8)
        #expect(said.contains("not reloaded") && said.contains("/dev/fd/3 was read already"), "\(said)")
        process.signal(SIGTERM)
        #expect(process.wait() == 0)
    }

    @Test func `a command that serves nobody ends when asked to`() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let (process, end) = try begin("check")
        process.signal(SIGTERM)
        #expect(Patience.wait { !process.isRunning })
        try end.close()
    }
}
