internal import AgentMessages
internal import CommandLineArguments
internal import Holdfast
internal import HoldfastAgent
internal import HoldfastDoctor
internal import OpenStorage

extension Options {
    static let everything = Flag(
        "long", "Also what unlocks it and how strong that is, which way is asked for now and why, and self-destruct.",
        short: "l")
}

extension Command {
    static let status = Command(
        "status", synonyms: ["info"], summary: "show the vault's state without unlocking it",
        details: [
            "Shows what the header and the attempt ledger say, and whether an agent is running and unlocked. Asks for "
                + "nothing; while the vault is locked, the header is not verified.",
            "With --long, holdfast doctor says how to get what is missing, and holdfast lock-policy show has every rule.",
        ],
        example: "holdfast status --long",
        options: [Options.everything.option, Options.home.option, Options.json.option], run: showStatus)
}

private func showStatus(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let vault = try Unlocking.find(arguments)
    SyncedFolder.warn(try HomeFolder.absolutePath(arguments))
    let status = try vaultCall { try vault.status() }
    let open = vault.open.status()
    let agent = AgentAccess.status(arguments)
    let protection = try vaultCall { try vault.protection() }
    let long = arguments[Options.everything] ? try LongStatus(vault, status, arguments) : nil
    if arguments[Options.json] {
        try Output.write(status.json(open, agent, protection, long))
        return .done
    }
    try Output.write(
        Facts.text(
            facts(status) + protection.facts(status.slots) + facts(open) + hardwareFacts(vault, status) + [
                ("agent", words(agent))
            ]))
    if let long { try Output.write(long.text) }
    return .done
}

/// What `--long` adds.
private struct LongStatus {
    let text: String
    let json: [String: JSON]

    init(_ vault: Vault, _ status: Vault.Status, _ arguments: Arguments) throws(CommandError) {
        let destruct = try SelfDestructState(vault, status, arguments)
        let explanation = try Explanation(arguments)
        text = [
            status.ways, explanation.lines.map { $0 + "\n" }.joined(), Facts.text(destruct.facts),
        ].map { "\n" + $0 }.joined()
        json = ["ways": status.waysJSON, "explanation": explanation.json, "selfDestructState": destruct.json]
    }
}

private func words(_ agent: AgentAccess.Status) -> String {
    switch agent {
    case .none: "not running (holdfast unlock starts it)"
    case .unreachable(let reason): "not responding: \(reason)"
    case .running(let status):
        if !status.isUnlocked {
            "running, locked (process \(status.process))"
        } else {
            "unlocked\(AgentAccess.until(status.locksIn)) (process \(status.process))"
        }
    }
}

private func facts(_ status: Vault.Status) -> [(String, String)] {
    var facts = [
        ("vault", status.id.description),
        ("home", Escaping.sentence(status.path)),
        ("format", "\(status.formatVersion)"),
        ("created", Format.localTime(milliseconds: Int64(clamping: status.created))),
        ("opens with", status.slots.map(\.words).joined(separator: ", ")),
    ]
    if let costs = status.derivation {
        facts.append(("passcode", "Argon2id, \(costs.passes) passes over \(costs.memoryKiB >> 10) MiB"))
    }
    if status.hasHardwareShare { facts.append(("", "the TPM has a part of its key and also counts attempts")) }
    // Nothing is asked for at the other levels, so there is nothing to guess.
    if status.hasPIN || status.slots.contains(.secret(.passcode)) { facts += attempts(status) }
    facts.append(("self-destruct", status.policy.selfDestruct ? "on" + status.destructionWarning : "off"))
    let entries = status.log.entries.map { Format.count($0, "entry", "entries") }
    facts.append(("security log", [entries, status.log.problem].compactMap(\.self).joined(separator: "; ")))
    return facts
}

private func attempts(_ status: Vault.Status) -> [(String, String)] {
    var facts: [(String, String)] = []
    let limit = status.policy.attemptLimit
    facts.append(("attempts", "\(status.remainingAttempts) of \(limit) left"))
    if status.isPasscodeClosed {
        let hasPhrase = status.slots.contains(.recoveryPhrase)
        let rest = hasPhrase ? "use the recovery phrase (holdfast recover)" : "there is no recovery phrase"
        facts.append(("", "the passcode is blocked; \(rest)"))
    } else if let wait = status.retryAfter {
        facts.append(("", "you can try again in \(Format.wait(wait))"))
    }
    return facts
}

private func hardwareFacts(_ vault: Vault, _ status: Vault.Status) -> [(String, String)] {
    var facts: [(String, String)] = []
    if status.leavesHardware {
        facts.append(
            ("hardware", "keys in the TPM or the keyring were made for another folder, and stay there after a wipe;"))
        facts.append(("", "say if this is the vault (holdfast hardware claim) or a copy (holdfast hardware leave)"))
    }
    if vault.refusedNote {
        let rest = "it was ignored and kept as hardware.pending.refused"
        facts.append(("hardware", "a list of keys to delete from the TPM was not written by this vault: \(rest)"))
    }
    return facts
}

private func facts(_ open: OpenCompartment.Status) -> [(String, String)] {
    var facts: [(String, String)] = []
    if let problem = open.problem {
        facts.append(("open", Escaping.sentence(problem.reason)))
    } else if open.items > 0 {
        let size = "\(Format.size(UInt64(clamping: open.bytes))) of \(Format.size(UInt64(clamping: open.quota.bytes)))"
        facts.append(
            ("open", "\(Format.count(open.items, "entry", "entries")), \(size), readable without the passcode"))
    }
    if open.hasSetAside { facts.append(("", "what could not be read is kept as open.mdb.damaged (verify --clean)")) }
    return facts
}

extension OpenCompartment.Status {
    fileprivate var json: JSON {
        .object([
            "items": .count(items), "bytes": .count(UInt64(clamping: bytes)),
            "quotaItems": .integer(Int64(quota.items)), "quotaBytes": .integer(Int64(quota.bytes)),
            "assurance": .text("none"), "takesSealed": .boolean(takesSealed), "hasSetAside": .boolean(hasSetAside),
            "problem": problem.map { .text($0.reason) } ?? .null,
        ])
    }
}

extension Vault.Status {
    fileprivate func json(
        _ open: OpenCompartment.Status, _ agent: AgentAccess.Status, _ protection: Protection, _ long: LongStatus?
    ) -> JSON {
        let members: [String: JSON] = [
            "open": open.json, "agent": agent.json, "protection": protection.json,
            "id": .text(id.description), "path": .text(path), "formatVersion": .integer(Int64(formatVersion)),
            "created": Format.timestamp(milliseconds: Int64(clamping: created)).map { .text($0) } ?? .null,
            "slots": .array(slots.map { .text($0.name) }),
            "derivation": derivation.map {
                .object(["passes": .integer(Int64($0.passes)), "memoryKiB": .integer(Int64($0.memoryKiB))])
            } ?? .null,
            "hasHardwareShare": .boolean(hasHardwareShare), "hasPIN": .boolean(hasPIN),
            "attemptLimit": .integer(Int64(policy.attemptLimit)),
            "remainingAttempts": .integer(Int64(remainingAttempts)),
            "refusedAttempts": .integer(Int64(refusedAttempts)),
            "retryAfterSeconds": retryAfter.map { .integer(Format.roundedUpSeconds($0)) } ?? .null,
            "isPasscodeClosed": .boolean(isPasscodeClosed), "selfDestruct": .boolean(policy.selfDestruct),
            "remember": .text(policy.rememberWord),
            "log": .object([
                "entries": log.entries.map { .count($0) } ?? .null, "problem": log.problem.map { .text($0) } ?? .null,
            ]),
        ]
        return .object(members.merging(long?.json ?? [:]) { $1 })
    }
}
