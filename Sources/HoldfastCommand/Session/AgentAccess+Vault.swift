internal import CommandLineArguments
internal import Holdfast
internal import HoldfastAgent

extension AgentAccess {
    /// Works with the vault through the agent while that has it open, otherwise in this process, which opens it.
    /// - Parameters:
    ///   - changes: Whether something is changed: then nothing is tried again when the agent goes away.
    ///   - evenIfDamaged: As `Unlocking.open`.
    static func work<R>(
        _ arguments: Arguments, changes: Bool = false, evenIfDamaged: Bool = false,
        _ remote: (borrowing AgentClient) throws(VaultError) -> R, own local: (Vault) throws(VaultError) -> R
    ) throws(CommandError) -> R {
        let result: R? = try use(arguments, starts: !evenIfDamaged) { agent, session in
            session.changes = changes
            return try remote(agent)
        }
        if let result { return result }
        let vault = try Unlocking.open(arguments, evenIfDamaged: evenIfDamaged)
        return try vaultCall { try local(vault) }
    }
}
