internal import Holdfast

extension Command {
    static let hardwareClaim = Command(
        "hardware", "claim", synonyms: ["adopt", "keep"],
        summary: "say that this folder is the vault itself, not a copy",
        details: [
            "The TPM and the keyring let go of a vault's shares only for the folder that has the vault's wipe.key. A backup has "
                + "another one, and so has the vault itself once a program exchanged it. While that is so, whatever would "
                + "leave an old share alive is refused: changes of passcode, PIN, ways in and rules, and recover.",
            "Use this where the folder is the vault itself, also one that was restored in its place: with the passcode, the "
                + "vault's own wipe.key is put back. From then on changes take old shares out of the TPM again.",
            "Example: holdfast hardware claim && holdfast slots remove pin",
        ],
        options: [Options.home.option, Options.passcodeDescriptor.option], run: claim)

    static let hardwareLeave = Command(
        "hardware", "leave", synonyms: ["disown"],
        summary: "say that this folder is a copy, and leave the TPM's shares to the vault",
        details: [
            "Use this in a backup, or in a folder that was restored or copied from the vault, before you change it: it becomes "
                + "a vault of its own. A passcode under the TPM gets a share of its own, with the same passcode; a PIN and a "
                + "finger or account that were kept on the disk go, because their shares are the other folder's.",
            "What the TPM and the keyring hold for the vault that it was copied from stays as it is. If that folder is gone, "
                + "nothing takes those shares out any more: an old PIN or passcode still opens an old copy of the header on "
                + "this machine.",
            "Asks for a word typed on the terminal; --yes does without. Example: holdfast hardware leave --home restored",
        ],
        options: [Options.yes.option, Options.home.option, Options.passcodeDescriptor.option], run: leave)
}

private func claim(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let input = SecretInput(arguments)
    try input.requirePasscodeSource()
    let vault = try Unlocking.find(arguments)
    try Unlocking.refuseEarly(vault)
    let isNeeded = vault.leavesHardware
    let passcode = try input.passcode()
    try PassingNote.show("Checking the passcode ...") { () throws(CommandError) in
        try vaultCall { try vault.claimHardware(passcode: passcode, spending: vault.burnAttempt()) }
    }
    Output.remark(
        isNeeded
            ? "what the TPM and the keyring hold is this folder's own again"
            : "this folder has the vault's own wipe.key; nothing had to be changed")
    return .done
}

private func leave(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let input = SecretInput(arguments)
    try input.requirePasscodeSource()
    try Confirmation.require(arguments)
    let vault = try Unlocking.find(arguments)
    try Unlocking.refuseEarly(vault)
    let path = try vaultCall { try vault.status() }.path
    try Confirmation.ask(
        arguments,
        "This makes \(path) a vault of its own. What the TPM and the keyring hold for the vault that it was copied from stays; "
            + "if that vault is gone, an old PIN or passcode still opens an old copy of the header on this machine. If "
            + "this folder is the vault itself, use holdfast hardware claim instead.",
        word: "copy")
    let passcode = try input.passcode()
    let left = try PassingNote.show("Making this a vault of its own ...") { () throws(CommandError) in
        try vaultCall { try vault.leaveHardware(passcode: passcode, spending: vault.burnAttempt()) }
    }
    if left.pinWasRemoved { Output.note("NOTE: the PIN is gone here; holdfast enroll pin sets another one") }
    if left.ownerWasRemoved {
        Output.note("NOTE: the kept finger or account is gone here; holdfast enroll keeps another one")
    }
    Output.remark(
        "this folder is a vault of its own; what the TPM and the keyring hold for the one it was copied from was left as it is"
    )
    return .done
}
