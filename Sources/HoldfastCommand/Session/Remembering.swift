internal import AgentMessages
internal import CommandLineArguments
internal import Holdfast
internal import HoldfastAgent
internal import SystemCalls

/// Unlocked once: the passcode or PIN that a command asks for on the terminal opens the vault in its agent, and the
/// next commands ask for nothing.
///
/// Only where a person at a terminal sees that it is so, and where the agent ends with their session.
enum Remembering {
    /// Where the vault is open now.
    enum Opened {
        case agent(AgentLine)
        /// In this process, because no agent can be started.
        case vault(Vault)
    }

    /// Has the agent open the vault with what the user types.
    /// - Parameters:
    ///   - line: The connection to the agent that is locked, where there is one.
    ///   - purpose: What for, where the agent asks.
    /// - Returns: Nil if the command has to open the vault itself.
    /// - Throws: What asking and unlocking throw.
    static func unlock(
        _ arguments: Arguments, over line: AgentLine?, for purpose: UnlockPurpose
    ) throws(CommandError) -> Opened? {
        // What is wrong with the vault is said where it is opened.
        guard isAllowed(arguments), let (vault, found) = try? Unlocking.found(arguments),
            let status = try? found.get(),
            status.slots.contains(.passcode) || status.hasPIN, !status.slots.contains(.device),
            status.policy.remembersPasscode
        else { return nil }
        let times = try idleTimes()
        guard Terminal.isThere else {
            try Unlocking.refuseEarly(status)
            let agent = try UnlockingAgent(arguments, over: line)
            guard agent.isWorthAsking else { return nil }
            _ = try AskingElsewhere.unlock(agent, for: purpose, idle: times.idle, timeout: times.timeout)
            return agent.line.map { .agent($0) }
        }
        guard isAtTerminal else { return nil }
        try Unlocking.refuseEarly(status)
        let agent = try UnlockingAgent(arguments, over: line)
        let outcome = try Unlocking.ask(arguments, vault, status) { kind, secret throws(CommandError) in
            do throws(CommandError) {
                return Outcome.inAgent(
                    try agent.unlock(kind, secret, isRemembered: true, idle: times.idle, timeout: times.timeout))
            } catch {
                // The attempt may be counted already: the same passcode is not spent twice.
                guard cannotServe(error), !agent.hasAsked else { throw error }
                Output.note("\(error.what); opening the vault without the agent")
                try Unlocking.open(vault, kind, secret, evenIfDamaged: false)
                return .here
            }
        }
        switch outcome {
        case .here:
            Unlocking.tellOpened(vault)
            return .vault(vault)
        case .inAgent(let locksIn):
            Unlocking.tellUnclaimed(status)
            if !arguments[Options.json] { Output.remark(words(locksIn)) }
            return agent.line.map { .agent($0) }
        }
    }

    private enum Outcome {
        /// Milliseconds until it locks if idle.
        case inAgent(UInt64?)
        case here
    }

    /// What the user is told.
    static func words(_ locksIn: UInt64?) -> String {
        guard let locksIn else { return "Unlocked; \"holdfast lock\" ends it." }
        let span = Format.span(locksIn)
        let passes = span.hasPrefix("1 ") ? "passes" : "pass"
        return "Unlocked until \(span) \(passes) without use; \"holdfast lock\" ends it."
    }

    private static func cannotServe(_ error: CommandError) -> Bool {
        [.agentUnavailable, .agentRunning, .agentProtocol, .locked].contains(error.code)
    }

    // MARK: Where it never is

    private static func isAllowed(_ arguments: Arguments) -> Bool {
        !Unlocking.namesSecret(arguments) && isOwnSession && isOwn(home: arguments)
            && isRuntimeFolderSafe && isWanted
    }

    /// A person sees what is said, and what they typed is for this command. A pipe on standard input or output does not
    /// matter: git and the shell's `$(...)` have one.
    private static var isAtTerminal: Bool {
        guard Descriptors.isTerminal(STDERR_FILENO), let terminal = Terminal() else { return false }
        return tcgetpgrp(terminal.descriptor) == getpgrp()
    }

    /// Not on behalf of another user: their agent would be the wrong one.
    private static var isOwnSession: Bool {
        guard getuid() == geteuid() else { return false }
        return unsafe getenv("SUDO_UID") == nil && getenv("DOAS_USER") == nil && getenv("PKEXEC_UID") == nil
    }

    private static func isOwn(home arguments: Arguments) -> Bool {
        var status = stat()
        guard let path = try? HomeFolder.path(arguments), unsafe stat(path, &status) == 0 else { return false }
        return status.st_uid == geteuid()
    }

    /// The session's own folder: it goes with the session, and the agent with it.
    private static var isRuntimeFolderSafe: Bool {
        var status = stat()
        guard var path = (try? HomeFolder.runtime()) ?? nil else { return false }
        // Behind a slash a link would be followed.
        while path.utf8.count > 1, path.utf8.last == UInt8(ascii: "/") { path.removeLast() }
        guard unsafe lstat(path, &status) == 0 else { return false }
        return status.st_mode & S_IFMT == S_IFDIR && status.st_uid == geteuid() && status.st_mode & 0o777 == 0o700
    }

    /// A file that cannot be read turns it off.
    private static var isWanted: Bool {
        do { return try Defaults.value(of: Options.remember.option) != "no" } catch { return false }
    }

    /// Those of `holdfast unlock`.
    private static func idleTimes() throws(CommandError) -> (idle: UInt32?, timeout: UInt32?) {
        func time(_ option: SecondsOption) throws(CommandError) -> UInt32? {
            try Defaults.value(of: option.option).flatMap(DurationWord.seconds).map(UInt32.init)
        }
        return (try time(Options.idle), try time(Options.timeout))
    }
}
