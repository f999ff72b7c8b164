import Foundation
import RealParts
import TestSupport
import Testing

/// What the tests' own ways to start processes promise.
@Suite(.serialized) struct ChildTests {
    /// Signals that a process ignores, from what the kernel says of it.
    private func ignored(_ status: String) throws -> UInt64 {
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("SigIgn:") })
        // Numbers 32 and 33 are the C library's own.
        return try #require(UInt64(line.dropFirst(7).trimmingCharacters(in: .whitespaces), radix: 16)) & 0x7FFF_FFFF
    }

    /// `nohup` leaves SIGHUP ignored, and a shell's `&` SIGINT; every process of a test would inherit that. Another
    /// signal, which nobody uses here, stands for them.
    @Test func `a process that a test starts ignores no signal, whatever the tests ignore`() throws {
        signal(SIGUSR2, SIG_IGN)
        defer { signal(SIGUSR2, SIG_DFL) }
        let folder = try ScratchFolder("children")
        let own = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        #expect(try ignored(own) & (1 << UInt64(SIGUSR2 - 1)) != 0)
        let child = try Child(
            "/bin/cat", raw: [Array("/proc/self/status".utf8)], descriptors: [1: .output(folder["child"])])
        #expect(child.wait() == 0)
        let output = unsafe open(folder["spawned"], O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(output) }
        #expect(try Spawned(["/bin/cat", "/proc/self/status"], output: output).wait() == 0)
        for name in ["child", "spawned"] {
            #expect(try ignored(String(contentsOfFile: folder[name], encoding: .utf8)) == 0, "\(name)")
        }
    }

    @Test func `a process that does not end is ended, and its test fails`() throws {
        let folder = try ScratchFolder("children")
        let child = try Child("/bin/sleep", raw: [Array("1000".utf8)], descriptors: [1: .output(folder["child"])])
        withKnownIssue { #expect(child.wait(seconds: 0) == 1000 + SIGKILL) }
        #expect(!child.isRunning)
    }
}
