internal import AgentMessages
internal import BetterAuth
internal import BetterAuthMessages
internal import CommandLineArguments
internal import Holdfast

extension Place {
    fileprivate static let identity = Place(name: "IDENTITY", kind: .text, help: "The identity, 44 characters.")
}

extension Command {
    static let identityCreate = Command(
        "identity", "create", synonyms: ["init", "new"], summary: "create an identity",
        details: [
            "Creates an account at a Better Auth server. The keys of this device are kept in its TPM or in the vault. "
                + "The identity gets its own recovery phrase of 24 words, different from the vault's: keep the two "
                + "sheets apart.",
            "Nothing is overwritten before the server agrees. If the server does not respond, run the same command "
                + "again to finish.",
        ],
        example: "holdfast identity create --server https://id.example",
        options: [Options.json.option, Options.recoveryOutDescriptor.option, Options.keys.option] + Options.identity,
        run: createIdentity)

    static let identityRecover = Command(
        "identity", "recover", summary: "recover an identity with its recovery phrase",
        details: [
            "Revokes every device of the identity and registers this one. The old phrase is used up; a new one is "
                + "generated and shown before anything is sent. The 23 words of the Better Auth example app are also "
                + "accepted.",
            "With --recovery-fd, write the phrase as one line.",
        ],
        example: "holdfast identity recover IDENTITY --server https://id.example",
        places: [.identity],
        options: [
            Options.json.option, Options.recoveryDescriptor.option, Options.recoveryOutDescriptor.option,
            Options.keys.option,
        ] + Options.identity, run: recoverIdentity)

    static let identityDelete = Command(
        "identity", "delete", summary: "delete the account, for all its devices",
        details: [
            "The server permanently deletes the account and its devices; the identity can never be created again.",
            proofAdvice,
        ],
        example: "holdfast identity delete",
        options: [Options.yes.option] + Options.identityProved, run: deleteIdentity)

    static let identityRotate = Command(
        "identity", "rotate", summary: "rotate this device's key",
        details: [
            "Replaces this device's key with the next one, to which the server already has a commitment, and "
                + "generates the key after it."
        ],
        example: "holdfast identity rotate",
        options: Options.identity, run: rotateIdentity)

    static let identityChangeRecovery = Command(
        "identity", "change-recovery", summary: "replace the identity's recovery phrase",
        details: [
            "The new phrase is shown before it is sent. After that, the old one no longer works.",
            proofAdvice
                + " If the phrase is shown on the terminal, the passcode is asked for again after you have written it down.",
        ],
        example: "holdfast identity change-recovery",
        options: [Options.recoveryOutDescriptor.option] + Options.identityProved, run: changeRecovery)

    static let identityErase = Command(
        "identity", "erase", summary: "forget the identity on this device",
        details: [
            "Erases the keys here. The server is not told and keeps the device. To leave properly, unlink the device "
                + "instead. Without another device, only the recovery phrase brings the identity back.",
            proofAdvice,
        ],
        example: "holdfast identity erase",
        options: [Options.yes.option] + Options.proving, run: eraseIdentity)

    /// For every operation that needs a proof.
    static let proofAdvice =
        "An unlocked agent is not enough: this asks for the vault's passcode, or with --phrase for its recovery phrase. "
        + "The proof is valid for a minute."
}

private func createIdentity(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let delivery = try PhraseDelivery(identity: arguments)
    let access = try IdentityAccess(arguments)
    let client = try access.client()
    switch try access.credentials().state {
    case .ready: break
    case .unconfirmed:
        Output.note("an earlier creation was not answered; finishing it now, with its own recovery phrase")
        try access.run { try await client.settle() }
        return try tellIdentity(access.report(), arguments)
    case .linking, .created, .authenticated:
        throw CommandError(IdentityError.accountExists)
    }
    let recovery = try NewRecovery(delivery)
    let hash = recovery.hash
    let account: Account
    do throws(CommandError) {
        account = try access.run { try await client.createAccount(recovery: hash) }
    } catch { throw IdentityWords.undecided(error, again: "holdfast identity create") }
    recovery.remember(access)
    access.log(.identity(.created, digest: account.identity.rawBytes))
    return try tellIdentity(access.report(), arguments)
}

private func recoverIdentity(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let input = SecretInput(arguments)
    try input.requireIdentityPhraseSource()
    let delivery = try PhraseDelivery(identity: arguments)
    let identity = try IdentityWords.identity(arguments[place: 0])
    let access = try IdentityAccess(arguments)
    let client = try access.client()
    let phrase = try input.identityPhrase()
    try IdentityWords.refuseVaultPhrase(phrase, access.vault)
    let key = try NewRecovery.key(of: phrase)
    let recovery = try NewRecovery(delivery)
    let hash = recovery.hash
    let account: Account
    do throws(CommandError) {
        account = try access.run { try await client.recoverAccount(identity, with: key, successor: hash) }
    } catch { throw IdentityWords.undecided(error, again: "holdfast identity recover") }
    recovery.remember(access)
    access.log(.identity(.recovered, digest: account.identity.rawBytes))
    return try tellIdentity(access.report(), arguments)
}

private func deleteIdentity(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    try Confirmation.require(arguments)
    let (access, proof) = try IdentityAccess.proving(arguments)
    let client = try access.client()
    guard let account = try access.credentials().account else { throw CommandError(IdentityWords.noAccount) }
    try Confirmation.ask(
        arguments, "This deletes the account of \(account.identity) for all its devices. It cannot be undone.",
        word: "delete")
    try access.run { try await client.deleteAccount(proof: proof.take()) }
    access.log(.identity(.deleted, digest: account.identity.rawBytes))
    try? access.vault.forgetIdentityPhrase()
    Output.remark("The account was deleted.")
    return .done
}

private func rotateIdentity(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let agent = ItemAccess(arguments)
    if try agent.identity(.rotate) == nil {
        let access = try IdentityAccess(agent)
        let client = try access.client()
        try access.run { try await client.rotate() }
        if let account = try access.credentials().account {
            access.log(.identity(.rotated, digest: account.identity.rawBytes))
        }
    }
    Output.remark("The device's key was rotated.")
    return .done
}

private func changeRecovery(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let delivery = try PhraseDelivery(identity: arguments)
    guard delivery.isShown else {
        let (access, proof) = try IdentityAccess.proving(arguments)
        try prepareChange(access)
        return try change(access, to: NewRecovery(delivery), proof)
    }
    // Writing 24 words down takes longer than the minute of a proof, so the proof is made afterwards.
    let agent = ItemAccess(arguments)
    if let report = try agent.identity(.status), !report.isUnfinished {
        guard report.publicKey != nil else { throw CommandError(IdentityWords.noAccount) }
        let recovery = try NewRecovery(delivery)
        let (access, proof) = try IdentityAccess.proving(arguments)
        return try change(access, to: recovery, proof)
    }
    let access = try IdentityAccess(agent)
    try prepareChange(access)
    let recovery = try NewRecovery(delivery)
    return try change(access, to: recovery, Unlocking.proveAgain(arguments, access.vault))
}

/// Before a phrase is shown that would be worth nothing: is there an account, and what was the outcome of an earlier
/// change of the phrase? What else does not get through, such as a rotation whose path a proxy shuts, is no reason to
/// wait.
private func prepareChange(_ access: IdentityAccess) throws(CommandError) {
    guard try access.credentials().account != nil else { throw CommandError(IdentityWords.noAccount) }
    let client = try access.client()
    try access.run { try await client.settleRecovery() }
}

private func change(
    _ access: IdentityAccess, to recovery: consuming NewRecovery, _ proof: ProofCarrier
) throws(CommandError) -> ExitCode {
    let client = try access.client()
    let hash = recovery.hash
    try access.run { try await client.changeRecovery(to: hash, proof: proof.take()) }
    recovery.remember(access)
    Output.remark("The new recovery phrase is now in effect. Destroy the sheet with the old one.")
    return .done
}

private func eraseIdentity(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    try Confirmation.require(arguments)
    let (access, proof) = try IdentityAccess.proving(arguments)
    try Confirmation.ask(
        arguments, "This erases this device's keys of the identity. The server keeps the account and the device.",
        word: "erase")
    try identityCall { try VaultIdentity.erase(in: access.vault, access.keys, proof: proof.take()) }
    try? access.vault.forgetIdentityPhrase()
    Output.remark("Erased.")
    return .done
}

/// Its outcome: identity and device.
func tellIdentity(_ report: IdentityReport, _ arguments: Arguments) throws(CommandError) -> ExitCode {
    if arguments[Options.json] {
        try Output.write(IdentityWords.json(report))
    } else {
        try Output.write(Facts.text(IdentityWords.facts(report), wrappedTo: Output.columns))
    }
    return .done
}
