internal import Holdfast

extension Command {
    static let recover = Command(
        "recover", synonyms: ["reset"], summary: "set a new passcode with the recovery phrase",
        details: [
            "Opens the vault with its recovery phrase, sets a new passcode, and gives all attempts back. The phrase stays "
                + "the same. It is the phrase of the vault, not that of an identity.",
            "Where the TPM or the keyring holds shares that were made for another folder, say whether this folder is the "
                + "vault itself (--claim-hardware) or a copy of it (--leave-hardware): see holdfast hardware claim --help.",
        ],
        options: [
            Options.claimHardware.option, Options.leaveHardware.option, Options.home.option,
            Options.phraseDescriptor.option,
            Options.newPasscodeDescriptor.option,
        ],
        run: recoverVault)
}

private func recoverVault(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let input = SecretInput(arguments)
    try input.requirePhraseSource()
    try input.requirePasscodeSource()
    let decision = try hardwareDecision(arguments)
    let vault = try Unlocking.find(arguments)
    if decision == nil, vault.leavesHardware { throw .recoveryUndecided }
    try Unlocking.refuseWithoutPhrase(vault)
    let phrase = try input.phrase()
    try Unlocking.refuseIdentityPhrase(phrase, vault)
    let passcode = try input.newPasscode()
    let recovery = try PassingNote.show("Recovering ...") { () throws(CommandError) in
        do throws(VaultError) {
            return try vault.recover(phrase: phrase, newPasscode: passcode, hardware: decision)
        } catch { throw error.code == .hardwareUnclaimed ? .recoveryUndecided : CommandError(error) }
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

private func hardwareDecision(_ arguments: Arguments) throws(CommandError) -> HardwareDecision? {
    switch (arguments[Options.claimHardware], arguments[Options.leaveHardware]) {
    case (false, false): return nil
    case (true, false): return .claim
    case (false, true): return .leave
    case (true, true): throw .usage("the folder is the vault or a copy: give one of the two options")
    }
}

extension CommandError {
    fileprivate static let recoveryUndecided = CommandError.failure(
        "hardwareUnclaimed",
        "the TPM or keyring holds shares for this vault that were made for another folder; nothing was changed. Add "
            + "--claim-hardware if this folder is the vault itself, --leave-hardware if it is a copy (a backup, or restored "
            + "from one)")
}
