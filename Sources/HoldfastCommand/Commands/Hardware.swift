internal import CommandLineArguments
internal import Holdfast

extension Command {
    static let hardwareClaim = Command(
        "hardware", "claim", synonyms: ["adopt", "keep"],
        summary: "confirm that this folder is the vault, not a copy",
        details: [
            "The TPM and the keyring release a vault's keys only for the folder with the vault's wipe.key. A backup "
                + "has a different one, and so has the vault itself if a program replaced its key. In that state, "
                + "everything that would leave an old key in place is refused: changes of the passcode, the PIN, "
                + "the unlock methods and the policy, and recover.",
            "Use this command if the folder is the vault itself, even if it was restored. With the passcode, the vault's own wipe.key is "
                + "restored, and changes delete old keys from the TPM again.",
        ],
        example: "holdfast hardware claim",
        options: [Options.home.option, Options.passcodeDescriptor.option], run: claim)

    static let hardwareLeave = Command(
        "hardware", "leave", synonyms: ["disown"],
        summary: "confirm that this folder is a copy, and leave the TPM's keys to the vault",
        details: [
            "Use this in a backup, or in a folder that was restored or copied from the vault, before you change it. "
                + "It becomes a separate vault. A passcode under the TPM gets its own key and stays the same. A "
                + "PIN, and a fingerprint or account password that was kept on disk, are removed, because their "
                + "keys belong to the other folder.",
            "The keys that the TPM and the keyring keep for the original vault stay as they are. If that folder no "
                + "longer exists, nothing deletes them any more: an old PIN or passcode still opens an old copy of "
                + "the header on this machine.",
            "Asks for a word typed on the terminal, unless you use --yes.",
        ],
        example: "holdfast hardware leave --home restored",
        options: [Options.yes.option, Options.home.option, Options.passcodeDescriptor.option], run: leave)
}

private func claim(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    if let vault = try Unlocking.openWithoutAsking(arguments) {
        let isNeeded = vault.leavesHardware
        try vaultCall { try vault.claimHardware(proving: vault.proveNobody(), canAskOwner: false) }
        return told(isNeeded)
    }
    let input = SecretInput(arguments)
    try input.requirePasscodeSource()
    let vault = try Unlocking.find(arguments)
    try Unlocking.refuseEarly(vault)
    let isNeeded = vault.leavesHardware
    try Unlocking.withPasscode(input, vault) { passcode throws(CommandError) in
        try vaultCall { try vault.claimHardware(passcode: passcode, spending: vault.burnAttempt()) }
    }
    return told(isNeeded)
}

private func told(_ isNeeded: Bool) -> ExitCode {
    Output.remark(
        isNeeded
            ? "The keys in the TPM and the keyring belong to this folder again."
            : "This folder already has the vault's own wipe.key. Nothing was changed.")
    return .done
}

/// A copy that opens without asking gets a share of its own, and new keys.
private func leave(atDevice vault: Vault, _ arguments: Arguments) throws(CommandError) -> ExitCode {
    try Confirmation.require(arguments)
    guard vault.leavesHardware else {
        throw .failure(.exists, "this folder has the vault's own wipe.key: it is no copy; nothing was changed")
    }
    let path = try vaultCall { try vault.status() }.path
    try Confirmation.ask(
        arguments,
        "This makes \(path) a separate vault with keys of its own, and no recovery phrase. The key of the "
            + "original vault stays. If this folder is the vault itself, use holdfast hardware claim instead.",
        word: "copy")
    var wish = LevelTarget(.device)
    wish.hardware = .leave
    var change = Optional(consume wish)
    try vaultCall {
        guard let wish = change.take() else { return }
        try vault.change(to: wish, proving: vault.proveNobody())
    }
    try finishRekey(vault)
    Output.remark("This folder is now a separate vault, which opens without asking. The original vault is unchanged.")
    return .done
}

private func leave(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    if let vault = try Unlocking.openWithoutAsking(arguments) { return try leave(atDevice: vault, arguments) }
    let input = SecretInput(arguments)
    try input.requirePasscodeSource()
    try Confirmation.require(arguments)
    let vault = try Unlocking.find(arguments)
    try Unlocking.refuseEarly(vault)
    let path = try vaultCall { try vault.status() }.path
    try Confirmation.ask(
        arguments,
        "This makes \(path) a separate vault. The keys that the TPM and the keyring keep for the original vault stay. If "
            + "that vault no longer exists, an old PIN or passcode still opens an old copy of the header on this machine. "
            + "If this folder is the vault itself, use holdfast hardware claim instead.",
        word: "copy")
    let left = try Unlocking.withPasscode(input, vault, note: "Making this a separate vault ...") {
        passcode throws(CommandError) in
        try vaultCall { try vault.leaveHardware(passcode: passcode, spending: vault.burnAttempt()) }
    }
    if left.pinWasRemoved { Output.note("NOTE: the PIN was removed here; set another one with holdfast enroll pin") }
    if left.ownerWasRemoved {
        Output.note(
            "NOTE: the fingerprint or account password kept on disk was removed here; enroll it again with holdfast enroll"
        )
    }
    Output.remark(
        "This folder is now a separate vault. The keys of the original vault in the TPM and the keyring are unchanged."
    )
    return .done
}
