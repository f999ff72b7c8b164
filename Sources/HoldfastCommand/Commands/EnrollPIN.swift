internal import CommandLineArguments
internal import Holdfast

extension Command {
    static let enrollPIN = Command(
        "enroll", "pin", summary: "unlock with a short PIN, counted by the TPM",
        details: [
            "The TPM keeps a part of the key that the PIN needs, and counts wrong PINs itself. A copy of the "
                + "vault cannot be guessed on another machine. After too many wrong PINs the PIN no longer works, whether "
                + "self-destruct is on or off; the passcode and the recovery phrase still do.",
            "The PIN is then asked for instead of the passcode; press Enter at its prompt to use the passcode. "
                + "Changing the passcode, the policy or the unlock methods still needs the passcode. The vault counts "
                + "wrong PINs like wrong passcodes: if self-destruct is on, they destroy it.",
            "A PIN has 4 to 64 bytes. A single repeated character, a sequence such as 1234, and the passcode itself "
                + "are refused. Changing the attempt limit, new keys (--rekey) and holdfast recover remove the PIN.",
        ],
        example: "holdfast enroll pin",
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
            .hardwareUnavailable, "no TPM was found (/dev/tpmrm0, or $HOLDFAST_TPM); nothing was changed")
    }
    try vaultCall { try vault.requireChip() }
    let passcode = try Unlocking.checkedPasscode(input, vault)
    while true {
        let pin = try input.newPIN()
        do throws(CommandError) {
            try PassingNote.show("Sealing a key in the TPM ...") { () throws(CommandError) in
                try vaultCall { try vault.enrollPIN(pin, passcode: passcode, spending: vault.burnAttempt()) }
            }
            break
        } catch {
            // One that everybody tries first: no attempt was spent.
            guard error.code == .invalidPasscode, !input.namesPIN else { throw error }
            Output.note(error.what)
        }
    }
    let policy = try vaultCall { try vault.status() }.policy
    let end = policy.selfDestruct ? "the vault is destroyed" : "it no longer works"
    Output.remark("The PIN now opens the vault on this machine. After \(policy.attemptLimit) wrong PINs, \(end).")
    return .done
}

/// Removes the PIN.
func removePIN(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let input = SecretInput(arguments)
    try input.requirePasscodeSource()
    let vault = try Unlocking.find(arguments)
    let status = try vaultCall { try vault.status() }
    guard status.hasPIN else {
        throw .failure(.notEnrolled, "this vault has no PIN; nothing was changed")
    }
    try Unlocking.refuseChangeEarly(vault, status)
    try Unlocking.withPasscode(input, vault, status, note: "Removing the PIN ...") { passcode throws(CommandError) in
        try vaultCall { try vault.removePIN(passcode: passcode, spending: vault.burnAttempt()) }
    }
    if vault.owesHardware {
        Output.note(
            "NOTE: the TPM did not respond; its key is deleted at the next unlock with the passcode on this machine")
    }
    Output.remark("The PIN no longer works.")
    return .done
}
