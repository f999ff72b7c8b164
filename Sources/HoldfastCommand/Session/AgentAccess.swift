internal import AgentMessages
internal import CommandLineArguments
internal import Holdfast
internal import HoldfastAgent
internal import SystemCalls

/// How commands reach the agent of their vault.
enum AgentAccess {
    /// How far a command is with the agent: from some point on it cannot do without it any more.
    struct Session {
        /// Part of the value has been taken or written: another way would take or write it twice.
        var hasBegun = false
        /// The request changes the vault: whether it was done is not known when the agent goes away.
        var changes = false
    }

    /// Runs a command through the agent where it is there and unlocked, or where the user unlocks it now (``Remembering``).
    /// - Parameter starts: False for a command that is for the whole vault, which no agent is started for.
    /// - Returns: Nil if the command has to open the vault itself: there is no agent, it is locked or unusable, or the
    ///   command line says how to open the vault.
    static func use<R: ~Copyable>(
        _ arguments: Arguments, starts: Bool = true, _ body: (borrowing AgentClient, inout Session) throws -> R
    ) throws(CommandError) -> R? {
        guard !Unlocking.namesSecret(arguments), !arguments[Options.noAgent] else { return nil }
        var session = Session()
        do {
            if let agent = try connect(arguments) {
                try agent.introduce()
                return try body(agent, &session)
            }
        } catch {
            let error = CommandError(error)
            guard !session.hasBegun else { throw error }
            switch error.code {
            case VaultError.Code.locked.description: break
            case VaultError.Code.agentUnavailable.description where !session.changes,
                VaultError.Code.agentProtocol.description where !session.changes:
                Output.note("\(error.what); opening the vault without the agent")
                return nil
            default: throw error
            }
        }
        guard starts, let unlocked = try Remembering.unlock(arguments) else { return nil }
        return try vaultCall {
            try unlocked.use { agent in
                try agent.introduce()
                return try body(agent, &session)
            }
        }
    }

    /// Nil when no agent serves the home.
    static func connect(_ arguments: Arguments) throws -> AgentClient? {
        try AgentClient(home: HomeFolder.path(arguments), runtime: HomeFolder.runtime())
    }

    /// The vault was destroyed: an agent that still has it open ends, instead of finding out at its next request.
    static func endAfterWipe(_ arguments: Arguments) {
        guard let agent = try? connect(arguments) else { return }
        try? agent.shutDown()
    }

    /// What is known of an agent.
    enum Status {
        case none
        case running(AgentStatus)
        case unreachable(String)

        var json: JSON {
            guard case .running(let status) = self else { return .null }
            return .object([
                "process": .integer(Int64(status.process)), "isUnlocked": .boolean(status.isUnlocked),
                "locksInSeconds": status.locksIn.map { .count($0 / 1000) } ?? .null,
            ])
        }
    }

    static func status(_ arguments: Arguments) -> Status {
        do {
            guard let agent = try connect(arguments) else { return .none }
            return .running(try agent.status())
        } catch { return .unreachable(CommandError(error).message) }
    }

    /// Whether an agent has the vault open.
    static func isOpen(_ arguments: Arguments) -> Bool {
        guard case .running(let status) = status(arguments) else { return false }
        return status.isUnlocked
    }

    /// `. Locks at 17:32 if idle`.
    static func until(_ milliseconds: UInt64?) -> String {
        guard let milliseconds else { return "" }
        let instant = Format.localTime(
            milliseconds: WallClock.milliseconds + Int64(clamping: min(milliseconds, 1 << 40)))
        return ". Locks at \(instant.suffix(5)) if idle"
    }
}
