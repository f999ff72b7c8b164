internal import AgentMessages
internal import CommandLineArguments
internal import Holdfast
internal import HoldfastAgent

/// The agent that opens the vault for a command, over one connection: the one that runs, or one that is started once
/// there is a secret for it. One that was started for nothing ends with the command.
final class UnlockingAgent {
    private let home: String
    private let runtime: String?
    private(set) var line: AgentLine?
    private var isStarted = false
    /// Whether the last secret was handed over: then the attempt may be counted, whatever is heard of it.
    private(set) var hasAsked = false
    private var isOpen = false

    /// - Parameter line: A connection to the agent that runs.
    init(_ arguments: Arguments, over line: AgentLine? = nil) throws(CommandError) {
        self.line = line
        home = try HomeFolder.absolutePath(arguments)
        runtime = try HomeFolder.runtime()
    }

    deinit {
        // Another command may have opened it meanwhile.
        guard isStarted, !isOpen, let line, (try? line.client.status())?.isUnlocked == false else { return }
        try? line.client.shutDown()
    }

    /// Looks for the agent that runs.
    /// - Returns: Nil where there is none.
    func ifRunning<R>(_ body: (borrowing AgentClient) throws -> R) throws -> R? {
        if line == nil {
            switch try AgentClient(home: home, runtime: runtime) {
            case .none: return nil
            case .some(let client): line = AgentLine(client)
            }
        }
        return try line.map { try body($0.client) }
    }

    /// Opens the vault.
    /// - Parameter isRemembered: Whether it may stay open only if its rules allow that.
    /// - Returns: Milliseconds until it locks if idle; nil for never.
    /// - Throws: What starting the agent and unlocking throw.
    func unlock(
        _ factor: UnlockSecret, _ secret: borrowing SecretBytes, isRemembered: Bool = false, idle: UInt32?,
        timeout: UInt32?
    ) throws(CommandError) -> UInt64? {
        hasAsked = false
        return try open { agent in
            try agent.unlock(factor, secret, isRemembered: isRemembered, idle: idle, timeout: timeout) {
                hasAsked = true
            }
        }
    }

    /// Opens a vault that opens without asking.
    /// - Returns, throws: As ``unlock(_:_:idle:timeout:)``.
    func openUnasked(idle: UInt32?, timeout: UInt32?) throws(CommandError) -> UInt64? {
        try open { agent in try agent.openUnasked(idle: idle, timeout: timeout) }
    }

    /// Has the agent ask the user. Nothing is shown meanwhile: nobody may be looking.
    /// - Returns, throws: As ``unlock(_:_:idle:timeout:)``.
    func askToUnlock(for purpose: UnlockPurpose, idle: UInt32?, timeout: UInt32?) throws(CommandError) -> UInt64? {
        try vaultCall {
            let locksIn = try askOrRestart { agent in
                // It stays, even locked: it remembers a no, so that the next command asks nothing.
                isStarted = false
                return try agent.askToUnlock(for: purpose, idle: idle, timeout: timeout)
            }
            isOpen = true
            return locksIn
        }
    }

    /// Continues over the connection that the vault was opened with.
    func use<R: ~Copyable>(_ body: (borrowing AgentClient) throws -> R) throws -> R {
        guard let line else { throw VaultError(.agentUnavailable, "the agent has ended") }
        return try body(line.client)
    }

    private func open(_ body: (borrowing AgentClient) throws -> UInt64?) throws(CommandError) -> UInt64? {
        try PassingNote.show("Unlocking ...") { () throws(CommandError) in
            try vaultCall {
                let locksIn = try askOrRestart(body)
                isOpen = true
                return locksIn
            }
        }
    }

    /// Asks once more where the agent ended before it was told anything, as while the user typed.
    private func askOrRestart(_ body: (borrowing AgentClient) throws -> UInt64?) throws -> UInt64? {
        if line != nil {
            do { return try use(body) } catch let error as VaultError {
                guard error.code == .agentUnavailable, !hasAsked else { throw error }
                line = nil
                isStarted = false
            }
        }
        try start()
        return try use(body)
    }

    private func start() throws {
        let found = try AgentLaunch.connect(
            home: home, runtime: runtime, program: AgentCommand.program, arguments: AgentCommand.arguments(home: home))
        switch consume found {
        case .running(let agent): line = AgentLine(agent)
        case .started(let agent, _):
            isStarted = true
            line = AgentLine(agent)
        }
    }
}
