internal import CommandLineArguments
internal import Holdfast
internal import HoldfastAgent
internal import ProgramProtocols
internal import SecretMemory

extension Command {
    static let credentialsServe = Command(
        "credentials", "serve", summary: "give units of systemd their credentials",
        details: [
            "Answers LoadCredential=ID:PATH of systemd's units over the socket at PATH, which systemd passes when it starts this "
                + "(holdfast-credentials.socket), and ends when nobody has asked for ten seconds. The unit UNIT gets the entry "
                + "\(UnitCredential.collection)/UNIT/ID, and no unit gets anything else. Only root and the user's own service "
                + "manager are answered.",
            "The vault opens without asking, or the user's agent is unlocked. Otherwise, or without such an entry, the unit does not "
                + "start, and the journal says why.",
        ],
        example: "holdfast credentials serve --home /var/lib/holdfast",
        options: [Options.home.option], run: serveCredentials)

    static let credentialsList = Command(
        "credentials", "list", summary: "list what units of systemd get",
        details: ["Lists the entries that are called \(UnitCredential.collection)/UNIT/ID."],
        example: "holdfast credentials list",
        options: [Options.json.option] + Options.unlocking, run: listCredentials)
}

private func serveCredentials(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    // A unit takes an answer that is cut short for its secret.
    CLibraries.load()
    guard let listener = try vaultCall({ try PassedSockets.takeCredentials() }) else {
        throw .usage("systemd starts this; run systemctl enable --now holdfast-credentials.socket")
    }
    let source = CredentialSource(home: try HomeFolder.absolutePath(arguments), runtime: try HomeFolder.runtime())
    try CredentialServer(listener, source).run()
    return .done
}

private func listCredentials(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let found = try ItemAccess(arguments).infos().filter { $0.collection == UnitCredential.collection }
        .compactMap { UnitCredential(entry: $0.name) }.sorted { ($0.unit, $0.id) < ($1.unit, $1.id) }
    if arguments[Options.json] {
        let rows = found.map { JSON.object(["unit": .text($0.unit), "id": .text($0.id)]) }
        try Output.write(.object(["credentials": .array(rows)]))
        return .done
    }
    guard !found.isEmpty else {
        Output.remark("No unit gets a credential: no entry is called \(UnitCredential.collection)/UNIT/ID.")
        return .done
    }
    var table = Table(["UNIT", "CREDENTIAL"])
    for one in found { table.append([Escaping.name(one.unit), Escaping.name(one.id)]) }
    try Output.write(table.text)
    return .done
}
