import AgentMessages
import Foundation
import HoldfastAgent
import TestSupport
import Testing
import VaultCore
import VaultStorage

/// Where the socket lies, and what may not lie there.
@Suite struct PlaceTests {
    @Test func itsFolderAndSocketAreItsOwnersAlone() throws {
        let agent = try TestAgent(Scratch())
        #expect(try mode(agent.runtime! + "/holdfast") == 0o700)
        #expect(try mode(agent.socketPath) == 0o600)
    }

    @Test func withoutARuntimeFolderItIsInTheHome() throws {
        let agent = try TestAgent(Scratch(), inHome: true)
        #expect(agent.socketPath.hasPrefix(agent.home + "/agent/"))
        #expect(try mode(agent.home + "/agent") == 0o700)
        #expect(try mode(agent.socketPath) == 0o600)
        try agent.unlock()
        // Found by who has a runtime folder too.
        let client = try #require(try AgentClientBox(home: agent.home, runtime: agent.scratch.runtime))
        #expect(try client.client.status().isUnlocked)
        // The vault does not mind the folder.
        let vault = try agent.scratch.vault()
        let passcode = try secret("right")
        try vault.unlock(passcode: passcode, spending: vault.burnAttempt())
        #expect(try vault.verify().isIntact)
        _ = try vault.backup(to: agent.scratch.path + "/backup")
        _ = try Vault(at: agent.scratch.path + "/backup", settings: agent.scratch.settings)
    }

    @Test func aRuntimeFolderThatIsNotThereIsNone() throws {
        for runtime in ["/nowhere/at/all", "relative"] {
            let scratch = try Scratch()
            let agent = try TestAgent(scratch, runtime: runtime)
            #expect(FileManager.default.fileExists(atPath: scratch.home + "/agent"))
            #expect(try !agent.status().isUnlocked)
        }
    }

    @Test func longPathsAreNoObstacle() throws {
        let scratch = try Scratch(vault: false)
        let long = scratch.path + "/" + String(repeating: "l", count: 200)
        for folder in [long, long + "/run"] {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
        try scratch.makeVault(at: long + "/home")
        let agent = try TestAgent(scratch, home: long + "/home", runtime: long + "/run")
        #expect(agent.socketPath.hasPrefix(long + "/run/") && agent.socketPath.utf8.count > 108)
        try agent.unlock()
        try agent.put([1], "name")
        agent.kill()
        let second = try TestAgent(scratch, home: long + "/home", inHome: true)
        #expect(second.socketPath.hasPrefix(long + "/home/") && second.socketPath.utf8.count > 108)
        #expect(try !second.status().isUnlocked)
        try second.unlock()
        #expect(try second.get("name") == [1])
    }

    static let traps: [String] = [
        "folder 0755", "folder a link", "folder a file", "socket a file", "socket a link", "runtime 0777",
    ]

    @Test("trap", arguments: traps)
    func unsafePlacesAreRefused(_ trap: String) throws {
        let scratch = try Scratch()
        let files = FileManager.default
        let folder = scratch.runtime + "/holdfast"
        let agent = try TestAgent(scratch)
        let socket = agent.socketPath
        agent.kill()
        switch trap {
        case "folder 0755": try files.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder)
        case "folder a link":
            try files.moveItem(atPath: folder, toPath: scratch.path + "/elsewhere")
            try files.createSymbolicLink(atPath: folder, withDestinationPath: scratch.path + "/elsewhere")
        case "folder a file":
            try files.removeItem(atPath: folder)
            try Data().write(to: URL(fileURLWithPath: folder))
        case "socket a file":
            try files.removeItem(atPath: socket)
            try Data().write(to: URL(fileURLWithPath: socket))
        case "socket a link":
            try files.moveItem(atPath: socket, toPath: scratch.path + "/elsewhere")
            try files.createSymbolicLink(atPath: socket, withDestinationPath: scratch.path + "/elsewhere")
        default: try files.setAttributes([.posixPermissions: 0o777], ofItemAtPath: scratch.runtime)
        }
        #expect(throws: TestAgent.Refused(code: "agentUnavailable")) { _ = try TestAgent(scratch) }
        #expect(
            errorCode { _ = try AgentClientBox(home: scratch.home, runtime: scratch.runtime) } == .agentUnavailable)
    }

    /// Only root can make such a folder here.
    @Test(.enabled(if: geteuid() == 0, "needs root to give a folder away"))
    func anothersFolderIsRefused() throws {
        let scratch = try Scratch()
        try FileManager.default.createDirectory(
            atPath: scratch.runtime + "/holdfast", withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700])
        try #require(unsafe chown(scratch.runtime + "/holdfast", 1, 1) == 0)
        #expect(throws: TestAgent.Refused(code: "agentUnavailable")) { _ = try TestAgent(scratch) }
        // A runtime folder of somebody else is none of ours, as after su.
        try #require(unsafe chown(scratch.runtime, 1, 1) == 0)
        let agent = try TestAgent(scratch)
        #expect(FileManager.default.fileExists(atPath: scratch.home + "/agent"))
        #expect(try !agent.status().isUnlocked)
    }

    private func mode(_ path: String) throws -> Int {
        var status = stat()
        try #require(unsafe lstat(path, &status) == 0)
        return Int(status.st_mode & 0o777)
    }
}
