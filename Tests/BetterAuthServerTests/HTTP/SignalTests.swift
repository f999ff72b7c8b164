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

    /// Starts a command that waits for its configuration, which is a pipe.
    /// - Returns: The process, and the end to write the configuration to. The file of that name has it from then on.
    private func begin(_ words: String..., configuration: String, output: Int32? = nil) throws -> (Spawned, FileHandle)
    {
        let path = folder + "/server.conf"
        #expect(unsafe mkfifo(path, 0o600) == 0)
        let process = try Spawned([ServerProcess.program] + words + ["--config", path], output: output)
        var end: Int32 = -1
        let isOpen = Patience.wait {
            end = unsafe open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
            return end >= 0
        }
        try #require(isOpen)
        try configuration.write(toFile: path + ".new", atomically: false, encoding: .utf8)
        #expect(unsafe rename(path + ".new", path) == 0)
        return (process, FileHandle(fileDescriptor: end, closeOnDealloc: true))
    }

    @Test func `a reload that is asked for too early ends no server`() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let log = folder + "/log"
        let output = unsafe open(log, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(output) }
        let text = "listen = 127.0.0.1:0\ndatabase = \(folder)/accounts.db\n"
        let (process, end) = try begin("serve", configuration: text, output: output)
        process.signal(SIGHUP)
        try end.write(contentsOf: Data(text.utf8))
        try end.close()
        let isReady = Patience.wait {
            (try? String(contentsOfFile: log, encoding: .utf8))?.contains("ready ") == true || !process.isRunning
        }
        #expect(isReady && process.isRunning)
        process.signal(SIGTERM)
        #expect(process.wait() == 0)
    }

    @Test func `a command that serves nobody ends when asked to`() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let (process, end) = try begin("check", configuration: "")
        process.signal(SIGTERM)
        #expect(Patience.wait { !process.isRunning })
        try end.close()
    }
}
