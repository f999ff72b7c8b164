internal import Holdfast

extension Command {
    static let enrollPhrase = Command(
        "enroll", "phrase", synonyms: ["recovery"], summary: "issue a new recovery phrase of the vault",
        details: [
            "For a sheet that is lost, or a vault whose phrase was removed. The new phrase is shown on the terminal or "
                + "written to --phrase-out-fd, and counts when the command has ended.",
            "The keys stay: an old copy of the vault still opens with the old phrase. holdfast passcode change --rekey "
                + "ends that.",
        ],
        options: [Options.home.option, Options.passcodeDescriptor.option, Options.phraseOutDescriptor.option],
        run: issuePhrase)
}

private func issuePhrase(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let input = SecretInput(arguments)
    try input.requirePasscodeSource()
    let delivery = try PhraseDelivery(arguments)
    let vault = try Unlocking.find(arguments)
    try Unlocking.refuseChangeEarly(vault)
    let passcode = try input.passcode()
    let phrase = try newPhrase(delivery, vault, passcode)
    try PassingNote.show("Writing the new way in ...") { () throws(CommandError) in
        try vaultCall { try vault.enrollRecoveryPhrase(phrase, passcode: passcode, spending: vault.burnAttempt()) }
    }
    Output.remark("the new recovery phrase counts from now on; the old one opens only old copies (--rekey ends that)")
    return .done
}

/// A new phrase, handed over. One that will not count must not be shown, so the passcode is checked before.
func newPhrase(
    _ delivery: PhraseDelivery, _ vault: Vault, _ passcode: borrowing SecretBytes
) throws(CommandError) -> RecoveryPhrase {
    try PassingNote.show("Checking the passcode ...") { () throws(CommandError) in
        try vaultCall { try vault.verify(passcode: passcode, spending: vault.burnAttempt()) }
    }
    let phrase = try vaultCall { try Vault.newRecoveryPhrase() }
    try delivery.deliver(phrase)
    return phrase
}

/// Takes the phrase away, for who insists.
func removePhrase(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let input = SecretInput(arguments)
    try input.requirePasscodeSource()
    let vault = try Unlocking.find(arguments)
    let status = try vaultCall { try vault.status() }
    guard status.slots.contains(.recoveryPhrase) else {
        throw .failure("notEnrolled", "this vault has no recovery phrase; nothing was changed")
    }
    guard arguments[Options.insist] else {
        let loss = status.hasHardwareShare ? ", its attempts or this machine's TPM" : " or its attempts"
        throw .failure(
            "lastWayIn",
            "without the phrase everything in the vault is lost with its passcode\(loss); --insist removes it all the "
                + "same. Nothing was changed")
    }
    try Unlocking.refuseChangeEarly(vault)
    let passcode = try input.passcode()
    try PassingNote.show("Removing the recovery phrase ...") { () throws(CommandError) in
        try vaultCall {
            try vault.removeRecoveryPhrase(passcode: passcode, spending: vault.burnAttempt(), insisting: true)
        }
    }
    Output.remark("the passcode is the only lasting way in now; holdfast enroll phrase issues a new recovery phrase")
    return .done
}
