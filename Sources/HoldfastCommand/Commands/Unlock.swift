internal import AgentMessages
internal import CommandLineArguments
internal import Holdfast
internal import HoldfastAgent
internal import HoldfastDoctor

extension Command {
    static let unlock = Command(
        "unlock", synonyms: ["open", "login"], summary: "unlock the vault until it is locked again",
        details: [
            "Asks for the passcode and passes it to the vault's agent, which is started if none is running. While the "
                + "agent is unlocked, every command for what is in the vault uses it and asks for nothing, and so do other programs "
                + "(holdfast help programs). The first command that asks for the passcode on a terminal unlocks it too, unless "
                + "the policy says remember=never, unlock.remember is no (holdfast config) or --no-agent is used. Commands that change what unlocks the vault ask again.",
            "If the vault's policy allows a fingerprint or the account password (holdfast enroll), it is asked for "
                + "first, for three days after the agent was given the passcode; --passcode asks for the passcode "
                + "instead. If the vault has a PIN for this machine's TPM (holdfast enroll pin), the PIN is asked "
                + "for; press Enter at its prompt to use the passcode.",
            "A vault that opens without asking (holdfast init --device) is opened for SSH programs and the like; nothing is "
                + "asked, and the agent opens it again when it is needed.",
            "If the agent is unlocked already, the command says until when and asks for nothing.",
            "The vault locks after 15 minutes without use, 12 hours after it was unlocked, with holdfast lock, and "
                + "when it gets new keys (holdfast passcode change --rekey). If the policy has a lock timing, --idle cannot "
                + "exceed it; the command says so.",
        ],
        example: "holdfast unlock --idle 1h",
        options: [Options.idle.option, Options.timeout.option, Options.passcode.option, Options.json.option]
            + Options.unlocking.filter { $0 != Options.noAgent.option },
        run: unlockVault)
}

private func unlockVault(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let input = SecretInput(arguments)
    try Unlocking.requireOneSecret(arguments)
    if Unlocking.usesPhrase(arguments) { try input.requirePhraseSource() }
    let (vault, found) = try Unlocking.found(arguments)
    let agent = try UnlockingAgent(arguments)
    if let locksIn = stillOpen(arguments, agent) { return try tell(locksIn, try? found.get(), arguments) }
    if Unlocking.usesPhrase(arguments) {
        let phrase = try input.phrase()
        let locksIn = try phrase.withText { text throws(CommandError) in
            let text = try vaultCall { try SecretBytes(copying: text) }
            return try agent.unlock(.recoveryPhrase, text, idle: idle(arguments), timeout: timeout(arguments))
        }
        return try tell(locksIn, try? found.get(), arguments)
    }
    var status = try vaultCall { try found.get() }
    if !Unlocking.namesSecret(arguments) {
        if status.slots.contains(.device) {
            let locksIn = try agent.openUnasked(idle: idle(arguments), timeout: timeout(arguments))
            defer {
                Output.remark(
                    "This vault opens without asking: commands and the agent open it again when it is needed.")
            }
            return try tell(locksIn, status, arguments)
        }
        if !arguments[Options.passcode] {
            switch try OwnerUnlock.run(arguments, status, agent) {
            case .opened(let locksIn): return try tell(locksIn, status, arguments)
            case .passcode(let afterAsking): if afterAsking { status = try vaultCall { try vault.status() } }
            }
        }
    }
    if !Unlocking.namesSecret(arguments), !Terminal.isThere, agent.isWorthAsking {
        try Unlocking.refuseEarly(status)
        let locksIn = try AskingElsewhere.unlock(
            agent, for: .unlock, idle: idle(arguments), timeout: timeout(arguments))
        return try tell(locksIn, status, arguments)
    }
    try input.requireCountedSource(unlockHelps: false)
    try Unlocking.refuseEarly(status)
    let locksIn = try Unlocking.ask(arguments, vault, status) { kind, secret throws(CommandError) in
        try agent.unlock(kind, secret, idle: idle(arguments), timeout: timeout(arguments))
    }
    return try tell(locksIn, status, arguments)
}

private func idle(_ arguments: Arguments) -> UInt32? { arguments[Options.idle].map(UInt32.init) }

private func timeout(_ arguments: Arguments) -> UInt32? { arguments[Options.timeout].map(UInt32.init) }

/// Until when an agent has the vault open already, where nothing on the command line asks for anything else. The outer
/// value is nil where it has not.
private func stillOpen(_ arguments: Arguments, _ agent: UnlockingAgent) -> UInt64?? {
    let changes = [Options.idle.option, Options.timeout.option].contains(where: arguments.contains)
    guard !changes, !Unlocking.namesSecret(arguments), !arguments[Options.passcode],
        let status = (try? agent.ifRunning { try $0.status() }) ?? nil, status.isUnlocked
    else { return nil }
    return .some(status.locksIn)
}

private func tell(
    _ locksIn: UInt64?, _ status: Vault.Status?, _ arguments: Arguments
) throws(CommandError) -> ExitCode {
    if let status { Unlocking.tellUnclaimed(status) }
    SyncedFolder.warn(try HomeFolder.absolutePath(arguments))
    IdleTime.tellCut(status, arguments)
    if arguments[Options.json] {
        try Output.write(
            .object([
                "isUnlocked": .boolean(true), "locksInSeconds": locksIn.map { .count($0 / 1000) } ?? .null,
            ]))
    } else {
        try Output.write("unlocked\(AgentAccess.until(locksIn))\n")
    }
    return .done
}

enum IdleTime {
    /// Says that the vault locks earlier than the command line, or the configuration, asks for.
    static func tellCut(_ status: Vault.Status?, _ arguments: Arguments) {
        guard let idle = arguments[Options.idle] else { return }
        let timeout = arguments[Options.timeout] ?? Int(AgentSettings.standardTimeout)
        if let rule = status?.policy.lockTiming.seconds, rule > 0, rule < idle {
            Output.note(
                "the vault's policy has it lock after \(DurationWord.word(Int(rule))) without use (lockTiming in holdfast "
                    + "lock-policy show)")
        } else if timeout < idle {
            Output.note("the vault locks after \(DurationWord.word(timeout)) in any case; --timeout changes that")
        }
    }
}
