internal import DeviceOwner
internal import Holdfast

extension Command {
    static let enrollTPM = Command(
        "enroll", "tpm", synonyms: ["tpm2"], summary: "put the passcode under this machine's TPM",
        details: [
            "The TPM then holds a share without which the passcode opens nothing, and counts wrong passcodes itself: a copy "
                + "of the vault cannot be searched on another machine, and putting old files back gives no attempt back.",
            "The limit becomes final, with self-destruct on or off: after it, on another machine, and when the TPM is "
                + "cleared, only the recovery phrase opens the vault. It must therefore be entered now; with --insist it "
                + "is not asked for, and who has none loses the vault with the chip. The TPM is the one of the kernel's "
                + "resource manager (/dev/tpmrm0), or what $HOLDFAST_TPM names as the TSS does.",
        ],
        options: [
            Options.insist.option, Options.home.option, Options.passcodeDescriptor.option,
            Options.phraseDescriptor.option,
        ],
        run: enroll)

    static let slots = Command(
        "slots", "list", summary: "list what opens the vault",
        details: [
            "What each slot proves is said in one word: hardwareLimited, hardwareBound, keyBound, presence, none."
        ],
        options: [Options.home.option, Options.json.option], run: listSlots)

    static let removeSlot = Command(
        "slots", "remove", summary: "take away a way in: TPM, PIN, finger, account or recovery phrase",
        details: [
            "tpm: the passcode opens the vault by itself from then on, on any machine. pin: the PIN opens nothing any more. fingerprint, device: the vault's rules "
                + "do not take the owner's finger, or the account's password, any more.",
            "phrase: the passcode is the only lasting way in from then on. A forgotten passcode, used-up attempts, and the "
                + "loss of the TPM where the passcode is under one, are then the loss of everything: only with --insist.",
        ],
        places: [
            Place(
                name: "SLOT", kind: .word(["tpm", "pin", "fingerprint", "device", "phrase"]), help: "What is removed.")
        ],
        options: [Options.insist.option, Options.home.option, Options.passcodeDescriptor.option],
        run: removeSlotNamed)

    static let enrollFingerprint = Command(
        "enroll", "fingerprint", synonyms: ["finger", "biometrics"], summary: "let the owner's finger open the vault",
        details: [
            "The agent then asks the fingerprint sensor first, once the passcode was given to it and for three days. Half of "
                + "the key is in the agent's memory only, the other half in the TPM, the session's keyring, or a file.",
            "A finger proves presence and no more: it opens nothing after a restart, after five samples that did not match, "
                + "or when fingers were added or removed since. holdfast explain tells what is asked at any moment.",
            "With --keep the way in lies on the disk and survives restarts: a program of this user that talks to the TPM or "
                + "the keyring then needs no finger. Only for what presence is enough for.",
        ],
        options: [Options.keep.option, Options.home.option, Options.passcodeDescriptor.option],
        run: { arguments throws(CommandError) in try enrollOwner(.biometrics, arguments) })

    static let enrollDevice = Command(
        "enroll", "device", synonyms: ["account", "pam"], summary: "let the account's password open the vault",
        details: [
            "As enroll fingerprint, with the password of the user's account, by PAM's service \"holdfast\" "
                + "(/etc/pam.d/holdfast)."
        ],
        options: [Options.keep.option, Options.home.option, Options.passcodeDescriptor.option],
        run: { arguments throws(CommandError) in try enrollOwner(.devicePasscode, arguments) })
}

private func enroll(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let input = SecretInput(arguments)
    let insists = arguments[Options.insist]
    guard !insists || arguments[Options.phraseDescriptor] == nil else {
        throw .usage("--insist asks for no phrase: --phrase-fd does not go with it")
    }
    try input.requirePasscodeSource()
    if !insists { try input.requirePhraseSource() }
    let vault = try Unlocking.find(arguments)
    try Unlocking.refuseChangeEarly(vault)
    if !insists { try requirePhrase(vault) }
    let passcode = try input.passcode()
    if insists {
        try PassingNote.show("Sealing a share in the TPM ...") { () throws(CommandError) in
            try vaultCall {
                try vault.enrollHardware(passcode: passcode, spending: vault.burnAttempt(), insisting: true)
            }
        }
    } else {
        let phrase = try input.phrase()
        try PassingNote.show("Sealing a share in the TPM ...") { () throws(CommandError) in
            try vaultCall {
                try vault.enrollHardware(passcode: passcode, spending: vault.burnAttempt(), phrase: phrase)
            }
        }
    }
    let status = try vaultCall { try vault.status() }
    Output.remark(
        "the TPM counts from now on: after \(status.policy.attemptLimit) wrong passcodes \(status.restWithoutPasscode)")
    return .done
}

/// Before the owner types a passcode.
private func requirePhrase(_ vault: Vault) throws(CommandError) {
    guard try vaultCall({ try vault.status() }).slots.contains(.recoveryPhrase) else {
        throw .failure(
            "noRecoveryPhrase",
            "this vault has no recovery phrase, and would be lost with the chip; holdfast enroll phrase issues one, "
                + "--insist goes on without. Nothing was changed")
    }
}

/// Puts a step of the owner into the rules. What it needs must be there now: a rule that nothing can follow is a surprise.
private func enrollOwner(_ step: OwnerStep, _ arguments: Arguments) throws(CommandError) -> ExitCode {
    let input = SecretInput(arguments)
    try input.requirePasscodeSource()
    let vault = try Unlocking.find(arguments)
    try Unlocking.refuseChangeEarly(vault)
    if let why = OwnerAuthenticator.standard.capability(of: step).why {
        throw .failure("ownerUnavailable", "\(why); holdfast doctor tells what to do. Nothing was changed")
    }
    let passcode = try input.passcode()
    let keeps = arguments[Options.keep]
    try changeRules(passcode, vault) { policy throws(VaultError) in
        try policy.take(step, keeps: keeps)
    }
    guard keeps else {
        Output.remark("the rules take it from now on; unlock once with the passcode, and then for three days")
        return .done
    }
    try keep(step, passcode, vault)
    Output.remark("kept on the disk: it proves presence only, and survives restarts until slots remove")
    return .done
}

private func keep(_ step: OwnerStep, _ passcode: borrowing SecretBytes, _ vault: Vault) throws(CommandError) {
    let enrollment = step == .biometrics ? OwnerAuthenticator.standard.enrollment(of: step) : nil
    try PassingNote.show("Keeping the owner's way in ...") { () throws(CommandError) in
        try vaultCall {
            let keeping = try Vault(at: vault.status().path, settings: .app)
            try keeping.keepOwner(passcode: passcode, spending: keeping.burnAttempt(), enrollment: enrollment)
        }
    }
}

private func dropKept(_ passcode: borrowing SecretBytes, _ vault: Vault) throws(CommandError) {
    guard vault.keepsOwner else { return }
    try vaultCall {
        let keeping = try Vault(at: vault.status().path, settings: .app)
        try keeping.dropKeptOwner(passcode: passcode, spending: keeping.burnAttempt())
    }
}

private func changeRules(
    _ passcode: borrowing SecretBytes, _ vault: Vault,
    _ change: @Sendable (inout VaultPolicy) throws(VaultError) -> Void
) throws(CommandError) {
    try PassingNote.show("Changing the rules ...") { () throws(CommandError) in
        _ = try vaultCall { try vault.changePolicy(passcode: passcode, spending: vault.burnAttempt(), change) }
    }
}

private func removeSlotNamed(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    guard arguments[place: 0] == "phrase" || !arguments[Options.insist] else {
        throw .usage("\(Options.insist.option.spelled) goes with the phrase only")
    }
    let step: OwnerStep
    switch arguments[place: 0] {
    case "fingerprint": step = .biometrics
    case "device": step = .devicePasscode
    case "phrase": return try removePhrase(arguments)
    case "pin": return try removePIN(arguments)
    default: return try removeFromHardware(arguments)
    }
    let input = SecretInput(arguments)
    try input.requirePasscodeSource()
    let vault = try Unlocking.find(arguments)
    guard try vaultCall({ try vault.status() }).policy.asks(for: step) else {
        throw .failure("notEnrolled", "the vault's rules do not take it; nothing was changed")
    }
    try Unlocking.refuseChangeEarly(vault)
    let passcode = try input.passcode()
    try changeRules(passcode, vault) { policy throws(VaultError) in
        try policy.refuse(step)
    }
    try dropKept(passcode, vault)
    Output.remark("the rules do not take it any more")
    return .done
}

private func removeFromHardware(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let input = SecretInput(arguments)
    try input.requirePasscodeSource()
    let vault = try Unlocking.find(arguments)
    guard try vaultCall({ try vault.status() }).hasHardwareShare else {
        throw .failure("notEnrolled", "the passcode is not under a TPM; nothing was changed")
    }
    try Unlocking.refuseChangeEarly(vault)
    let passcode = try input.passcode()
    try PassingNote.show("Taking the passcode out of the TPM ...") { () throws(CommandError) in
        try vaultCall { try vault.removeHardware(passcode: passcode, spending: vault.burnAttempt()) }
    }
    Output.remark("the passcode opens the vault by itself now; the file tier counts attempts")
    return .done
}

private func listSlots(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let status = try vaultCall { try Unlocking.find(arguments).status() }
    if arguments[Options.json] {
        try Output.write(.object(["slots": .array(status.slots.map { $0.json(status) })]))
        return .done
    }
    var table = Table(["SLOT", "PROVES", "ATTEMPTS"])
    for slot in status.slots {
        table.append([slot.name, slot.proof(status), slot.isCounted ? "counted" : "not counted"])
    }
    try Output.write(table.text)
    return .done
}

extension SlotKind {
    fileprivate func proof(_ status: Vault.Status) -> String {
        switch self {
        case .secret(.passcode): status.hasHardwareShare ? "hardwareLimited" : "keyBound"
        case .secret(.recoveryPhrase), .unknown: "keyBound"
        case .secret(.pin): "hardwareLimited"
        case .deviceOwner: "presence"
        }
    }

    fileprivate func json(_ status: Vault.Status) -> JSON {
        .object([
            "kind": .text(name), "assurance": .text(proof(status)), "isCounted": .boolean(isCounted),
        ])
    }
}
