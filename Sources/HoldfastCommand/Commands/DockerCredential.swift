internal import VaultFormat
internal import AgentMessages
internal import CommandLineArguments
internal import Holdfast
internal import HoldfastAgent
internal import Imports
internal import Items
internal import SecretMemory
internal import SystemCalls

extension Options {
    static let registryCollection = TextOption(
        "collection", "C", .collection,
        help: "The collection of these passwords (default: \"\(DockerAccounts.defaultCollection)\").", short: "c")
}

extension Command {
    static let dockerCredential = Command(
        "docker-credential", summary: "keep passwords for Docker and Podman",
        details: [
            "A credential helper for container registries. Set it up in ~/.docker/config.json with \"credsStore\": \"holdfast\", or for "
                + "one registry with \"credHelpers\". docker, podman and skopeo then call docker-credential-holdfast, which is this "
                + "command; make a link of that name to holdfast where it is not installed.",
            "Each registry is a login in the collection \"\(DockerAccounts.defaultCollection)\", named as the program names the registry. What "
                + "it erases goes to the trash. What a program stored over the session bus is no account.",
        ],
        example: "holdfast docker-credential list",
        places: [Place(name: "ACTION", kind: .text, help: "get, store, erase or list.")],
        options: [Options.registryCollection.option, Options.days.option] + Options.unlocking,
        run: answerDocker)
}

/// The protocol of docker-credential-helpers: the address of a registry or JSON on standard input, JSON on standard
/// output. Errors are read from standard output too, and one of them by its words.
private func answerDocker(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let accounts = DockerAccounts(arguments)
    do throws(CommandError) {
        switch arguments[place: 0] {
        case "get": try accounts.get()
        case "store": try accounts.store()
        case "erase": try accounts.erase()
        case "list": try accounts.list()
        default: throw .usage("docker-credential: the action is get, store, erase or list")
        }
        return .done
    } catch {
        guard ![.interrupted, .readerGone].contains(error.exit) else { throw error }
        let isUnknown = error.exit == .notFound
        try Output.write(isUnknown ? DockerAccounts.unknown + "\n" : "holdfast: \(Escaping.sentence(error.message))\n")
        return error.exit == .notFound ? .failure : error.exit
    }
}

private struct DockerAccounts {
    static let defaultCollection = "docker"
    /// What programs take for an answer, and not for a failure.
    static let unknown = "credentials not found in native keychain"
    private static let longest = 61_440, longestServer = 512

    private let arguments: Arguments
    private let access: ItemAccess
    private let collection: String

    init(_ arguments: Arguments) {
        self.arguments = arguments
        access = ItemAccess(arguments, for: .registry)
        collection = arguments[Options.registryCollection] ?? DockerAccounts.defaultCollection
    }

    func get() throws(CommandError) {
        let path = try path(DockerAccounts.address())
        let item = try access.item(path)
        guard !item.isOfSecretService else {
            throw CommandError(
                .notFound, code: .recordNotFound,
                "a program stored this over the session bus")
        }
        var answer = SecretJSON()
        do {
            try answer.raw("{\"ServerURL\":\(JSON.text(path.name).encoded)")
            for (member, label) in [("Username", "username"), ("Secret", "password")] {
                guard let field = item.field(label) else {
                    throw CommandError.failure(.fieldNotFound, "the entry has no field \"\(label)\"")
                }
                try answer.raw(",\"\(member)\":")
                try item.withText(.field(field), "field \"\(label)\"") { value in try answer.value(value) }
            }
            try answer.raw("}")
        } catch { throw CommandError(error) }
        try answer.write()
    }

    func store() throws(CommandError) {
        let input = try StandardInput.read(atMost: DockerAccounts.longest)
        guard input.count <= DockerAccounts.longest else {
            throw .usage("a credential has at most \(DockerAccounts.longest) bytes")
        }
        let server: String?, user: String?, given: SecretBytes?
        do throws(ImportError) {
            let document = try JSONDocument(input)
            server = try document.text(document.root["ServerURL"])
            user = try document.text(document.root["Username"])
            given = try document.string(document.root["Secret"])
        } catch { throw .usage("what is stored is not the JSON of a credential") }
        guard let server, let user, !user.isEmpty, let secret = given else {
            throw .usage("a credential has a ServerURL, a Username and a Secret")
        }
        let path = try path(server)
        try access.store(path) { item throws(CommandError) in
            try vaultCall {
                try unsafe item.put(.text, "username", bytes: Array(user.utf8).span.bytes)
                try secret.withBytes { secret throws(VaultError) in
                    try item.put(.secret, "password", bytes: secret)
                }
            }
        }
    }

    func erase() throws(CommandError) {
        let path = try path(DockerAccounts.address())
        _ = try access.discard(path, days: arguments[Options.days])
    }

    /// The users of all registries, as a search finds them: nothing is read, so that nothing asks. What has no user
    /// name is no account.
    func list() throws(CommandError) {
        let strangers = Set(try found("#" + Item.secretServiceTag).map(\.name))
        var users: [String: JSON] = [:]
        for (name, user) in try found("") where !user.isEmpty && !strangers.contains(name) { users[name] = .text(user) }
        try Output.write(.object(users))
    }

    private func found(_ query: String) throws(CommandError) -> [(name: String, user: String)] {
        try access.run { agent throws(VaultError) in
            try agent.find(query, in: collection).map { ($0.path.name, $0.user) }
        } own: { (items, _) throws(VaultError) in
            try items.search(ItemQuery(query, in: collection)).map { ($0.name, $0.user) }
        }
    }

    /// The address of a registry, as it comes in.
    private static func address() throws(CommandError) -> String {
        try StandardInput.read(atMost: longestServer).withBytes(text)
    }

    /// Bytes that are no secret.
    private static func text(_ bytes: RawSpan) -> String {
        unsafe bytes.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
    }

    private func path(_ server: String) throws(CommandError) -> RecordName {
        let server = String(server.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
        let isPlain = server.unicodeScalars.allSatisfy { $0.value > 0x20 && $0.value < 0x7F }
        guard !server.isEmpty, server.utf8.count <= DockerAccounts.longestServer, isPlain else {
            throw .usage("the address of a registry has 1 to \(DockerAccounts.longestServer) visible characters")
        }
        guard let path = RecordName(collection: collection, name: server) else { throw ItemNames.noSuchPath }
        return path
    }
}
