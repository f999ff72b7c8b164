internal import Holdfast

extension Command {
    static let passcodeChange = Command(
        "passcode", "change", synonyms: ["set"], summary: "change the passcode",
        details: [
            "Asks for the passcode and then for the new one. The keys stay: an old copy of the vault still opens with the "
                + "old passcode.",
            "--rekey ends that: the vault gets new keys and all records move to them, so that an old copy of the keys "
                + "opens nothing that is in the vault from then on. A new recovery phrase is issued first and shown on "
                + "the terminal or written to --phrase-out-fd; --phrase or --phrase-fd keeps the present one, which must "
                + "then be entered. When one descriptor is named for several secrets their order is: passcode, new "
                + "passcode, phrase. An interrupted move is finished by holdfast verify --clean.",
        ],
        options: [
            Options.rekey.option, Options.home.option, Options.passcodesDescriptor.option, Options.phrase.option,
            Options.phraseDescriptor.option, Options.phraseOutDescriptor.option,
        ],
        run: changePasscode)
}

private func changePasscode(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let input = SecretInput(arguments)
    if arguments[Options.rekey] { return try rekey(arguments, input) }
    for option in [Options.phrase.option, Options.phraseDescriptor.option, Options.phraseOutDescriptor.option] {
        guard !arguments.contains(option) else { throw .usage("\(option.spelled) goes with --rekey only") }
    }
    try input.requirePasscodeSource()
    let vault = try Unlocking.find(arguments)
    try Unlocking.refuseChangeEarly(vault)
    let current = try input.passcode("Passcode as it is now: ")
    let new = try input.newPasscode()
    guard !new.isEqual(to: current) else {
        throw .failure("samePasscode", "the new passcode is the old one; nothing was changed")
    }
    try PassingNote.show("Changing the passcode ...") { () throws(CommandError) in
        try vaultCall { try vault.changePasscode(from: current, spending: vault.burnAttempt(), to: new) }
    }
    Output.remark("the passcode is changed; old copies of the vault still open with the old one (--rekey ends that)")
    return .done
}

private func rekey(_ arguments: Arguments, _ input: SecretInput) throws(CommandError) -> ExitCode {
    let keepsPhrase = Unlocking.usesPhrase(arguments)
    guard !keepsPhrase || arguments[Options.phraseOutDescriptor] == nil else {
        throw .usage(
            "the phrase is kept or a new one is issued: --phrase-out-fd does not go with --phrase or --phrase-fd")
    }
    try input.requirePasscodeSource()
    if keepsPhrase { try input.requirePhraseSource() }
    let delivery = try keepsPhrase ? nil : PhraseDelivery(arguments)
    let vault = try Unlocking.find(arguments)
    try Unlocking.refuseChangeEarly(vault)
    let current = try input.passcode("Passcode as it is now: ")
    let new = try input.newPasscode()
    let phrase = try keptOrNewPhrase(input, delivery, vault, current)
    let hadPIN = try vaultCall { try vault.status() }.hasPIN
    try PassingNote.show("Making new keys ...") { () throws(CommandError) in
        try vaultCall {
            try vault.rekey(
                passcode: current, spending: vault.burnAttempt(), newPasscode: new, phrase: phrase,
                isNewPhrase: !keepsPhrase)
        }
    }
    if !keepsPhrase { Output.remark("the new recovery phrase counts from now on; the old one opens nothing any more") }
    if hadPIN { Output.note("NOTE: the PIN is gone; holdfast enroll pin sets another one") }
    try finishRekey(vault)
    Output.remark("the passcode is changed and everything is under new keys")
    return .done
}

/// The present phrase, entered, or a new one, handed over.
private func keptOrNewPhrase(
    _ input: SecretInput, _ delivery: PhraseDelivery?, _ vault: Vault, _ current: borrowing SecretBytes
) throws(CommandError) -> RecoveryPhrase {
    guard let delivery else { return try input.phrase() }
    return try newPhrase(delivery, vault, current)
}

/// Moves what is left under older keys.
func finishRekey(_ vault: Vault) throws(CommandError) {
    try Progress.show("Moving records to the new keys") { progress throws(CommandError) in
        try vaultCall { try vault.finishRekey { done, total in progress.update(done, of: total) } }
    }
}
