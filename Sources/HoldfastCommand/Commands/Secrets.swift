internal import CommandLineArguments
internal import HoldfastAgent
internal import SystemCalls

extension Command {
    static let secretsServe = Command(
        "secrets", "serve", summary: "be the Secret Service of the session",
        details: [
            "Has the vault's agent, which is started if none is running, also be org.freedesktop.secrets on the user's session "
                + "bus, where secret-tool, libsecret and Python's secretstorage store secrets and look them up. It is that "
                + "until it ends; no other program is replaced.",
            "What programs store becomes entries with the tag secret-service, and only such entries are given to them. While the "
                + "vault is locked a search has you asked for the passcode on the program's terminal or by pinentry. Entries that ask "
                + "are asked for, as with holdfast leases list.",
        ],
        example: "holdfast secrets serve",
        options: [Options.home.option],
        run: { arguments throws(CommandError) in
            let home = try HomeFolder.absolutePath(arguments)
            let runtime = try HomeFolder.runtime()
            try vaultCall {
                let found = try AgentLaunch.connect(
                    home: home, runtime: runtime, program: AgentCommand.program,
                    arguments: AgentCommand.arguments(home: home))
                switch consume found {
                case .running(let agent): try agent.serveSecrets()
                case .started(let agent, _): try agent.serveSecrets()
                }
            }
            return .done
        })
}
