internal import AgentMessages
internal import CommandLineArguments
internal import ProgramProtocols
internal import ProgramAccess
internal import Holdfast
internal import HoldfastAgent
internal import SecretMemory
internal import SystemCalls

extension Command {
    static let gitCredential = Command(
        "git-credential", synonyms: ["git"], summary: "keep passwords for git",
        details: [
            "A credential helper for git. Set it up with: git config --global credential.helper holdfast. git then calls "
                + "git-credential-holdfast, which is this command; where that is not installed, name the helper "
                + "\"!holdfast git-credential\".",
            "Reads attributes from standard input and writes the answer to standard output, as git-credential(1) describes. "
                + "Each account is a login in the collection \"\(CredentialStore.defaultCollection)\", named like "
                + "https://ada@example.org/team. With credential.useHttpPath a path can have an account of its own. What git "
                + "erases goes to the trash, if it was stored for that very address. What a program stored over the session bus "
                + "is no answer.",
            "The end of a password and an OAuth refresh token are kept where git sends them.",
            "allow HOST lets your other logins answer too, those with an address on this very host and port: they get the tag "
                + "\(AllowedLogin.mark)HOST. Write http://HOST for one without encryption. disallow HOST takes the tag away, list "
                + "shows the logins that have one. git never changes or erases such a login.",
        ],
        example: "holdfast git-credential allow github.com",
        places: [
            Place(
                name: "ACTION", kind: .text,
                help: "get, store or erase, as git calls it; allow, disallow or list; any other action does nothing."),
            Place(name: "HOST", kind: .text, help: "For allow and disallow: the server.", isOptional: true),
        ],
        options: [Options.credentialCollection.option] + Options.unlocking,
        run: answerGit)
}

private func answerGit(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let actions: [String: ProgramRequest.CredentialAction] = ["get": .get, "store": .store, "erase": .erase]
    if let permission = try GitPermission(arguments) { return try permission.run() }
    // git may come to know more, and expects helpers to be silent about it.
    guard let action = actions[arguments[place: 0]] else { return .done }
    let collection = arguments[Options.credentialCollection] ?? CredentialStore.defaultCollection
    let question = try StandardInput.read(atMost: CredentialAttributes.longest)
    // What cannot be an answer or a password opens no vault.
    let attributes = try question.withBytes { bytes throws(CommandError) in
        do throws(CredentialError) { return try CredentialAttributes(parsing: bytes) } catch {
            throw CommandError.usage(error.words)
        }
    }
    guard let address = attributes.address,
        action != .store || (attributes.password != nil && (address.user != nil || address.isFile))
    else { return .done }
    let access = ItemAccess(arguments, for: .git)
    let answer = try access.use(changes: action != .get) { agent, _ in
        ReferencedValue(try agent.credential(action, collection: collection, question))
    }
    if let answer { return try write(answer) }
    let (items, vault) = try access.open()
    defer { vault.lock(because: .ended) }
    let store = CredentialStore(vault, items, collection: collection)
    let found: ReferencedValue? = try question.withBytes { bytes throws(CommandError) in
        try vaultCall {
            switch action {
            case .get: return ReferencedValue(try store.get(bytes))
            case .store: try store.store(bytes)
            case .erase: try store.erase(bytes)
            }
            return nil
        }
    }
    return try found.map(write) ?? .done
}

private func write(_ answer: ReferencedValue) throws(CommandError) -> ExitCode {
    try answer.bytes.withBytes { bytes throws(CommandError) in try Descriptors.write(bytes, to: STDOUT_FILENO) }
    return .done
}

/// What another program says on standard input.
enum StandardInput {
    /// All of it, up to one byte more than a limit, so that its reader sees what is too long.
    static func read(atMost limit: Int) throws(CommandError) -> SecretBytes {
        var buffer = try secret(limit + 1)
        var size = 0
        while size < buffer.count {
            let got = try buffer.withMutableBytes { bytes throws(CommandError) in
                try bytes.withPart(size..<bytes.byteCount) { part throws(CommandError) in
                    try Descriptors.read(STDIN_FILENO, into: &part)
                }
            }
            if got == 0 { break }
            size += got
        }
        return try buffer.prefix(size)
    }
}
