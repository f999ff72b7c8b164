internal import Holdfast

extension Command {
    static let enrollTPM = Command(
        "enroll", "tpm", synonyms: ["tpm2"], summary: "put the passcode under this machine's TPM",
        details: [
            "The TPM then holds a share without which the passcode opens nothing, and counts wrong passcodes itself: a copy "
                + "of the vault cannot be searched on another machine, and putting old files back gives no attempt back.",
            "The limit becomes final, with self-destruct on or off: after it, on another machine, and when the TPM is "
                + "cleared, only the recovery phrase opens the vault. It must therefore be entered now. The TPM is the one "
                + "of the kernel's resource manager (/dev/tpmrm0), or what $HOLDFAST_TPM names as the TSS does.",
        ],
        options: [Options.home.option, Options.passcodeDescriptor.option, Options.phraseDescriptor.option],
        run: enroll)

    static let slots = Command(
        "slots", "list", summary: "list what opens the vault",
        details: [
            "What each slot proves is said in one word: hardwareLimited, hardwareBound, keyBound, presence, none."
        ],
        options: [Options.home.option, Options.json.option], run: listSlots)

    static let removeSlot = Command(
        "slots", "remove", summary: "take the passcode out of the TPM",
        details: ["The passcode opens the vault by itself from then on, on any machine."],
        places: [Place(name: "SLOT", kind: .word(["tpm"]), help: "What is removed.")],
        options: [Options.home.option, Options.passcodeDescriptor.option], run: removeFromHardware)
}

private func enroll(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let input = SecretInput(arguments)
    try input.requirePasscodeSource()
    try input.requirePhraseSource()
    let vault = try Unlocking.find(arguments)
    try Unlocking.refuseEarly(vault)
    let passcode = try input.passcode()
    let phrase = try input.phrase()
    try PassingNote.show("Sealing a share in the TPM ...") { () throws(CommandError) in
        try vaultCall { try vault.enrolHardware(passcode: passcode, spending: vault.burnAttempt(), phrase: phrase) }
    }
    let limit = try vaultCall { try vault.status() }.policy.attemptLimit
    Output.remark("the TPM counts from now on: after \(limit) wrong passcodes only the recovery phrase opens the vault")
    return .done
}

private func removeFromHardware(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let input = SecretInput(arguments)
    try input.requirePasscodeSource()
    let vault = try Unlocking.find(arguments)
    guard try vaultCall({ try vault.status() }).hasHardwareShare else {
        throw .failure("notEnrolled", "the passcode is not under a TPM; nothing was changed")
    }
    try Unlocking.refuseEarly(vault)
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
        table.append([slot.name, slot.proof(status), slot == .passcode ? "counted" : "not counted"])
    }
    try Output.write(table.text)
    return .done
}

extension SlotKind {
    fileprivate func proof(_ status: Vault.Status) -> String {
        self == .passcode && status.hasHardwareShare ? "hardwareLimited" : "keyBound"
    }

    fileprivate func json(_ status: Vault.Status) -> JSON {
        .object([
            "kind": .text(name), "assurance": .text(proof(status)), "isCounted": .boolean(self == .passcode),
        ])
    }
}
