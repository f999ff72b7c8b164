internal import CommandLineArguments
internal import DeviceOwner
internal import Holdfast

extension Command {
    static let enrollTPM = Command(
        "enroll", "tpm", synonyms: ["tpm2"], summary: "let this machine's TPM count wrong passcodes",
        details: [
            "The TPM then keeps a part of the key that the passcode needs, and counts wrong passcodes itself. A "
                + "copy of the vault cannot be guessed on another machine, and restoring old files does not restore attempts.",
            "The limit is then final, whether self-destruct is on or off. After it, on another machine, or when the "
                + "TPM is cleared, only the recovery phrase opens the vault. You must therefore enter the phrase now. "
                + "With --insist it is not asked for; without a recovery phrase, losing the TPM means losing the "
                + "vault.",
            "The TPM is that of the kernel's resource manager (/dev/tpmrm0), or the one that $HOLDFAST_TPM names in "
                + "the notation of tpm2-tss.",
        ],
        example: "holdfast enroll tpm",
        options: [
            Options.insist.option, Options.home.option, Options.passcodeDescriptor.option,
            Options.phraseDescriptor.option,
        ],
        run: enroll)

    static let openWithoutAsking = Command(
        "open-without-asking", "on", summary: "let this device open the vault without asking",
        details: [
            "A new key is kept in this machine's TPM, or in your session keyring, and every command "
                + "opens the vault without asking. The vault gets new keys; its passcode and recovery phrase no longer "
                + "open it. Self-destruct must be off."
        ],
        example: "holdfast open-without-asking on",
        options: [Options.home.option, Options.passcodeDescriptor.option],
        run: addDeviceSlot)

    static let askAgain = Command(
        "open-without-asking", "off", summary: "give a vault that opens without asking a passcode",
        details: [
            "You choose a passcode, are shown a recovery phrase, and the vault gets new keys. Old copies of it open nothing "
                + "that is written later."
        ],
        example: "holdfast open-without-asking off",
        options: [
            Options.weak.option, Options.home.option, Options.passcodeDescriptor.option,
            Options.phraseOutDescriptor.option,
        ],
        run: askPasscodeAgain)

    static let enrollRemove = Command(
        "enroll", "remove", synonyms: ["delete"], summary: "remove a way to unlock the vault",
        details: [
            "tpm: the passcode no longer needs the TPM and opens the vault on any machine. pin: the PIN no longer "
                + "works. fingerprint, account: the fingerprint or the account password no longer unlocks the vault. If it was "
                + "kept on disk, the vault gets new keys: enter the recovery phrase to keep it, or use --insist to lose it. A "
                + "PIN is removed.",
            "phrase: only the passcode is left, and the vault gets new keys. If you forget it, use up its attempts, or lose "
                + "the TPM that it needs, everything in the vault is lost. A PIN is removed. This requires --insist.",
        ],
        example: "holdfast enroll remove pin",
        places: [
            Place(
                name: "METHOD", kind: .word(["tpm", "pin", "fingerprint", "account", "phrase"]),
                help: "What is removed.")
        ],
        options: [
            Options.insist.option, Options.home.option, Options.passcodeDescriptor.option,
            Options.phraseDescriptor.option,
        ],
        run: removeMethod)

    static let enrollFingerprint = Command(
        "enroll", "fingerprint", synonyms: ["finger", "biometrics"], summary: "unlock with your fingerprint",
        details: [
            "After you have entered the passcode once, the agent asks the fingerprint sensor first, for three days. "
                + "Half of the key is only in the agent's memory, the other half in the TPM, the session keyring, or "
                + "a file.",
            "A fingerprint proves presence only. The passcode is required after a restart, after five samples that "
                + "did not match, and when fingers were added or removed. holdfast status --long shows which "
                + "method is used now.",
            "With --on-disk both halves are kept on disk, so that the fingerprint also works after a restart. Any "
                + "program you run that can use the TPM or the keyring can then open the vault without your finger. "
                + "Use it only where presence is enough.",
        ],
        example: "holdfast enroll fingerprint",
        options: [
            Options.keepsOnDisk.option, Options.keep.option, Options.home.option, Options.passcodeDescriptor.option,
        ],
        run: { arguments throws(CommandError) in try enrollOwner(.biometrics, arguments) })

    static let enrollAccount = Command(
        "enroll", "account", synonyms: ["pam", "password"], summary: "unlock with your account password",
        details: [
            "Like enroll fingerprint, but with your account password. It is checked by PAM with the service "
                + "\"holdfast\" (/etc/pam.d/holdfast)."
        ],
        example: "holdfast enroll account",
        options: [
            Options.keepsOnDisk.option, Options.keep.option, Options.home.option, Options.passcodeDescriptor.option,
        ],
        run: { arguments throws(CommandError) in try enrollOwner(.devicePasscode, arguments) })

    static let enrollDevice = enrollAccount.earlier("enroll", "device", successor: "holdfast enroll account")
}

private func enroll(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let input = SecretInput(arguments)
    let insists = arguments[Options.insist]
    guard !insists || arguments[Options.phraseDescriptor] == nil else {
        throw .usage("--phrase-fd cannot be combined with --insist, which does not use the phrase")
    }
    try input.requirePasscodeSource()
    if !insists { try input.requirePhraseSource() }
    let vault = try Unlocking.find(arguments)
    let before = try Unlocking.refuseChangeEarly(vault)
    if !insists { try requirePhrase(before) }
    try vaultCall { try vault.requireChip() }
    if insists {
        try Unlocking.withPasscode(input, vault, note: "Sealing a key in the TPM ...") {
            passcode throws(CommandError) in
            try vaultCall {
                try vault.enrollHardware(passcode: passcode, spending: vault.burnAttempt(), insisting: true)
            }
        }
    } else {
        let passcode = try Unlocking.checkedPasscode(input, vault)
        let phrase = try input.phrase()
        try PassingNote.show("Sealing a key in the TPM ...") { () throws(CommandError) in
            try vaultCall {
                try vault.enrollHardware(passcode: passcode, spending: vault.burnAttempt(), phrase: phrase)
            }
        }
    }
    let status = try vaultCall { try vault.status() }
    Output.remark(
        "The TPM now counts wrong passcodes. After \(status.policy.attemptLimit), \(status.restWithoutPasscode).")
    return .done
}

/// Checked before the user enters a passcode.
private func requirePhrase(_ status: Vault.Status) throws(CommandError) {
    guard status.slots.contains(.recoveryPhrase) else {
        throw .failure(
            .noRecoveryPhrase,
            "this vault has no recovery phrase, so losing the TPM would mean losing the vault. Issue one with "
                + "holdfast enroll phrase, or proceed with --insist. Nothing was changed")
    }
}

/// Adds an owner step to the policy. The step must be available now, because a step that cannot be used would be a
/// surprise.
private func enrollOwner(_ step: OwnerStep, _ arguments: Arguments) throws(CommandError) -> ExitCode {
    let input = SecretInput(arguments)
    try input.requirePasscodeSource()
    let vault = try Unlocking.find(arguments)
    try Unlocking.refuseChangeEarly(vault)
    if let why = OwnerAuthenticator.standard.capability(of: step).why {
        throw .failure(.ownerUnavailable, "\(why); holdfast doctor says what to do. Nothing was changed")
    }
    let passcode = try Unlocking.checkedPasscode(input, vault)
    let keeps = arguments[Options.keepsOnDisk] || arguments[Options.keep]
    try changeRules(passcode, vault) { policy throws(VaultError) in
        try policy.accept(step, keeps: keeps)
    }
    guard keeps else {
        Output.remark("Enrolled. Unlock once with the passcode; after that it works for three days.")
        return .done
    }
    try keep(step, passcode, vault)
    Output.remark("Enrolled and kept on disk. It works after restarts until you remove it, and proves presence only.")
    return .done
}

private func keep(_ step: OwnerStep, _ passcode: borrowing SecretBytes, _ vault: Vault) throws(CommandError) {
    let enrollment = step == .biometrics ? OwnerAuthenticator.standard.enrollment(of: step) : nil
    try PassingNote.show("Storing the key on disk ...") { () throws(CommandError) in
        try vaultCall {
            let keeping = try Vault(at: vault.status().path, settings: .app)
            try keeping.keepOwner(passcode: passcode, spending: keeping.burnAttempt(), enrollment: enrollment)
        }
    }
}

/// New keys, with the phrase where it was entered.
private func dropKept(
    _ passcode: borrowing SecretBytes, _ phrase: consuming RecoveryPhrase?, _ vault: Vault
) throws(CommandError) {
    let status = try vaultCall { try vault.status() }
    let keeping = try vaultCall { try Vault(at: status.path, settings: .app) }
    var typed = Optional(consume phrase)
    try PassingNote.show("Making new keys ...") { () throws(CommandError) in
        try vaultCall {
            let attempt = try keeping.burnAttempt()
            try keeping.dropKeptOwner(
                passcode: passcode, spending: attempt, phrase: typed.take() ?? nil, insisting: true)
        }
    }
    try finishRekey(keeping)
    if status.hasPIN { Output.note("NOTE: the PIN was removed; set another one with holdfast enroll pin") }
}

private func changeRules(
    _ passcode: borrowing SecretBytes, _ vault: Vault,
    _ change: @Sendable (inout VaultPolicy) throws(VaultError) -> Void
) throws(CommandError) {
    try PassingNote.show("Changing the policy ...") { () throws(CommandError) in
        _ = try vaultCall { try vault.changePolicy(passcode: passcode, spending: vault.burnAttempt(), change) }
    }
}

/// `phrase`, `fingerprint`, `account`, `pin` or `tpm`, and what `slots remove` calls them.
func removeMethod(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    guard !["tpm", "pin"].contains(arguments[place: 0]) || !arguments[Options.insist] else {
        throw .usage("\(Options.insist.option.spelled) is only for what takes the phrase away")
    }
    let step: OwnerStep
    switch arguments[place: 0] {
    case "fingerprint": step = .biometrics
    case "account", "device": step = .devicePasscode
    case "phrase", SlotKind.secret(.recoveryPhrase).name: return try removePhrase(arguments)
    case "pin": return try removePIN(arguments)
    default: return try removeFromHardware(arguments)
    }
    let input = SecretInput(arguments)
    try input.requirePasscodeSource()
    let vault = try Unlocking.find(arguments)
    let status = try vaultCall { try vault.status() }
    guard status.policy.asks(for: step) else {
        throw .failure(.notEnrolled, "it is not enrolled; nothing was changed")
    }
    try Unlocking.refuseChangeEarly(vault, status)
    let isKept = vault.keepsOwner
    let asksPhrase = isKept && !arguments[Options.insist] && status.hasRecoveryPhrase
    if asksPhrase { try input.requirePhraseSource() }
    let passcode = try Unlocking.checkedPasscode(input, vault)
    if isKept {
        if asksPhrase {
            Output.note("The vault gets new keys. Enter its recovery phrase to keep it (--insist loses it).")
            let phrase = try input.phrase()
            try vaultCall { try vault.check(phrase: phrase) }
            try dropKept(passcode, phrase, vault)
        } else {
            try dropKept(passcode, nil, vault)
        }
    }
    try changeRules(passcode, vault) { policy throws(VaultError) in
        try policy.refuse(step)
    }
    Output.remark("Removed. It no longer unlocks the vault.")
    return .done
}

private func removeFromHardware(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let input = SecretInput(arguments)
    try input.requirePasscodeSource()
    let vault = try Unlocking.find(arguments)
    let status = try vaultCall { try vault.status() }
    guard status.hasHardwareShare else {
        throw .failure(.notEnrolled, "the passcode is not under a TPM; nothing was changed")
    }
    try Unlocking.refuseChangeEarly(vault, status)
    try Unlocking.withPasscode(input, vault, status, note: "Taking the passcode out of the TPM ...") {
        passcode throws(CommandError) in
        try vaultCall { try vault.removeHardware(passcode: passcode, spending: vault.burnAttempt()) }
    }
    Output.remark("The passcode no longer needs the TPM. Attempts are now counted in the vault's files.")
    return .done
}

/// Of a vault that opens without asking; of another one nothing is changed.
private func askPasscodeAgain(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    guard try Unlocking.asksNobody(Unlocking.find(arguments)) else {
        throw .failure(.notEnrolled, "the vault does not open without asking; nothing was changed")
    }
    return try removeDeviceSlot(arguments)
}
