internal import BetterAuth
internal import BetterAuthMessages
internal import Holdfast

extension Command {
    static let identityDrill = Command(
        "identity", "drill", summary: "prove that you still have the identity's recovery phrase",
        details: [
            "Asks for three of its words, or with --full for all of it, and compares with what was kept for that. No "
                + "server is asked, nothing is shown, and no clipboard is used. Due after 7 days, then 30, 90, and every "
                + "180; holdfast identity status reminds of it.",
            "A drill that fails is the moment to change the phrase: holdfast identity change-recovery.",
        ],
        options: [Options.full.option, Options.recoveryDescriptor.option, Options.json.option] + Options.unlocking,
        run: drill)
}

private func drill(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let input = SecretInput(arguments)
    try input.requireIdentityPhraseSource()
    let access = try IdentityAccess(arguments)
    var credentials = try access.credentials()
    guard let account = credentials.account else { throw CommandError(IdentityWords.noAccount) }
    guard !account.recoveryHashes.isEmpty else {
        throw .failure(
            "noPhrase",
            "this device was linked and has never seen the recovery phrase; drill on the device that made it")
    }
    let spot = arguments[Options.full] ? nil : credentials.drills.spot
    let isPassed: Bool
    if let spot {
        isPassed = try spotCheck(spot, input)
    } else {
        isPassed = try fullCheck(account, input, access.vault)
    }
    credentials.drills.note(passed: isPassed, .now)
    let drills = credentials.drills
    try identityCall { try VaultIdentity.setDrills(drills, in: access.vault) }
    access.log(.drill(passed: isPassed))
    if arguments[Options.json] {
        try Output.write(
            .object([
                "passed": .boolean(isPassed),
                "due": credentials.drills.due.map { .text($0.description) } ?? .null,
            ]))
    }
    guard isPassed else {
        throw CommandError(
            .refused, code: "drillFailed",
            "this is not the identity's recovery phrase; look for the right sheet, or make a new phrase now "
                + "(holdfast identity change-recovery)")
    }
    Output.remark("passed")
    return .done
}

private func spotCheck(_ spot: SpotCheck, _ input: SecretInput) throws(CommandError) -> Bool {
    let places = spot.positions.map { "\($0)" }.joined(separator: ", ")
    let words = try input.identityWords("Words \(places) of the IDENTITY's recovery phrase (not shown): ")
    return try identityCall { try spot.isMet(by: words) }
}

private func fullCheck(
    _ account: Account, _ input: SecretInput, _ vault: Vault
) throws(CommandError) -> Bool {
    let phrase = try input.identityPhrase()
    try IdentityWords.refuseVaultPhrase(phrase, vault)
    let key = try NewRecovery.key(of: phrase)
    return account.recoveryHashes.contains(Derivations.standard.recoveryHash(of: key.publicKey))
}
