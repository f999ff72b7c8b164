internal import BetterAuth
internal import BetterAuthMessages
internal import CommandLineArguments
internal import Holdfast

extension Command {
    static let identityDrill = Command(
        "identity", "drill", summary: "check that you still have the identity's recovery phrase",
        details: [
            "Asks for three of its words, or for all of them with --full, and compares them with what was kept for "
                + "this purpose. No server is asked, nothing is shown, and the clipboard is not used. A drill is due "
                + "after 7 days, then after 30 and 90, and then every 180; holdfast identity status reminds you.",
            "If a drill fails, replace the phrase: holdfast identity change-recovery.",
        ],
        example: "holdfast identity drill",
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
            .noPhrase,
            "this device was linked and has never had the recovery phrase; run the drill on the device that created it")
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
            .refused, code: .drillFailed,
            "this is not the identity's recovery phrase; find the right sheet, or make a new phrase now "
                + "(holdfast identity change-recovery)")
    }
    Output.remark("Correct. You still have the phrase.")
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
