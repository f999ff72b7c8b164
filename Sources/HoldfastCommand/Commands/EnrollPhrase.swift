internal import CommandLineArguments
internal import Holdfast

extension Command {
    static let enrollPhrase = Command(
        "enroll", "phrase", synonyms: ["recovery"], summary: "issue a new recovery phrase for the vault",
        details: [
            "Use this if you have lost the sheet with the phrase, or removed the phrase. The new phrase is shown on "
                + "the terminal or written to --phrase-out-fd. It is in effect when the command ends.",
            "The vault's keys stay the same, so the old phrase still opens old copies of the vault. To prevent that, "
                + "use holdfast passcode change --rekey.",
            "A vault that opens without asking stays as it is, and is no longer lost with this device.",
        ],
        example: "holdfast enroll phrase",
        options: [Options.home.option, Options.passcodeDescriptor.option, Options.phraseOutDescriptor.option],
        run: issuePhrase)
}

private func issuePhrase(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    if let vault = try Unlocking.openWithoutAsking(arguments) { return try issuePhrase(arguments, atDevice: vault) }
    let input = SecretInput(arguments)
    try input.requirePasscodeSource()
    var delivery = try PhraseDelivery(arguments)
    let vault = try Unlocking.find(arguments)
    delivery.replacesOne = try Unlocking.refuseChangeEarly(vault).slots.contains(.recoveryPhrase)
    let passcode = try Unlocking.checkedPasscode(input, vault, evenOfDescriptor: true)
    let phrase = try newPhrase(delivery)
    try PassingNote.show("Storing the new phrase ...") { () throws(CommandError) in
        try vaultCall { try vault.enrollRecoveryPhrase(phrase, passcode: passcode, spending: vault.burnAttempt()) }
    }
    Output.remark(
        "The new recovery phrase is now in effect. The old one opens old copies only (see passcode change --rekey).")
    return .done
}

/// For a vault that opens without asking: its level stays, and it is no longer lost with this device.
private func issuePhrase(_ arguments: Arguments, atDevice vault: Vault) throws(CommandError) -> ExitCode {
    try vaultCall { try vault.requireClaimedHardware() }
    var delivery = try PhraseDelivery(arguments)
    delivery.replacesOne = try vaultCall { try vault.status() }.slots.contains(.recoveryPhrase)
    let phrase = try newPhrase(delivery)
    try vaultCall {
        try vault.enrollRecoveryPhrase(phrase, proving: vault.proveNobody(), canAskOwner: false)
    }
    Output.remark(
        "The new recovery phrase is now in effect. The vault still opens without asking, and is no longer lost with this device."
    )
    return .done
}

/// A new phrase, handed over. One that will not count must not be shown: the passcode is checked before.
func newPhrase(_ delivery: PhraseDelivery) throws(CommandError) -> RecoveryPhrase {
    let phrase = try vaultCall { try Vault.newRecoveryPhrase() }
    try delivery.deliverConfirmed(phrase, else: "nothing was changed")
    return phrase
}

/// Removes the phrase, if the user insists.
func removePhrase(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let input = SecretInput(arguments)
    try input.requirePasscodeSource()
    let vault = try Unlocking.find(arguments)
    let status = try vaultCall { try vault.status() }
    guard status.slots.contains(.recoveryPhrase) else {
        throw .failure(.notEnrolled, "this vault has no recovery phrase; nothing was changed")
    }
    guard arguments[Options.insist] else {
        let loss = status.hasHardwareShare ? ", its attempts or this machine's TPM" : " or its attempts"
        throw .failure(
            .lastWayIn,
            "without the phrase, losing the passcode\(loss) means losing everything in the vault; use --insist to remove "
                + "it anyway. Nothing was changed")
    }
    try Unlocking.refuseChangeEarly(vault, status)
    try Unlocking.withPasscode(input, vault, status, note: "Removing the recovery phrase ...") {
        passcode throws(CommandError) in
        try vaultCall {
            try vault.removeRecoveryPhrase(passcode: passcode, spending: vault.burnAttempt(), insisting: true)
        }
    }
    try finishRekey(vault)
    if status.hasPIN { Output.note("NOTE: the PIN was removed; set another one with holdfast enroll pin") }
    Output.remark(
        "Only the passcode is left now, and everything has new keys. Issue a new recovery phrase with holdfast enroll phrase."
    )
    return .done
}
