internal import CommandLineArguments
internal import Holdfast
internal import HoldfastAgent
internal import SystemCalls

extension Options {
    static let takeName = Flag("replace", "End GNOME's keyring if that is the Secret Service now.")
    static let always = Flag("always", "Also have D-Bus start it for programs that look for it.")
}

extension Command {
    static let secretsServe = Command(
        "secrets", "serve", summary: "be the Secret Service of the session",
        details: [
            "Has the vault's agent, which is started if none is running, also be org.freedesktop.secrets on the user's session "
                + "bus, where secret-tool, libsecret and Python's secretstorage store secrets and look them up. It is that "
                + "until it ends, or until holdfast secrets stop.",
            "What programs store becomes entries with the tag secret-service, and only such entries are given to them. While the "
                + "vault is locked a search has you asked for the passcode on the program's terminal or by pinentry. Entries that ask "
                + "are asked for, as with holdfast leases list.",
            "No other program is ended unless you say --replace, and then only gnome-keyring-daemon; import what it has first, with "
                + "holdfast import --from-keyring. With --always a file in $XDG_DATA_HOME/dbus-1/services has this command run when a "
                + "program looks for the Secret Service and there is none.",
        ],
        example: "holdfast secrets serve --replace --always",
        options: [Options.takeName.option, Options.always.option, Options.home.option],
        run: { arguments throws(CommandError) in
            let home = try HomeFolder.absolutePath(arguments)
            let runtime = try HomeFolder.runtime()
            try refuseVaultInKeyring(arguments)
            let file = arguments[Options.always] ? try SecretServiceFile.forUser() : nil
            let contents = try file?.contents(home: home)
            let agent = try vaultCall {
                let found = try AgentLaunch.connect(
                    home: home, runtime: runtime, program: AgentCommand.program,
                    arguments: AgentCommand.arguments(home: home))
                switch consume found {
                case .running(let agent): return AgentLine(agent)
                case .started(let agent, _): return AgentLine(agent)
                }
            }
            // Last of all that can fail: what was ended does not come back by itself.
            if arguments[Options.takeName] { try SecretServiceOwner.end() }
            try vaultCall { try agent.client.serveSecrets() }
            if let file, let contents { try file.write(contents) }
            return .done
        })

    static let secretsStop = Command(
        "secrets", "stop", summary: "be the Secret Service no longer",
        details: [
            "Gives the name org.freedesktop.secrets back and removes what holdfast secrets serve --always wrote. The next program "
                + "that looks for the Secret Service has D-Bus start the one that your system has, such as gnome-keyring. What "
                + "programs stored stays in the vault."
        ],
        example: "holdfast secrets stop",
        options: [Options.home.option],
        run: { arguments throws(CommandError) in
            // First, so that nothing starts it again.
            try SecretServiceFile.forUser().remove(home: HomeFolder.absolutePath(arguments))
            try vaultCall { if let agent = try AgentAccess.connect(arguments) { try agent.stopSecrets() } }
            return .done
        })
}

/// A vault whose key is in the keyring could not be opened by it any more.
private func refuseVaultInKeyring(_ arguments: Arguments) throws(CommandError) {
    let vault = try Unlocking.find(arguments)
    let protection = try vaultCall { try vault.protection() }
    guard protection.shares.contains(where: { $0.store == "secretService" }) else { return }
    throw CommandError(
        .failure, code: .keyring, "the key of this vault is in your session keyring, which Holdfast would be itself",
        advice: "choose another unlock method first; holdfast status --long shows what there is")
}
