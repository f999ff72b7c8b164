internal import AgentMessages
internal import CommandLineArguments
internal import Faces
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
            "Items of the kind SSH key are offered; holdfast ssh import makes them. Keys that ssh-add adds are kept in memory "
                + "until the vault locks. A key with the tag no-forwarding is not offered to hosts that the agent is "
                + "forwarded to, and one that is added with ssh-add -h is used for those hosts only (OpenSSH 8.9 or newer).",
        ],
        example: "holdfast ssh agent",
        options: [Options.home.option],
        run: serveSSH)

    static let sshImport = Command(
        "ssh", "import", summary: "store an SSH key",
        details: [
            "Stores a private key of OpenSSH's, of the kind Ed25519 or ECDSA P-256, from standard input or --in, and prints "
                + "the public key. The vault encrypts it, so it is stored without its passphrase.",
            "A key with a passphrase is decrypted by ssh-keygen, which asks you for it, in a copy that exists for a moment in "
                + "$XDG_RUNTIME_DIR, in memory.",
        ],
        example: "holdfast ssh import laptop --in ~/.ssh/id_ed25519",
        places: [.recordName],
        options: [Options.collection.option, Options.keyIn.option] + Options.unlocking,
        run: importSSH)
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
    // For a shell's eval: in single quotation marks nothing but they mean anything.
    let quoted = path.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''")
    try Output.write("SSH_AUTH_SOCK='\(quoted)'; export SSH_AUTH_SOCK;\n")
    return .done
}

private func importSSH(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let (name, collection) = (arguments[place: 0], arguments.collection)
    try Naming.check(name, collection)
    let text = try SSHKeyFile.read(arguments[Options.keyIn])
    let line = try Naming.explaining(name, collection) { () throws(CommandError) in
        if let path = RecordPath(collection: collection, name: name) {
            let line = try AgentAccess.use(arguments) { agent, session in
                session.changes = true
                return try agent.importSSH(path, key: text)
            }
            if let line { return line }
        }
        let vault = try Unlocking.open(arguments)
        defer { vault.lock(because: .ended) }
        return try text.withBytes { text throws(CommandError) in
            try vaultCall { try SSHIdentities(ItemStore(vault)).add(text, as: name, in: collection) }
        }
    }
    try Output.write(line + "\n")
    return .done
}
