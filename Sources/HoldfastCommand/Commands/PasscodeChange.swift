internal import CommandLineArguments
internal import Holdfast

extension Command {
    static let passcodeChange = Command(
        "passcode", "change", synonyms: ["set"], summary: "change the passcode",
        details: [
            "Asks for the current passcode and for the new one. The vault's keys stay the same, so an old copy of the "
                + "vault still opens with the old passcode. A passcode that is guessed at once is refused; --weak insists "
                + "on it. The PIN is refused too.",
            "With --rekey the vault gets new keys and all entries are moved to them, so that an old copy opens "
                + "nothing that is written later. A new recovery phrase is issued first, and shown on the terminal or "
                + "written to --phrase-out-fd. With --phrase or --phrase-fd you keep the current phrase, which you "
                + "must then enter. If one descriptor supplies several secrets, their order is: passcode, new "
                + "passcode, phrase. If it is interrupted, holdfast verify --clean finishes it.",
        ],
        example: "holdfast passcode change --rekey",
        options: [
            Options.rekey.option, Options.weak.option, Options.home.option, Options.passcodesDescriptor.option,
            Options.phrase.option,
            Options.phraseDescriptor.option, Options.phraseOutDescriptor.option,
        ],
        run: changePasscode)
}

private func changePasscode(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let input = SecretInput(arguments)
    if arguments[Options.rekey] { return try rekey(arguments, input) }
    for option in [Options.phrase.option, Options.phraseDescriptor.option, Options.phraseOutDescriptor.option] {
        guard !arguments.contains(option) else { throw .usage("\(option.spelled) requires --rekey") }
    }
    try input.requirePasscodeSource()
    let vault = try Unlocking.find(arguments)
    try Unlocking.refuseChangeEarly(vault)
    let current = try Unlocking.checkedPasscode(input, vault, prompt: "Current passcode: ")
    let new = try input.newPasscode(takingWeak: arguments[Options.weak])
    guard !new.isEqual(to: current) else {
        throw .failure(.samePasscode, "the new passcode is the same as the old one; nothing was changed")
    }
    try PassingNote.show("Changing the passcode ...") { () throws(CommandError) in
        try vaultCall { try vault.changePasscode(from: current, spending: vault.burnAttempt(), to: new) }
    }
    Output.remark("The passcode was changed. Old copies of the vault still open with the old one (see --rekey).")
    return .done
}

private func rekey(_ arguments: Arguments, _ input: SecretInput) throws(CommandError) -> ExitCode {
    let keepsPhrase = Unlocking.usesPhrase(arguments)
    guard !keepsPhrase || arguments[Options.phraseOutDescriptor] == nil else {
        throw .usage(
            "--phrase-out-fd issues a new phrase, so it cannot be combined with --phrase or --phrase-fd")
    }
    try input.requirePasscodeSource()
    if keepsPhrase { try input.requirePhraseSource() }
    let delivery = try keepsPhrase ? nil : PhraseDelivery(arguments)
    let vault = try Unlocking.find(arguments)
    try Unlocking.refuseChangeEarly(vault)
    // Of a descriptor too, where a phrase is shown: one that will not count must not be.
    let current = try Unlocking.checkedPasscode(
        input, vault, prompt: "Current passcode: ", evenOfDescriptor: delivery != nil)
    let new = try input.newPasscode(takingWeak: arguments[Options.weak])
    let phrase = if let delivery { try newPhrase(delivery) } else { try input.phrase() }
    let hadPIN = try vaultCall { try vault.status() }.hasPIN
    try PassingNote.show("Making new keys ...") { () throws(CommandError) in
        try vaultCall {
            try vault.rekey(
                passcode: current, spending: vault.burnAttempt(), newPasscode: new, phrase: phrase,
                isNewPhrase: !keepsPhrase)
        }
    }
    if !keepsPhrase { Output.remark("The new recovery phrase is now in effect. The old one no longer works.") }
    if hadPIN { Output.note("NOTE: the PIN was removed; set another one with holdfast enroll pin") }
    try finishRekey(vault)
    Output.remark("The passcode was changed, and everything has new keys.")
    return .done
}

/// Moves what is still under older keys.
func finishRekey(_ vault: Vault) throws(CommandError) {
    var misfits = 0
    try Progress.show("Moving entries to the new keys") { progress throws(CommandError) in
        misfits = try vaultCall { try vault.finishRekey { done, total in progress.update(done, of: total) } }
    }
    if misfits > 0 {
        Output.note(
            "WARNING: \(Format.count(misfits, "entry", "entries")) could not be read and did not move; holdfast verify shows them."
        )
    }
}

extension Command {
    static let passcodeCheck = Command(
        "passcode", "check", synonyms: ["test"], summary: "check the passcode",
        details: [
            "Says whether the passcode is correct and, if not, how many attempts are left. A wrong passcode is "
                + "counted as usual; the correct one resets the attempts."
        ],
        example: "holdfast passcode check",
        options: [Options.json.option, Options.home.option, Options.passcodeDescriptor.option], run: verifyPasscode)

    static let passcodeVerify = passcodeCheck.earlier(
        "passcode", "verify", successor: "holdfast passcode check")
}

private func verifyPasscode(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let input = SecretInput(arguments)
    try input.requirePasscodeSource()
    let vault = try Unlocking.find(arguments)
    let status = try Unlocking.refuseEarly(vault)
    try Unlocking.withPasscode(input, vault, status) { passcode throws(CommandError) in
        try vaultCall { try vault.verify(passcode: passcode, spending: vault.burnAttempt()) }
    }
    let remaining = try vaultCall { try vault.status() }.remainingAttempts
    if arguments[Options.json] {
        try Output.write(.object(["isCorrect": .boolean(true), "remainingAttempts": .integer(Int64(remaining))]))
    } else {
        try Output.write("the passcode is correct; \(Format.count(remaining, "attempt")) available\n")
    }
    return .done
}
