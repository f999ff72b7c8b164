internal import Holdfast

extension Command {
    static let enrollPIN = Command(
        "enroll", "pin", summary: "let a short PIN open the vault, counted by this machine's TPM",
        details: [
            "The TPM holds a share without which the PIN opens nothing, and counts wrong PINs itself: a copy of the vault "
                + "cannot be searched on another machine, and after the limit of the rules the PIN opens nothing any more, "
                + "with self-destruct on or off. The passcode and the recovery phrase still do.",
            "It is asked for on the terminal in place of the passcode, by an empty answer to which one gets to the "
                + "passcode. It opens the vault; what changes passcode, rules or ways in still needs the passcode. Wrong "
                + "PINs count for the vault as wrong passcodes do, and destroy it where self-destruct is on.",
            "4 to 64 bytes; not one character over and over, no run such as 1234, and not the passcode. Another attempt "
                + "limit, new keys (--rekey) and holdfast recover end it.",
        ],
        options: [Options.home.option, Options.passcodeDescriptor.option, Options.newPINDescriptor.option],
        run: setPIN)
}

private func setPIN(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let input = SecretInput(arguments)
    try input.requirePasscodeSource()
    try input.requirePINSource()
    let vault = try Unlocking.find(arguments)
    try Unlocking.refuseChangeEarly(vault)
    guard vault.hasChip else {
        throw .failure(
            "hardwareUnavailable", "there is no TPM here (/dev/tpmrm0, or $HOLDFAST_TPM); nothing was changed")
    }
    let passcode = try input.passcode()
    let pin = try input.newPIN()
    try PassingNote.show("Sealing a share in the TPM ...") { () throws(CommandError) in
        try vaultCall { try vault.enrollPIN(pin, passcode: passcode, spending: vault.burnAttempt()) }
    }
    let policy = try vaultCall { try vault.status() }.policy
    let end = policy.selfDestruct ? "the vault is destroyed" : "only the passcode does"
    Output.remark("the PIN opens the vault on this machine; after \(policy.attemptLimit) wrong ones \(end)")
    return .done
}

/// Takes the PIN away.
func removePIN(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let input = SecretInput(arguments)
    try input.requirePasscodeSource()
    let vault = try Unlocking.find(arguments)
    guard try vaultCall({ try vault.status() }).hasPIN else {
        throw .failure("notEnrolled", "this vault has no PIN; nothing was changed")
    }
    try Unlocking.refuseChangeEarly(vault)
    let passcode = try input.passcode()
    try PassingNote.show("Removing the PIN ...") { () throws(CommandError) in
        try vaultCall { try vault.removePIN(passcode: passcode, spending: vault.burnAttempt()) }
    }
    if vault.owesHardware {
        Output.note(
            "NOTE: the TPM could not be asked to forget it; the next right passcode on its machine sees to that")
    }
    Output.remark("the PIN opens nothing any more")
    return .done
}
