internal import AgentMessages
internal import Holdfast
internal import HoldfastAgent

extension Command {
    static let status = Command(
        "status", synonyms: ["info"], summary: "tell what is known without opening the vault",
        details: [
            "Shows what the header and the attempt ledger say, and whether an agent runs and holds the keys. Nothing is "
                + "asked for, and nothing of the header is proved while the vault is locked."
        ],
        options: [Options.home.option, Options.json.option], run: showStatus)
}

private func showStatus(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let vault = try Unlocking.find(arguments)
    let status = try vaultCall { try vault.status() }
    let open = vault.open.status()
    let agent = AgentAccess.status(arguments)
    if arguments[Options.json] {
        try Output.write(status.json(open, agent))
    } else {
        try Output.write(Facts.text(facts(status) + facts(open) + hardwareFacts(vault) + [("agent", words(agent))]))
    }
    return .done
}

private func words(_ agent: AgentAccess.Status) -> String {
    switch agent {
    case .none: "none runs (holdfast unlock starts it)"
    case .unreachable(let reason): "cannot be asked: \(reason)"
    case .running(let status):
        if !status.isUnlocked {
            "runs, locked (process \(status.process))"
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
        ("opens with", status.slots.map(words).joined(separator: ", ")),
    ]
    if let costs = status.derivation {
        facts.append(("passcode", "Argon2id, \(costs.passes) passes over \(costs.memoryKiB >> 10) MiB"))
    }
    if status.hasHardwareShare { facts.append(("", "a TPM holds a share of it and counts attempts too")) }
    let limit = status.policy.attemptLimit
    facts.append(("attempts", "\(status.remainingAttempts) of \(limit) left"))
    if status.isPasscodeClosed {
        let hasPhrase = status.slots.contains(.recoveryPhrase)
        let rest = hasPhrase ? "only the recovery phrase opens (holdfast recover)" : "there is no recovery phrase"
        facts.append(("", "the passcode is closed; \(rest)"))
    } else if let wait = status.retryAfter {
        facts.append(("", "the next one is taken in \(Format.wait(wait))"))
    }
    facts.append(("self-destruct", status.policy.selfDestruct ? "on" + status.destructionWarning : "off"))
    let entries = status.log.entries.map { Format.count($0, "entry", "entries") }
    facts.append(("security log", [entries, status.log.problem].compactMap(\.self).joined(separator: "; ")))
    return facts
}

private func hardwareFacts(_ vault: Vault) -> [(String, String)] {
    var facts: [(String, String)] = []
    if vault.leavesHardware {
        facts.append(
            ("hardware", "what the TPM or the keyring holds was made for another folder, and stays at a wipe;"))
        facts.append(("", "say whether this is the vault or a copy: holdfast hardware claim, holdfast hardware leave"))
    }
    if vault.refusedNote {
        let rest = "nothing was done for it; it lies in hardware.pending.refused"
        facts.append(("hardware", "a list of what the TPM should let go of was not this vault's: \(rest)"))
    }
    return facts
}

private func facts(_ open: OpenCompartment.Status) -> [(String, String)] {
    var facts: [(String, String)] = []
    if let problem = open.problem {
        facts.append(("open", Escaping.sentence(problem.reason)))
    } else if open.items > 0 {
        let size = "\(Format.size(UInt64(clamping: open.bytes))) of \(Format.size(UInt64(clamping: open.quota.bytes)))"
        facts.append(("open", "\(Format.count(open.items, "item")), \(size), readable without the passcode"))
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

/// A kind of slot for people.
private func words(_ kind: SlotKind) -> String {
    switch kind {
    case .secret(.passcode): "passcode"
    case .secret(.recoveryPhrase): "recovery phrase"
    case .secret(.pin): "PIN under the TPM"
    case .deviceOwner: "device owner"
    case .unknown: kind.name
    }
}

extension Vault.Status {
    func json(_ open: OpenCompartment.Status, _ agent: AgentAccess.Status) -> JSON {
        .object([
            "open": open.json, "agent": agent.json,
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
            "log": .object([
                "entries": log.entries.map { .count($0) } ?? .null, "problem": log.problem.map { .text($0) } ?? .null,
            ]),
        ])
    }
}
