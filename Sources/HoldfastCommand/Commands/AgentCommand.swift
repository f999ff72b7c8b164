internal import DeviceOwner
internal import Holdfast
internal import HoldfastAgent
internal import KeyStores

extension Command {
    static let agent = Command(
        "agent", summary: "keep the vault open for other commands",
        details: [
            "Serves the vault to the commands of the same user until it is told to end, in the foreground. holdfast unlock "
                + "starts it by itself where none runs; this command is for service managers."
        ],
        options: [Options.idle.option, Options.timeout.option, Options.home.option, Options.report.option],
        run: { arguments throws(CommandError) in
            var settings = AgentSettings(
                home: try HomeFolder.absolutePath(arguments), runtime: try HomeFolder.runtime(),
                idle: arguments[Options.idle].map(UInt32.init), timeout: arguments[Options.timeout].map(UInt32.init),
                program: Version.text)
            settings.watch = .init()
            settings.identity = AgentIdentity()
            settings.vault.ownerStores = { KeyStores(folder: $0 + "/shares") }
            try vaultCall { try AgentLaunch.run(settings, reporting: arguments[Options.report]) }
            return .done
        })
}

/// How the agent is started as a process.
enum AgentCommand {
    /// This very program, also when another version has taken its place on the disk.
    static let program = "/proc/self/exe"

    static func arguments(home: String) -> [String] { ["holdfast", "agent", "--report", "--home=\(home)"] }
}
