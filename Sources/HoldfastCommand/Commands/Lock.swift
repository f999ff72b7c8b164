internal import Holdfast
internal import HoldfastAgent

extension Command {
    static let lock = Command(
        "lock", synonyms: ["close", "logout"], summary: "lock the vault",
        details: [
            "Has the agent wipe the vault's keys; they are gone when this ends. The agent stays and waits for the next "
                + "holdfast unlock; --shut-down ends it too. Where no agent runs there is nothing to lock, and that is fine."
        ],
        options: [Options.shutDown.option, Options.home.option], run: lockVault)
}

private func lockVault(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let isEnding = arguments[Options.shutDown]
    let wasThere = try vaultCall {
        guard let agent = try AgentAccess.connect(arguments) else { return false }
        if isEnding { try agent.shutDown() } else { try agent.lock() }
        return true
    }
    Output.remark(wasThere ? (isEnding ? "locked; the agent has ended" : "locked") : "no agent runs: nothing was open")
    return .done
}
