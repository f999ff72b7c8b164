internal import CommandLineArguments
internal import DeviceOwner
internal import Holdfast
internal import HoldfastAgent
internal import KeyStores
internal import SecretMemory
internal import SystemCalls

extension Command {
    static let agent = Command(
        "agent", summary: "keep the vault unlocked for other commands",
        details: [
            "Runs the vault's agent in the foreground until it is told to end. Only commands of the same user can use "
                + "it. A command that asks for the passcode starts an agent if none is running; use this command in a service manager.",
            "It takes sockets that systemd passes (holdfast-agent.socket, holdfast-agent-ssh.socket), and then ends when it was "
                + "locked and not needed for ten minutes.",
        ],
        example: "holdfast agent --idle 10min",
        options: [
            Options.idle.option, Options.timeout.option, Options.home.option, Options.report.option,
            Options.servesSSH.option, Options.servesSecrets.option, Options.pinentry.option,
        ],
        run: { arguments throws(CommandError) in
            ProcessTitle.set(AgentCommand.processName)
            var settings = AgentSettings(
                home: try HomeFolder.absolutePath(arguments), runtime: try HomeFolder.runtime(),
                idle: arguments[Options.idle].map(UInt32.init), timeout: arguments[Options.timeout].map(UInt32.init),
                program: Version.text)
            settings.watch = .init()
            settings.servesSSH = arguments[Options.servesSSH]
            settings.servesSecrets = arguments[Options.servesSecrets]
            settings.identity = AgentIdentity()
            settings.tell = { Output.note($0) }
            if !arguments[Options.report] {
                settings.passed = try vaultCall { try PassedSockets.take() }
                // A command that starts an agent says it itself.
                if let (_, found) = try? Unlocking.found(arguments) { IdleTime.tellCut(try? found.get(), arguments) }
            }
            settings.pinentry = try pinentry(arguments)
            settings.vault.armsOwner = true
            try vaultCall { try AgentLaunch.run(settings, reporting: arguments[Options.report]) }
            return .done
        })
}

/// The program that asks the user: where one is named, else what the environment names. The agent's own: a client
/// cannot choose who answers.
private func pinentry(_ arguments: Arguments) throws(CommandError) -> String? {
    let named = arguments[Options.pinentry]
    let variable =
        named == nil ? unsafe getenv("HOLDFAST_PINENTRY").flatMap { unsafe String(validatingCString: $0) } : nil
    guard let path = named ?? variable, !path.isEmpty else { return nil }
    guard path.hasPrefix("/") else {
        throw .usage("\(named == nil ? "HOLDFAST_PINENTRY" : "--pinentry") must be an absolute path")
    }
    return path
}

/// How the agent is started as a process.
package enum AgentCommand {
    /// The running program, even if another version has replaced it on disk.
    static let program = "/proc/self/exe"

    /// What the system calls a process of the program; of one that was started by ``program`` it would be "exe".
    static let processName = OwnProgram.name

    package static func arguments(home: String) -> [String] { [processName, "agent", "--report", "--home=\(home)"] }
}
