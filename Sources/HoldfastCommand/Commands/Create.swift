internal import CommandLineArguments
internal import Holdfast

extension Command {
    static let create = Command(
        "init", synonyms: ["create", "new"], summary: "create a vault",
        details: [
            "Creates a vault with a passcode that you choose, and a recovery phrase of 24 words for when you forget "
                + "it. An existing vault is never overwritten.",
            "The phrase is shown on the terminal once, or written to --phrase-out-fd. It is not stored anywhere.",
        ],
        example: "holdfast init",
        options: [
            Options.home.option, Options.newPasscodeDescriptor.option, Options.phraseOutDescriptor.option,
        ],
        run: createVault)
}

private func createVault(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let input = SecretInput(arguments)
    let delivery = try PhraseDelivery(arguments)
    try input.requirePasscodeSource()
    let path = try HomeFolder.path(arguments)
    try refuseExisting(path)
    let passcode = try input.newPasscode()
    try HeldSignals.during { () throws(CommandError) in
        let phrase = try PassingNote.show("Measuring this machine and creating the vault ...") {
            () throws(CommandError) in
            try vaultCall { try HoldfastApp.create(at: path, passcode: passcode) }
        }
        do throws(CommandError) {
            try delivery.deliver(phrase)
        } catch {
            throw .failure(
                "phraseNotDelivered",
                "the vault was created but its recovery phrase could not be handed over (\(error.what)); "
                    + "holdfast passcode change --rekey issues another")
        }
    }
    Output.remark("Created a vault in \(path).")
    return .done
}

/// Refuses before the user has entered a passcode twice. Creating the vault checks again; that check decides.
private func refuseExisting(_ path: String) throws(CommandError) {
    do throws(VaultError) {
        try Vault.finishWipe(at: path)
        _ = try Vault(at: path)
    } catch {
        switch error.code {
        case .noVault: return
        case .wiped where !Vault.isVault(at: path): return  // a receipt does not prevent creation
        case .damaged, .newerVersion:
            throw .failure(
                "exists", "a vault at \(path) already exists but cannot be read (\(error.reason)); nothing was changed")
        default: throw CommandError(error)
        }
    }
    throw .failure("exists", "a vault already exists at \(path); nothing was changed")
}
