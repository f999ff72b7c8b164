internal import AgentMessages
internal import BetterAuth
internal import BetterAuthMessages
internal import Holdfast

extension Place {
    fileprivate static let identity = Place(name: "IDENTITY", kind: .text, help: "The identity, 44 characters.")
}

extension Command {
    static let identityCreate = Command(
        "identity", "create", synonyms: ["init", "new"], summary: "make an identity with this device",
        details: [
            "Makes an account at a server that speaks Better Auth, with keys of this device that rest in its TPM or in the vault, and a "
                + "recovery phrase of 24 words. It is another phrase than the vault's: keep two sheets.",
            "Nothing is overwritten before the server agrees. Where it does not answer, the same command finishes later.",
        ],
        options: [Options.json.option, Options.recoveryOutDescriptor.option, Options.keys.option] + Options.identity,
        run: createIdentity)

    static let identityRecover = Command(
        "identity", "recover", summary: "take an identity back with its recovery phrase",
        details: [
            "Revokes every device of the identity and registers this one. The phrase is used up: a new one is made and "
                + "shown before anything is sent. The 23 words of the Better Auth example app are taken too.",
            "With --recovery-fd the phrase is one line there.",
        ],
        places: [.identity],
        options: [
            Options.json.option, Options.recoveryDescriptor.option, Options.recoveryOutDescriptor.option,
            Options.keys.option,
        ] + Options.identity, run: recoverIdentity)

    static let identityDelete = Command(
        "identity", "delete", summary: "end the identity's account, for all its devices",
        details: [
            "The server forgets the account and its devices for good; the identity can never be made again.",
            proofAdvice,
        ],
        options: [Options.yes.option] + Options.identityProved, run: deleteIdentity)

    static let identityRotate = Command(
        "identity", "rotate", summary: "bring this device's next key into use",
        details: ["The server has known the next key's hash since the last change; the key after it is made now."],
        options: Options.identity, run: rotateIdentity)

    static let identityChangeRecovery = Command(
        "identity", "change-recovery", summary: "replace the identity's recovery phrase",
        details: [
            "The new phrase is shown before it is sent. From then on the old one is worth nothing.",
            proofAdvice
                + " Where the phrase is shown on the terminal, it is asked for once more when the words are on paper.",
        ],
        options: [Options.recoveryOutDescriptor.option] + Options.identityProved, run: changeRecovery)

    static let identityErase = Command(
        "identity", "erase", summary: "forget the identity on this device",
        details: [
            "The keys are erased here; the server is told nothing and keeps the device. To leave in order, unlink the "
                + "device instead. Without another device only the recovery phrase leads back.",
            proofAdvice,
        ],
        options: [Options.yes.option] + Options.proving, run: eraseIdentity)

    /// For everything that only the owner may do.
    static let proofAdvice =
        "An unlocked agent is not enough: the vault's passcode is asked for, or with --phrase its recovery phrase, and it "
        + "holds for a minute."
}

private func createIdentity(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let delivery = try PhraseDelivery(identity: arguments)
    let access = try IdentityAccess(arguments)
    let client = try access.client()
    switch try access.credentials().state {
    case .ready: break
    case .unconfirmed:
        Output.note("an earlier creation was not answered; it is finished now, with its own recovery phrase")
        try access.run { try await client.settle() }
        return try tellIdentity(access.report(), arguments)
    case .linking, .created, .authenticated:
        throw CommandError(IdentityError.accountExists)
    }
    let recovery = try NewRecovery(delivery)
    let hash = recovery.hash
    let account = try access.run { try await client.createAccount(recovery: hash) }
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
    let account = try access.run {
        try await client.recoverAccount(identity, with: key, successor: hash)
    }
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
        arguments, "This ends the account of \(account.identity) for all its devices. It cannot be taken back.",
        word: "delete")
    try access.run { try await client.deleteAccount(proof: proof.take()) }
    access.log(.identity(.deleted, digest: account.identity.rawBytes))
    try? access.vault.forgetIdentityPhrase()
    Output.remark("the account is deleted")
    return .done
}

private func rotateIdentity(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    if try AgentAccess.identity(arguments, .rotate) == nil {
        let access = try IdentityAccess(arguments)
        let client = try access.client()
        try access.run { try await client.rotate() }
        if let account = try access.credentials().account {
            access.log(.identity(.rotated, digest: account.identity.rawBytes))
        }
    }
    Output.remark("the device has a new key")
    return .done
}

private func changeRecovery(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let delivery = try PhraseDelivery(identity: arguments)
    guard delivery.isShown else {
        let (access, proof) = try IdentityAccess.proving(arguments)
        try prepareChange(access)
        return try change(access, to: NewRecovery(delivery), proof)
    }
    // Nobody writes 24 words down within the minute of a proof: it is made when they are on paper.
    if let report = try AgentAccess.identity(arguments, .status), !report.isUnfinished {
        guard report.publicKey != nil else { throw CommandError(IdentityWords.noAccount) }
        let recovery = try NewRecovery(delivery)
        let (access, proof) = try IdentityAccess.proving(arguments)
        return try change(access, to: recovery, proof)
    }
    let access = try IdentityAccess(arguments)
    try prepareChange(access)
    let recovery = try NewRecovery(delivery)
    return try change(access, to: recovery, Unlocking.proveAgain(arguments, access.vault))
}

/// Before a phrase is shown that would be worth nothing: is there an account, and what became of earlier operations? One of
/// them may be a change of the phrase itself.
private func prepareChange(_ access: IdentityAccess) throws(CommandError) {
    guard try access.credentials().account != nil else { throw CommandError(IdentityWords.noAccount) }
    let client = try access.client()
    try access.run { try await client.settle() }
}

private func change(
    _ access: IdentityAccess, to recovery: consuming NewRecovery, _ proof: ProofCarrier
) throws(CommandError) -> ExitCode {
    let client = try access.client()
    let hash = recovery.hash
    try access.run { try await client.changeRecovery(to: hash, proof: proof.take()) }
    recovery.remember(access)
    Output.remark("the new recovery phrase counts; destroy the sheet of the old one")
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
    Output.remark("erased")
    return .done
}

/// What became of it: identity and device.
func tellIdentity(_ report: IdentityReport, _ arguments: Arguments) throws(CommandError) -> ExitCode {
    if arguments[Options.json] {
        try Output.write(IdentityWords.json(report))
    } else {
        try Output.write(Facts.text(IdentityWords.facts(report)))
    }
    return .done
}
