internal import CommandLineArguments
internal import Holdfast
internal import HoldfastAgent
internal import Items

extension Place {
    fileprivate static let settings = Place(
        name: "KEY=VALUE", kind: .setting(PolicySetting.beginnings),
        help: "A setting and its new value; several are changed together.", isRest: true
    )
}

extension Command {
    static let lockPolicySet = Command(
        "lock-policy", "set", synonyms: ["change"], summary: "change the vault's policy",
        details: [
            "app-lock, fingerprint and count-fingerprint-failures are on or off. attempts is 3 to 10. delays are the "
                + "seconds to wait after each wrong passcode: 0,0,30,60. lock-after is \(LockTiming.allowed). "
                + "remember is never or allowed: whether a passcode that a command asks for may leave the vault open for the next ones; "
                + "never cannot be taken back by unlock.remember (holdfast config). fallback is strict, convenient, never-blocks or @FILE, a file with a policy in JSON. "
                + "minimum.COLLECTION is "
                + Assurance.allCases.map { Words.typed($0.name) }.joined(separator: ", ")
                + ": what an unlock must prove for that collection.",
            "The policy is bound to the passcode, so the passcode is asked for. A policy with errors is refused "
                + "before that, and nothing is changed; warnings are printed. Self-destruct has its own commands.",
        ],
        example: "holdfast lock-policy set attempts=5 lock-after=5min",
        places: [.settings], options: [Options.home.option, Options.passcodeDescriptor.option], run: setPolicy)
}

private func setPolicy(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let settings = try PolicySetting.parse(arguments.places)
    let input = SecretInput(arguments)
    try input.requirePasscodeSource()
    let vault = try Unlocking.find(arguments)
    let status = try vaultCall { try vault.status() }
    let linter = PolicyLinter(status)
    var policy = status.policy
    // Before the user types, on rules that are not proved yet; once more below on those that are.
    try vaultCall { try change(&policy, settings, linter) }
    guard policy != status.policy else {
        Output.remark("The policy already has these settings. Nothing was changed.")
        return .done
    }
    tellEarlierNames(policy, status.policy, arguments)
    let told = try askWhereOutOfReach(linter, policy, status.policy, arguments)
    try Unlocking.refuseChangeEarly(vault)
    if status.hasPIN, policy.attemptLimit != status.policy.attemptLimit {
        Output.note(
            "NOTE: the TPM's limit cannot be changed, so the PIN is removed (set another one with holdfast enroll pin)")
    }
    let changed = try Unlocking.withPasscode(input, vault, note: "Changing the policy ...") {
        passcode throws(CommandError) in
        try vaultCall {
            try vault.changePolicy(passcode: passcode, spending: vault.burnAttempt()) { policy throws(VaultError) in
                try change(&policy, settings, linter)
            }
        }
    }
    // Looked at anew: a PIN may have gone with the change.
    let after = try vaultCall { try PolicyLinter(vault.status()) }
    for issue in after.issues(changed) where !told.contains(issue) { Output.note("\(issue.severity): \(issue.words)") }
    Output.remark("The policy was changed.")
    if status.policy.remembersPasscode, !changed.remembersPasscode, AgentAccess.isOpen(arguments) {
        Output.remark("The vault is still open in the agent; holdfast lock closes it.")
    }
    return .done
}

/// Asks, on a terminal, before a minimum shuts away what no unlock on this machine reaches any more.
/// - Returns: What was said of it.
private func askWhereOutOfReach(
    _ linter: PolicyLinter, _ policy: VaultPolicy, _ before: VaultPolicy, _ arguments: Arguments
) throws(CommandError) -> [PolicyIssue] {
    let known = linter.issues(before)
    let new = linter.issues(policy).filter { $0.code == .minimumOutOfReach && !known.contains($0) }
    guard !new.isEmpty, !arguments.contains(Options.passcodeDescriptor.option), let terminal = Terminal() else {
        return []
    }
    for issue in new { Output.note("\(issue.severity): \(issue.words)") }
    Output.note("what is in there can then be neither read nor exported here; minimum.COLLECTION=none takes it back")
    try Confirmation.requireYes("Change it nevertheless?", on: terminal)
    return new
}

/// Says which entries a new minimum is not in effect for, as far as an open agent knows them: those that are written
/// below the collection and are in another one.
private func tellEarlierNames(_ policy: VaultPolicy, _ before: VaultPolicy, _ arguments: Arguments) {
    let new = policy.collectionMinima.keys.filter { policy.collectionMinima[$0] != before.collectionMinima[$0] }
    guard !new.isEmpty, let agent = try? AgentAccess.connect(arguments), let records = try? agent.list(nil) else {
        return
    }
    let names = EntryNames(records.map(\.entry))
    for folder in new.sorted().compactMap({ EntryFolder(first: $0, rest: "") }) {
        let others = names.all.filter {
            names.has($0, in: folder) && !$0.collection.utf8.elementsEqual(folder.first.utf8)
        }
        guard !others.isEmpty else { continue }
        Output.note(
            "the minimum will not be in effect for \(ItemNames.several(names.written(others))); holdfast vault adopt-names, before "
                + "this, moves them to the collection")
    }
}

/// Changes rules unless that brings an error that was not there before.
private func change(
    _ policy: inout VaultPolicy, _ settings: [PolicySetting], _ linter: PolicyLinter
) throws(VaultError) {
    let before = linter.issues(policy)
    for setting in settings { setting.apply(to: &policy) }
    if let error = linter.issues(policy).first(where: { $0.isError && !before.contains($0) }) {
        throw VaultError(.invalidPolicy, "\(error.code.rawValue): \(error.words); nothing was changed")
    }
}

extension Command {
    static let lockPolicyShow = Command(
        "lock-policy", "show", synonyms: ["get", "list"], summary: "show the vault's policy",
        details: [
            "Prints every setting as holdfast lock-policy set takes it, and warnings about it. Nothing is asked for, so the settings are not "
                + "verified: the passcode opens the vault only with the policy it was set with."
        ],
        example: "holdfast lock-policy show",
        options: [Options.home.option, Options.json.option], run: showPolicy)
}

private func showPolicy(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let vault = try Unlocking.find(arguments)
    let report = PolicyReport(status: try vaultCall { try vault.status() })
    if arguments[Options.json] {
        try Output.write(report.json)
        return .done
    }
    try Output.write(Facts.text(report.facts))
    for issue in report.issues { try Output.write("\(issue.severity): \(Escaping.sentence(issue.words))\n") }
    return .done
}
