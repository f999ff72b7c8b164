internal import CommandLineArguments
internal import Holdfast
internal import HoldfastDoctor
internal import SecretMemory
internal import SystemCalls
internal import VaultWipe

extension Command {
    static let create = Command(
        "init", synonyms: ["create", "new"], summary: "create a vault",
        details: [
            "Creates a vault with a passcode that you choose, and a recovery phrase of 24 words for when you forget "
                + "it. An existing vault is never overwritten.",
            "The phrase is shown on the terminal once, or written to --phrase-out-fd. It is not stored anywhere. On the "
                + "terminal the vault is only created when you have typed three of its words.",
            "A passcode that is guessed at once is refused; --weak insists on it. Press Enter alone to have one of six "
                + "words made for you.",
            "With --device the vault has neither. Its key is kept in this machine's TPM, or in your session "
                + "keyring, and every command opens it without asking: for the secrets of a service, or to begin with. "
                + "Any program you run can then open it, and it is lost with this machine. --file keeps that key in a "
                + "file beside the vault, for a machine that has neither; then anyone who can read the files opens it. "
                + "holdfast open-without-asking off gives it a passcode and a phrase.",
        ],
        example: "holdfast init",
        options: [
            Options.device.option, Options.fileShare.option, Options.weak.option, Options.home.option,
            Options.newPasscodeDescriptor.option,
            Options.phraseOutDescriptor.option,
        ],
        run: createVault)
}

private func createVault(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    // Before a folder is made, and before somebody types.
    CLibraries.load()
    let input = SecretInput(arguments, isForNewVault: true)
    guard arguments[Options.device] || !arguments[Options.fileShare] else {
        throw .usage("\(Options.fileShare.option.spelled) is only for \(Options.device.option.spelled)")
    }
    let path = try HomeFolder.path(arguments)
    try refuseExisting(path)
    SyncedFolder.warn(try HomeFolder.absolutePath(arguments))
    if arguments[Options.device] {
        guard arguments[Options.passcodeDescriptor] == nil, arguments[Options.phraseOutDescriptor] == nil else {
            throw .usage("with \(Options.device.option.spelled) there is neither a passcode nor a phrase")
        }
        return try begin(arguments, path)
    }
    let delivery = try PhraseDelivery(arguments)
    try input.requirePasscodeSource()
    let passcode = try input.newPasscode(takingWeak: arguments[Options.weak])
    var refusal: CommandError?
    try HeldSignals.during { () throws(CommandError) in
        do throws(CommandError) {
            try PassingNote.show("Measuring this machine and creating the vault ...") { () throws(CommandError) in
                _ = try vaultCall {
                    try Vault.create(at: path, passcode: passcode, settings: .standard) { phrase throws(VaultError) in
                        do throws(CommandError) {
                            try delivery.deliverConfirmed(phrase, else: "no vault was created")
                        } catch {
                            refusal = error
                            throw VaultError(.cancelled, error.what)
                        }
                    }
                }
            }
        } catch { throw refusal ?? error }
    }
    Output.remark("Created a vault in \(path).")
    Output.remark("Next: holdfast add NAME puts something in, and holdfast unlock asks once for many commands.")
    return .done
}

/// Without a secret, and what to do where no key store is.
private func begin(_ arguments: Arguments, _ path: String) throws(CommandError) -> ExitCode {
    do throws(CommandError) {
        _ = try createAtDevice(arguments, path)
    } catch {
        let isStore = [.shareUnavailable, .hardwareUnavailable].contains(error.code)
        guard isStore, !arguments[Options.fileShare] else { throw error }
        var error = error
        error.advice =
            "holdfast doctor shows what is missing; on a machine without a TPM and a keyring, holdfast init --device "
            + "--file keeps the key in a file beside the vault, where anyone who can read the folder can open it"
        throw error
    }
    Output.remark("Next: holdfast add NAME puts something in, and holdfast list shows what there is.")
    return .done
}

/// Refuses before the user has entered a passcode twice. Creating the vault checks again; that check decides.
private func refuseExisting(_ path: String) throws(CommandError) {
    do throws(VaultError) {
        try Wipe.finish(at: path)
        _ = try Vault(at: path)
    } catch {
        switch error.code {
        case .noVault:
            var status = stat()
            guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFDIR else { return }
            throw .failure(.exists, "\(path) is not a folder; nothing was created")
        case .wiped where !Vault.isVault(at: path): return  // a receipt does not prevent creation
        case .damaged, .newerVersion:
            throw .failure(
                .exists, "a vault at \(path) already exists but cannot be read (\(error.reason)); nothing was changed")
        default: throw CommandError(error)
        }
    }
    throw .failure(.exists, "a vault already exists at \(path); nothing was changed")
}

extension SyncedFolder {
    /// Says so where the vault's folder is in one that is kept alike.
    static func warn(_ home: String) {
        guard let folder = SyncedFolder(above: home) else { return }
        Output.note(
            "WARNING: \(folder.program) syncs \(Escaping.name(folder.path)), where the vault is. A sync damages vaults: move the vault out of "
                + "it, and put backups there (holdfast backup)")
    }
}
