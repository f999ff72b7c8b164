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
    let agent = AgentAccess.status(arguments)
    if arguments[Options.json] {
        try Output.write(status.json(agent))
    } else {
        try Output.write(Facts.text(facts(status) + [("agent", words(agent))]))
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
    let limit = status.policy.attemptLimit
    facts.append(("attempts", "\(status.remainingAttempts) of \(limit) left"))
    if status.isPasscodeClosed {
        facts.append(("", "the passcode is closed; only the recovery phrase opens (holdfast recover)"))
    } else if let wait = status.retryAfter {
        facts.append(("", "the next one is taken in \(Format.wait(wait))"))
    }
    return facts
}

/// A kind of slot for people.
private func words(_ kind: SlotKind) -> String {
    switch kind {
    case .recoveryPhrase: "recovery phrase"
    case .deviceOwner: "device owner"
    default: kind.name
    }
}

extension Vault.Status {
    func json(_ agent: AgentAccess.Status) -> JSON {
        .object([
            "agent": agent.json,
            "id": .text(id.description), "path": .text(path), "formatVersion": .integer(Int64(formatVersion)),
            "created": Format.timestamp(milliseconds: Int64(clamping: created)).map { .text($0) } ?? .null,
            "slots": .array(slots.map { .text($0.name) }),
            "derivation": derivation.map {
                .object(["passes": .integer(Int64($0.passes)), "memoryKiB": .integer(Int64($0.memoryKiB))])
            } ?? .null,
            "attemptLimit": .integer(Int64(policy.attemptLimit)),
            "remainingAttempts": .integer(Int64(remainingAttempts)),
            "refusedAttempts": .integer(Int64(refusedAttempts)),
            "retryAfterSeconds": retryAfter.map { .integer(Format.roundedUpSeconds($0)) } ?? .null,
            "isPasscodeClosed": .boolean(isPasscodeClosed), "selfDestruct": .boolean(policy.selfDestruct),
        ])
    }
}
