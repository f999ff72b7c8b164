import Foundation
import HoldfastAgent
import TestSupport
import Testing
import VaultStorage

/// Whoever needs the agent of a home that another process has.
@Suite struct LaunchTests {
    @Test func `while a process has the home and serves nobody, no other one is started`() throws {
        let folder = try ScratchFolder("launch")
        let home = folder["home"]
        try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: false)
        let claimed = unsafe open(home, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { close(claimed) }
        try #require(flock(claimed, LOCK_EX | LOCK_NB) == 0)
        let started = folder["started"]
        let code = errorCode {
            _ = try AgentLaunch.connect(
                home: home, runtime: folder.path, program: "/bin/sh",
                arguments: ["sh", "-c", "echo started >> '\(started)'"], patience: 200)
        }
        #expect(code == .agentRunning)
        #expect(!FileManager.default.fileExists(atPath: started))
        // Once the home is free, one is.
        flock(claimed, LOCK_UN)
        _ = errorCode {
            _ = try AgentLaunch.connect(
                home: home, runtime: folder.path, program: "/bin/sh",
                arguments: ["sh", "-c", "echo started >> '\(started)'"], patience: 200)
        }
        #expect(FileManager.default.fileExists(atPath: started))
    }
}
