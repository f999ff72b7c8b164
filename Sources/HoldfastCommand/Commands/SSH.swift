internal import AgentMessages
internal import CommandLineArguments
internal import ProgramAccess
internal import Holdfast
internal import HoldfastAgent
internal import SystemCalls

extension Command {
    static let sshAgent = Command(
        "ssh", "agent", synonyms: ["ssh-agent"], summary: "serve SSH programs with keys of the vault",
        details: [
            "Has the vault's agent, which is started if none is running, also serve the protocol of ssh-agent, and prints the "
                + "lines that tell SSH programs where; in a shell, eval \"$(holdfast ssh agent)\". While the vault is "
                + "unlocked they get its keys; while it is locked they get none.",
            "Entries of the kind SSH key are offered; holdfast ssh import makes them. Keys that ssh-add adds are kept in memory "
                + "until the vault locks. A key with the tag no-forwarding is not offered to hosts that the agent is "
                + "forwarded to, and one that is added with ssh-add -h is used for those hosts only (OpenSSH 8.9 or newer).",
            "An entry's field hosts has the names of the hosts that its key is for, as after Host in ssh_config. At a host in known_hosts "
                + "its keys come first, and those for other hosts are not offered.",
        ],
        example: "holdfast ssh agent",
        options: [Options.home.option],
        run: serveSSH)

    static let sshImport = Command(
        "ssh", "import", summary: "store an SSH key",
        details: [
            "Stores a private key of OpenSSH's or OpenSSL's, of the kind Ed25519, ECDSA or RSA (2,048 to 4,096 bits), from standard "
                + "input or --in, and prints the public key. The vault encrypts it, so it is stored without its passphrase.",
            "A certificate in FILE-cert.pub, or behind the key on standard input, is stored with it.",
            "A key with a passphrase is decrypted by ssh-keygen, which asks you for it, in a copy in memory that has no name and "
                + "leaves nothing behind.",
        ],
        example: "holdfast ssh import keys/laptop --in ~/.ssh/id_ed25519",
        places: [.recordName],
        options: [Options.collection.option, Options.keyIn.option] + Options.unlocking,
        run: importSSH)
}

extension Command {
    static let sshCertificate = Command(
        "ssh", "certificate", summary: "give an SSH key its certificate",
        details: [
            "Stores a user's certificate, as ssh-keygen -s writes it, from standard input or --in, in the entry that has its key. "
                + "It replaces the one before, and is offered beside the key, also when its time is over."
        ],
        example: "holdfast ssh certificate keys/laptop --in laptop-cert.pub",
        places: [.itemName],
        options: [Options.collection.option, Options.certificateIn.option] + Options.unlocking,
        run: setCertificate)
}

extension Options {
    static let certificateIn = TextOption(
        "in", "FILE", .file, help: "Read the certificate from FILE.", short: "i")
    static let inTPM = Flag("tpm", "Have this machine's TPM make the key, which never leaves it.")
}

extension Command {
    static let sshGenerate = Command(
        "ssh", "generate", synonyms: ["ssh-keygen"], summary: "make an SSH key",
        details: [
            "Makes an Ed25519 key, stores it in an entry and prints the public key. Nothing of it is ever in a file.",
            "With --tpm this machine's TPM makes an ECDSA P-256 key and signs with it while the vault is unlocked. Nobody can copy such a "
                + "key, and nobody can restore it: it is lost with the machine, and when the TPM is cleared. Have another way in.",
        ],
        example: "holdfast ssh generate keys/laptop --tpm",
        places: [.recordName],
        options: [Options.collection.option, Options.inTPM.option] + Options.unlocking,
        run: generateSSH)
}

private func generateSSH(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    // Before the chip is asked: an item that is there already is not replaced.
    let access = ItemAccess(arguments)
    let record = try access.requireFree(arguments[place: 0])
    let path = record.path
    guard arguments[Options.inTPM] else {
        try Output.write(try store(vaultCall { try SSHIdentities.generate() }, record, access) + "\n")
        return .done
    }
    let made = try PassingNote.show("Making a key in the TPM ...") { () throws(CommandError) in
        try vaultCall { try SSHIdentities.generateInChip(comment: path.entry.spelled) }
    }
    try access.add(made.item, as: record)
    try Output.write(made.line + "\n")
    return .done
}

private func serveSSH(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let home = try HomeFolder.absolutePath(arguments)
    let runtime = try HomeFolder.runtime()
    let path = try vaultCall {
        let found = try AgentLaunch.connect(
            home: home, runtime: runtime, program: AgentCommand.program, arguments: AgentCommand.arguments(home: home))
        switch consume found {
        case .running(let agent): return try agent.serveSSH()
        case .started(let agent, _): return try agent.serveSSH()
        }
    }
    // For a shell's eval.
    try Output.write("SSH_AUTH_SOCK=\(ShellWord.always(path)); export SSH_AUTH_SOCK;\n")
    return .done
}

private func importSSH(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let access = ItemAccess(arguments)
    if !access.isLiteral { _ = try ItemNames.new(arguments[place: 0]) }
    let text = try SSHKeyFile.read(arguments[Options.keyIn])
    let record = try access.requireFree(arguments[place: 0])
    try Output.write(try store(text, record, access) + "\n")
    return .done
}

private func setCertificate(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let access = ItemAccess(arguments)
    let text = try SSHKeyFile.content(arguments[Options.certificateIn])
    let found = try access.find(arguments[place: 0], .lastPart)
    try access.change(found) { item throws(CommandError) in
        try vaultCall {
            try text.withBytes { text throws(VaultError) in try SSHCertificate.set(text, in: &item) }
        }
    }
    Output.remark("\(found.record.written) has this certificate now.")
    return .done
}

/// Stores a key as an item.
/// - Returns: The public key in one line.
private func store(
    _ text: borrowing SecretBytes, _ record: NamedRecord, _ access: ItemAccess
) throws(CommandError) -> String {
    try ItemNames.explaining(record) { () throws(CommandError) in
        try access.run(changes: true) { agent throws(VaultError) in
            try agent.importSSH(record.path, key: text)
        } own: { (items, _) throws(VaultError) in
            try text.withBytes { text throws(VaultError) in
                try SSHIdentities(items).add(text, as: record.path.name, in: record.path.collection)
            }
        }
    }
}
