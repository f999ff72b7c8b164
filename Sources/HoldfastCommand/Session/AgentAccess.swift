internal import AgentMessages
internal import CommandLineArguments
internal import Holdfast
internal import HoldfastAgent
internal import SystemCalls

/// A connection to an agent, as several use it.
final class AgentLine {
    let client: AgentClient

    init(_ client: consuming AgentClient) { self.client = client }
}

/// How commands reach the agent of their vault.
enum AgentAccess {
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
