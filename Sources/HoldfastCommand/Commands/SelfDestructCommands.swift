internal import AgentMessages
internal import Holdfast
internal import HoldfastAgent

extension Command {
    private static let switching = [
        "Asks for the passcode, then whether this is really wanted, waits, and asks for the passcode again. Ctrl-C cancels "
            + "at any time. Nothing of it is stored before the end: when the command is ended in any way, nothing has "
            + "changed.",
        "The wait is 30 seconds, or longer where the vault's rules or --countdown say so.",
    ]
    private static let switchingOptions = [
        Options.countdown.option, Options.yes.option, Options.json.option, Options.home.option,
        Options.twoPasscodesDescriptor.option,
    ]

    static let selfDestructEnable = Command(
        "self-destruct", "enable", synonyms: ["on"], summary: "let wrong passcodes destroy the vault at the limit",
        details: [
            "From then on the vault is destroyed when wrong passcodes reach the limit: keys, records, files and all. Every "
                + "refusal says how many are left. Only a passcode that was checked and is wrong counts.",
            "Prints the public key that the receipt of such a destruction is verified with; keep it elsewhere.",
        ] + switching,
        options: switchingOptions, run: { arguments throws(CommandError) in try change(.enable, arguments) })

    static let selfDestructDisable = Command(
        "self-destruct", "disable", synonyms: ["off"], summary: "stop wrong passcodes from destroying the vault",
        details: switching, options: switchingOptions,
        run: { arguments throws(CommandError) in try change(.disable, arguments) })

    static let selfDestructCancel = Command(
        "self-destruct", "cancel", synonyms: ["abort"], summary: "cancel a change of self-destruct that is under way",
        details: [
            "A change lives in the agent while that is unlocked, else in the command that waits for its countdown, and in "
                + "no file. This command cancels the one in the agent, from any terminal; Ctrl-C cancels the one that a "
                + "command shows. Locking the vault cancels it too, as does anything that ends the command."
        ],
        options: [Options.home.option, Options.json.option], run: cancelChange)

    static let selfDestructStatus = Command(
        "self-destruct", "status", synonyms: ["show"], summary: "tell whether self-destruct is on",
        details: [
            "Shows what the header and the attempt ledger say, and the public key that a receipt will be verified with."
        ],
        options: [Options.home.option, Options.json.option], run: showSelfDestruct)
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
    if let holder = AgentAccess.holder(arguments, for: .seconds(wanted)) {
        try take(change, holder, policy, input, arguments)
    } else {
        let holder = OwnChange(SelfDestructSwitch(vault: vault, countdown: .seconds(wanted)))
        try take(change, holder, policy, input, arguments)
    }
    return try tell(vault, changed: true, arguments)
}

/// Authenticates, asks, waits, authenticates again.
private func take(
    _ change: SelfDestruct.Change, _ holder: some ChangeHolder, _ policy: VaultPolicy,
    _ input: SecretInput, _ arguments: Arguments
) throws(CommandError) {
    let first = try input.passcode()
    try PassingNote.show("Checking the passcode ...") { () throws(CommandError) in
        try vaultCall { try holder.begin(change, passcode: first) }
    }
    try Confirmation.ask(arguments, Countdown.warning(change, policy, holder.countdown), word: "yes")
    try vaultCall { try holder.confirm() }
    try Countdown.wait(holder, change)
    let second = try input.passcode("Passcode again, to finish: ")
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
    if arguments[Options.json] {
        try Output.write(
            .object([
                "changed": .boolean(changed), "selfDestruct": .boolean(isOn),
                "receiptKey": key.map { .text($0.publicKey) } ?? .null,
            ]))
        return .done
    }
    let already = changed ? "" : " already"
    try Output.write(
        isOn
            ? "self-destruct is on\(already): \(status.policy.attemptLimit) wrong passcodes destroy this vault\n"
            : "self-destruct is off\(already)\n")
    if changed, let key {
        try Output.write(
            "receipt key: \(key.publicKey)\n"
                + "Keep this key elsewhere: holdfast receipt verify --key shows with it that a receipt is this vault's.\n"
        )
    }
    return .done
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
        let nothing = [VaultError.Code.notPending, .locked].map(\.description)
        guard nothing.contains(error.code) else { throw error }
    }
    if arguments[Options.json] {
        try Output.write(.object(["cancelled": .boolean(isCancelled)]))
    } else if isCancelled {
        try Output.write("cancelled; nothing was changed\n")
    } else {
        try Output.write(
            "nothing is pending in an agent; a countdown is cancelled with Ctrl-C in the command that shows it\n")
    }
    return .done
}

private func showSelfDestruct(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let vault = try Unlocking.find(arguments)
    let status = try vaultCall { try vault.status() }
    let key = try vaultCall { try vault.wipeReceiptKey }
    let policy = status.policy
    let pending = try? AgentAccess.pendingChange(arguments)
    if arguments[Options.json] {
        try Output.write(
            .object([
                "pending": pending.map(json) ?? .null,
                "selfDestruct": .boolean(policy.selfDestruct), "attemptLimit": .integer(Int64(policy.attemptLimit)),
                "remainingAttempts": .integer(Int64(status.remainingAttempts)),
                "countdownSeconds": .integer(Int64(policy.selfDestructCountdown)),
                "receiptKey": key.map { .text($0.publicKey) } ?? .null,
            ]))
        return .done
    }
    var facts = [
        ("self-destruct", policy.selfDestruct ? "on" + status.destructionWarning : "off"),
        ("attempts", "\(status.remainingAttempts) of \(policy.attemptLimit) left"),
        ("countdown", "\(policy.selfDestructCountdown) s to switch it on or off"),
    ]
    if let pending { facts.append(("pending", text(pending))) }
    if policy.selfDestruct {
        facts.append(("receipt key", key?.publicKey ?? "none; one is made at the wipe, which the receipt says"))
    }
    try Output.write(Facts.text(facts))
    return .done
}

private func json(_ pending: PendingChange) -> JSON {
    .object([
        "change": .text(pending.change == .enable ? "enable" : "disable"),
        "countdownSeconds": .count(pending.countdown / 1000),
        "remainingSeconds": pending.remaining.map { .count(($0 + 999) / 1000) } ?? .null,
    ])
}

private func text(_ pending: PendingChange) -> String {
    let what = "goes \(pending.change == .enable ? "on" : "off")"
    guard let remaining = pending.remaining else { return "\(what) once it is confirmed" }
    return remaining == 0
        ? "\(what) with the passcode that is being asked for"
        : "\(what) in \(Format.wait(.milliseconds(remaining))); holdfast self-destruct cancel stops it"
}
