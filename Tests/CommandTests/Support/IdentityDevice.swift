import Foundation
import Synchronization
import Testing

/// A device with an identity: a vault of its own that its agent holds open, and the binary's identity commands.
final class IdentityDevice {
    let sandbox: AgentSandbox
    let server: AuthHTTPServer
    /// What the identity commands see beside their own; the agent does not.
    var environment: [String: String] = [:]

    init(_ server: AuthHTTPServer) throws {
        self.server = server
        sandbox = try AgentSandbox()
        let unlocked = try sandbox.run("unlock", passcode: Prepared.passcode)
        try #require(unlocked.code == 0, "\(unlocked.errors)")
    }

    /// Whether each command opens the vault by itself, as without an agent.
    var isAlone = false

    /// What the agent does not do for a command: it opens the vault by itself.
    private static let own = [
        "create", "recover", "delete", "link", "accept-link", "unlink", "change-recovery", "trust", "erase", "drill",
    ]

    /// Runs a command as the owner does, who has the passcode where the agent is not enough.
    /// - Parameter started: Hears of the process when it runs.
    func run(
        _ words: String..., recovery: String? = nil, newRecovery: String? = nil, input: String? = nil,
        started: ((pid_t) -> Void)? = nil
    ) throws -> Sandbox.Result {
        let needsPasscode = isAlone || words.contains("--server") || IdentityDevice.own.contains(words[0])
        return try run(
            words, passcode: needsPasscode ? Prepared.passcode : nil, recovery: recovery, newRecovery: newRecovery,
            input: input, started: started)
    }

    /// - Parameters:
    ///   - passcode: Nil for whoever found the vault open.
    ///   - started: Hears of the process when it runs.
    func run(
        _ words: [String], passcode: String?, recovery: String? = nil, newRecovery: String? = nil,
        input: String? = nil, started: ((pid_t) -> Void)? = nil
    ) throws -> Sandbox.Result {
        var all = words
        var descriptors: [Int32: Source] = [:]
        if let recovery {
            all.append("--recovery-fd=5")
            descriptors[5] = .file(try sandbox.file((recovery + "\n").utf8))
        }
        if let newRecovery {
            all.append("--recovery-out-fd=6")
            descriptors[6] = .output(sandbox.path + "/" + newRecovery)
        }
        return try sandbox.run(
            raw: (["identity"] + all).map { Array($0.utf8) }, passcode: passcode,
            input: input.map { .file(try sandbox.file($0.utf8)) } ?? .null, descriptors: descriptors,
            environment: environment, started: started)
    }

    func phrase(_ name: String) throws -> String {
        String(decoding: try sandbox.bytes(name), as: UTF8.self).trimmingCharacters(in: .newlines)
    }

    func status() throws -> [String: Any] { try run("status", "--json").json() }
}
