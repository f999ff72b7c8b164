internal import CommandLineArguments
internal import Holdfast
internal import HoldfastAgent

extension Command {
    static let lock = Command(
        "lock", synonyms: ["close", "logout"], summary: "lock the vault",
        details: [
            "The agent wipes the vault's keys; they are gone when this command ends. The agent keeps running for the "
                + "next holdfast unlock; --shut-down ends it. Without an agent nothing is unlocked, and the command "
                + "succeeds. If an agent serves the vault and cannot be reached, because it was started with another "
                + "XDG_RUNTIME_DIR, the command fails."
        ],
        example: "holdfast lock",
        options: [Options.shutDown.option, Options.home.option], run: lockVault)
}

private func lockVault(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let isEnding = arguments[Options.shutDown]
    let wasThere = try vaultCall {
        guard let agent = try AgentAccess.connect(arguments) else {
            // Silence would say that the keys are gone.
            guard try !HomeClaim.isTaken(home: HomeFolder.path(arguments)) else {
                throw VaultError(
                    .agentRunning, "an agent serves this vault and was not reached; it may hold the vault open")
            }
            // Of a folder that is not there nobody knows what its agent has open.
            let home = try HomeFolder.path(arguments)
            do throws(VaultError) { _ = try Vault(at: home) } catch {
                if [.noVault, .vaultMissing].contains(error.code) { throw error }
            }
            return false
        }
        if isEnding { try agent.shutDown() } else { try agent.lock() }
        return true
    }
    Output.remark(
        wasThere
            ? (isEnding ? "Locked. The agent has ended." : "Locked.") : "No agent is running; nothing was unlocked.")
    if let vault = try? Unlocking.find(arguments), (try? Unlocking.asksNobody(vault)) == true {
        Output.remark("This vault opens without asking: it is opened again when a program needs it.")
    }
    return .done
}
