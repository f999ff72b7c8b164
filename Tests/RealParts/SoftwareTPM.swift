package import Foundation
import Synchronization

/// A software TPM in a folder of its own, started by a test and ended by its process id.
package final class SoftwareTPM: Sendable {
    package let folder: String
    private let running = Mutex<Spawned?>(nil)
    private let started: Started

    package static let isInstalled = ["/usr/bin/swtpm", "/usr/local/bin/swtpm"].contains {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    package init() throws {
        folder = NSTemporaryDirectory() + "holdfast-tpm-\(UUID().uuidString.prefix(8))"
        started = Started(in: folder)
        try FileManager.default.createDirectory(atPath: folder + "/state", withIntermediateDirectories: true)
        try start()
    }

    deinit { started.end() }

    /// As the TSS takes it, and $HOLDFAST_TPM.
    package var location: String { "swtpm:path=\(folder)/tpm.sock" }

    package func start() throws {
        for name in ["tpm.sock", "tpm.sock.ctrl"] { try? FileManager.default.removeItem(atPath: "\(folder)/\(name)") }
        let child = try Spawned([
            "swtpm", "socket", "--tpm2", "--tpmstate", "dir=\(folder)/state", "--server",
            "type=unixio,path=\(folder)/tpm.sock", "--ctrl", "type=unixio,path=\(folder)/tpm.sock.ctrl", "--flags",
            "not-need-init,startup-clear",
        ])
        started.add(child)
        running.withLock { $0 = child }
        // The socket's name is there a moment before it is listened on; connecting tells.
        while child.isRunning && !(isListening("tpm.sock") && isListening("tpm.sock.ctrl")) { usleep(2000) }
    }

    private func isListening(_ name: String) -> Bool {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let path = "\(folder)/\(name)"
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
    }

    /// A power cut.
    package func cutPower() throws {
        stop(SIGKILL)
        try start()
    }

    /// The number of its process; 0 while it does not run.
    package var process: Int32 { running.withLock { $0?.identifier ?? 0 } }

    private func stop(_ signal: Int32 = SIGTERM) {
        running.withLock { child in
            child?.end(signal)
            child = nil
        }
    }

    /// The chip's own files, as somebody who copies the disk of a virtual machine has them.
    package func state() throws -> [String: Data] {
        try FileManager.default.contentsOfDirectory(atPath: folder + "/state").reduce(into: [:]) {
            $0[$1] = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/state/\($1)"))
        }
    }

    /// Runs one of tpm2-tools: a program that is not ours talking to the same chip.
    @discardableResult
    package func tool(_ arguments: String...) throws -> (status: Int32, output: String) {
        try tool(arguments: arguments)
    }

    package func tool(arguments: [String]) throws -> (status: Int32, output: String) {
        let path = folder + "/output"
        let file = unsafe open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        defer { close(file) }
        let child = try Spawned(
            arguments, environment: ["TPM2TOOLS_TCTI": location, "TSS2_LOG": "all+NONE"],
            output: file)
        let status = child.wait()
        return (status, try String(contentsOfFile: path, encoding: .utf8))
    }
}
