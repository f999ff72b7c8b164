internal import CommandLineArguments
internal import Holdfast

extension Command {
    static let recover = Command(
        "recover", synonyms: ["reset"], summary: "set a new passcode with the recovery phrase",
        details: [
            "Opens the vault with its recovery phrase, sets a new passcode, and resets the attempts. The phrase stays "
                + "the same. Use the phrase of the vault, not that of an identity. A passcode that is guessed at once is refused; "
                + "--weak insists on it.",
            "A vault that opens without asking asks for the passcode from then on: this is also the way back where the device "
                + "no longer has its key.",
            "If the TPM or the keyring keeps keys that were made for another folder, say whether this folder is the "
                + "vault itself (--claim-hardware) or a copy of it (--leave-hardware): see holdfast hardware claim "
                + "--help.",
        ],
        example: "holdfast recover",
        options: [
            Options.claimHardware.option, Options.leaveHardware.option, Options.weak.option, Options.home.option,
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
    try vaultCall { try vault.check(phrase: phrase) }
    let passcode = try input.newPasscode(takingWeak: arguments[Options.weak])
    let recovery = try PassingNote.show("Recovering ...") { () throws(CommandError) in
        do throws(VaultError) {
            return try vault.recover(phrase: phrase, newPasscode: passcode, hardware: decision)
        } catch { throw error.code == .hardwareUnclaimed ? .recoveryUndecided : CommandError(error) }
    }
    if recovery.headerWasAltered {
        Output.note(
            "WARNING: the vault's header had been changed by another program. The policy was reset to the default, "
                + "and other unlock methods were removed; run holdfast verify")
    }
    if recovery.hardwareWasDropped {
        Output.note(
            "NOTE: the passcode was under a TPM that did not respond; it no longer needs one (see holdfast enroll tpm)")
    }
    if recovery.pinWasRemoved { Output.note("NOTE: the PIN was removed; set another one with holdfast enroll pin") }
    if recovery.asksNow {
        try finishRekey(vault)
        Output.remark("The vault now asks for the passcode. The device's key was removed.")
    }
    Output.remark(
        "The new passcode is now in effect. The recovery phrase is unchanged. Earlier backups still open with the passcode of their day."
    )
    return .done
}

private func hardwareDecision(_ arguments: Arguments) throws(CommandError) -> HardwareDecision? {
    switch (arguments[Options.claimHardware], arguments[Options.leaveHardware]) {
    case (false, false): return nil
    case (true, false): return .claim
    case (false, true): return .leave
    case (true, true): throw .usage("use only one of --claim-hardware and --leave-hardware")
    }
}

extension CommandError {
    fileprivate static let recoveryUndecided = CommandError.failure(
        .hardwareUnclaimed,
        "the TPM or keyring holds keys for this vault that were made for another folder; nothing was changed. Add "
            + "--claim-hardware if this folder is the vault itself, --leave-hardware if it is a copy (a backup, or restored "
            + "from one)")
}
