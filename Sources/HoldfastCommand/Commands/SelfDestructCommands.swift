internal import AgentMessages
internal import CommandLineArguments
internal import Holdfast
internal import HoldfastAgent

extension Command {
    private static let switching = [
        "Asks for the passcode and for a confirmation, waits, and asks for the passcode again. Press Ctrl-C at any time "
            + "to cancel. Nothing is stored before the end: if the command ends early for any reason, nothing is changed.",
        "The wait is 30 seconds, or longer if the vault's policy or --countdown says so.",
    ]
    private static let switchingOptions = [
        Options.countdown.option, Options.yes.option, Options.json.option, Options.home.option,
        Options.twoPasscodesDescriptor.option,
    ]

    static let selfDestructEnable = Command(
        "self-destruct", "enable", synonyms: ["on"], summary: "destroy the vault after too many wrong passcodes",
        details: [
            "When wrong passcodes reach the limit, the vault is destroyed with its keys, entries and files. Every "
                + "refusal says how many attempts are left. Only a passcode that was checked and found wrong is "
                + "counted.",
            "Prints the public key that verifies the receipt of such a wipe; keep it somewhere else.",
        ] + switching,
        example: "holdfast self-destruct enable",
        options: switchingOptions, run: { arguments throws(CommandError) in try change(.enable, arguments) })

    static let selfDestructDisable = Command(
        "self-destruct", "disable", synonyms: ["off"], summary: "keep the vault after too many wrong passcodes",
        details: switching,
        example: "holdfast self-destruct disable", options: switchingOptions,
        run: { arguments throws(CommandError) in try change(.disable, arguments) })

    static let selfDestructCancel = Command(
        "self-destruct", "cancel", synonyms: ["abort"], summary: "cancel a pending change of self-destruct",
        details: [
            "A pending change is kept by the agent while it is unlocked, otherwise by the command that counts down; "
                + "it is never stored in a file. This command cancels the agent's change from any terminal. In the "
                + "command that counts down, press Ctrl-C. Locking the vault, or ending the command in any way, also "
                + "cancels the change."
        ],
        example: "holdfast self-destruct cancel",
        options: [Options.home.option, Options.json.option], run: cancelChange)

    static let selfDestructStatus = Command(
        "self-destruct", "status", synonyms: ["show"], summary: "show whether self-destruct is on",
        details: [
            "Shows what the header and the attempt ledger say, and the public key that verifies a receipt; also where no "
                + "TPM and no keyring vouches for it."
        ],
        example: "holdfast self-destruct status",
        options: [Options.home.option, Options.json.option], run: showSelfDestruct
    ).earlier("self-destruct", "status", successor: "holdfast status --long")
}

private func change(_ change: SelfDestruct.Change, _ arguments: Arguments) throws(CommandError) -> ExitCode {
    let input = SecretInput(arguments)
    try input.requirePasscodeSource()
    try Confirmation.require(arguments)
    let vault = try Unlocking.find(arguments)
    let policy = try vaultCall { try vault.status() }.policy
    guard policy.selfDestruct != (change == .enable) else {
        return try tell(vault, changed: false, arguments)
    }
    try Unlocking.refuseChangeEarly(vault)
    if change == .enable {
        for warning in try vaultCall({ try vault.wipeWarnings() }) { Output.note("NOTE (at a wipe): \(warning)") }
    }
    let wanted = max(arguments[Options.countdown] ?? 0, Int(policy.selfDestructCountdown))
    let agent = AgentAccess.holder(arguments, for: .seconds(wanted))
    let own = OwnChange(SelfDestructSwitch(vault: vault, countdown: .seconds(wanted)))
    try perform(change, agent, own, vault, policy, input, arguments)
    return try tell(vault, changed: true, arguments)
}

/// Authenticates, asks, waits, authenticates again.
private func perform(
    _ change: SelfDestruct.Change, _ agent: AgentChange?, _ own: OwnChange, _ vault: Vault, _ policy: VaultPolicy,
    _ input: SecretInput, _ arguments: Arguments
) throws(CommandError) {
    let holder: any ChangeHolder = try Unlocking.withPasscode(input, vault) { first throws(CommandError) in
        try vaultCall {
            if let agent {
                do {
                    try agent.begin(change, passcode: first)
                    return agent
                } catch let error as VaultError where error.code == .locked {
                    // It has locked, as when another command changed the rules; no attempt was spent.
                }
            }
            try own.begin(change, passcode: first)
            return own
        }
    }
    try Confirmation.ask(arguments, Countdown.warning(change, policy, holder.countdown), word: "yes")
    try vaultCall { try holder.confirm() }
    try Countdown.wait(holder, change)
    let second = try input.passcode("Enter the passcode again to finish: ")
    try PassingNote.show("Changing the vault ...") { () throws(CommandError) in
        try HeldSignals.during { () throws(CommandError) in
            try vaultCall { try holder.finish(passcode: second) }
        }
    }
}

private func tell(_ vault: Vault, changed: Bool, _ arguments: Arguments) throws(CommandError) -> ExitCode {
    let status = try vaultCall { try vault.status() }
    let key = try vaultCall { try vault.wipeReceiptKey }
    let isOn = status.policy.selfDestruct
    let memory = isOn ? try vaultCall { try vault.destructionMemory() } : nil
    if arguments[Options.json] {
        try Output.write(
            .object([
                "changed": .boolean(changed), "selfDestruct": .boolean(isOn),
                "receiptKey": key.map { .text($0.publicKey) } ?? .null,
                "remembered": memory?.json ?? .null,
            ]))
        return .done
    }
    let already = changed ? "" : " already"
    try Output.write(
        isOn
            ? "self-destruct is on\(already): \(status.policy.attemptLimit) wrong passcodes destroy this vault\n"
            : "self-destruct is off\(already)\n")
    if let memory, memory != .remembered { Output.remark("Vouched for: \(memory.text).") }
    if changed, let key {
        try Output.write(
            "receipt key: \(key.publicKey)\n"
                + "Keep this key somewhere else: with it, holdfast receipt verify --key KEY shows that a receipt is this vault's.\n"
        )
    }
    return .done
}

extension Vault.DestructionMemory {
    /// Whether a key store vouches for it; null where none is there or none answers.
    fileprivate var json: JSON {
        switch self {
        case .remembered: .boolean(true)
        case .forgotten: .boolean(false)
        case .unanswered, .unkept: .null
        }
    }

    fileprivate var text: String {
        switch self {
        case .remembered: "by the TPM or the keyring"
        case .forgotten:
            "not by the TPM or keyring, so the limit closes the vault and destroys nothing; the next unlock through the agent "
                + "or the app changes that"
        case .unanswered:
            "unknown, since the key store cannot be asked now; until it can, the limit only closes the vault"
        case .unkept: "by nothing outside of the folder: whoever can write there can have the vault destroyed"
        }
    }
}

private func cancelChange(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    _ = try Unlocking.find(arguments)
    var isCancelled = false
    do {
        if let agent = try AgentAccess.connect(arguments) {
            try agent.cancelChange()
            isCancelled = true
        }
    } catch {
        let error = CommandError(error)
        // Locked: the lock has cancelled whatever was pending.
        guard [.notPending, .locked].contains(error.code) else { throw error }
    }
    if arguments[Options.json] {
        try Output.write(.object(["cancelled": .boolean(isCancelled)]))
    } else if isCancelled {
        try Output.write("cancelled; nothing was changed\n")
    } else {
        try Output.write(
            "nothing is pending in an agent; to cancel a countdown, press Ctrl-C in the command that shows it\n")
    }
    return .done
}

private func showSelfDestruct(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let vault = try Unlocking.find(arguments)
    let state = try SelfDestructState(vault, vaultCall { try vault.status() }, arguments)
    try arguments[Options.json]
        ? Output.write(state.json) : Output.write(Facts.text(state.facts, wrappedTo: Output.columns))
    return .done
}

/// Whether self-destruct is on, what changes that now, and what vouches for it.
struct SelfDestructState {
    let facts: [(String, String)]
    let json: JSON

    init(_ vault: Vault, _ status: Vault.Status, _ arguments: Arguments) throws(CommandError) {
        let key = try vaultCall { try vault.wipeReceiptKey }
        let policy = status.policy
        let pending = try? AgentAccess.pendingChange(arguments)
        let memory = policy.selfDestruct ? try vaultCall { try vault.destructionMemory() } : nil
        json = .object([
            "pending": pending.map(HoldfastCommand.json) ?? .null,
            "selfDestruct": .boolean(policy.selfDestruct), "attemptLimit": .integer(Int64(policy.attemptLimit)),
            "remainingAttempts": .integer(Int64(status.remainingAttempts)),
            "countdownSeconds": .integer(Int64(policy.selfDestructCountdown)),
            "receiptKey": key.map { .text($0.publicKey) } ?? .null,
            "remembered": memory?.json ?? .null,
        ])
        var facts = [
            ("self-destruct", policy.selfDestruct ? "on" + status.destructionWarning : "off"),
            ("attempts", "\(status.remainingAttempts) of \(policy.attemptLimit) left"),
            ("countdown", "\(policy.selfDestructCountdown) s to turn it on or off"),
        ]
        if let pending { facts.append(("pending", text(pending))) }
        if let memory { facts.append(("vouched for", memory.text)) }
        if policy.selfDestruct {
            facts.append(("receipt key", key?.publicKey ?? "none; one is made for the receipt of a wipe"))
        }
        self.facts = facts
    }
}

private func json(_ pending: PendingChange) -> JSON {
    .object([
        "change": .text(pending.change == .enable ? "enable" : "disable"),
        "countdownSeconds": .count(pending.countdown / 1000),
        "remainingSeconds": pending.remaining.map { .count(($0 + 999) / 1000) } ?? .null,
    ])
}

private func text(_ pending: PendingChange) -> String {
    let what = "turns \(pending.change == .enable ? "on" : "off")"
    guard let remaining = pending.remaining else { return "\(what) after it is confirmed" }
    return remaining == 0
        ? "\(what) when the passcode is entered"
        : "\(what) in \(Format.wait(.milliseconds(remaining))); cancel with holdfast self-destruct cancel"
}
