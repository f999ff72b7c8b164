internal import Holdfast

extension Command {
    static let recover = Command(
        "recover", synonyms: ["reset"], summary: "set a new passcode with the recovery phrase",
        details: [
            "Opens the vault with its recovery phrase, sets a new passcode, and gives all attempts back. The phrase stays "
                + "the same. It is the phrase of the vault, not that of an identity."
        ],
        options: [
            Options.home.option, Options.phraseDescriptor.option,
            Options.newPasscodeDescriptor.option,
        ],
        run: recoverVault)
}

private func recoverVault(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let input = SecretInput(arguments)
    try input.requirePhraseSource()
    try input.requirePasscodeSource()
    let vault = try Unlocking.find(arguments)
    try Unlocking.refuseWithoutPhrase(vault)
    let phrase = try input.phrase()
    try Unlocking.refuseIdentityPhrase(phrase, vault)
    let passcode = try input.newPasscode()
    let recovery = try PassingNote.show("Recovering ...") { () throws(CommandError) in
        try vaultCall { try vault.recover(phrase: phrase, newPasscode: passcode) }
    }
    if recovery.headerWasAltered {
        Output.note(
            "WARNING: something else than Holdfast had changed the vault's header. The rules are the standard ones again "
                + "and other ways to open the vault were removed; run holdfast verify")
    }
    if recovery.hardwareWasDropped {
        Output.note(
            "NOTE: the passcode was under a TPM that could not be asked; it is under none now (holdfast enroll tpm)")
    }
    if recovery.pinWasRemoved { Output.note("NOTE: the PIN is gone; holdfast enroll pin sets another one") }
    Output.remark("the new passcode opens the vault; the recovery phrase is unchanged")
    return .done
}
