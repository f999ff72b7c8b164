internal import AgentMessages
internal import CommandLineArguments
internal import Holdfast
internal import Imports
internal import SecretMemory
internal import SystemCalls
internal import VaultFormat

extension Options {
    static let cargoPlugin = Flag("cargo-plugin", "What cargo calls it with.")
}

extension Command {
    static let cargoCredential = Command(
        "cargo-credential", summary: "keep tokens of registries for Cargo",
        details: [
            "A credential provider for Cargo, as cargo-credential-holdfast. Name that in ~/.cargo/config.toml: [registry] "
                + "global-credential-providers = [\"...\"]. cargo login stores a token, cargo logout moves it to the trash.",
            "Each registry is a login in the collection \"\(CargoTokens.collection)\", named by the address of its index. What a "
                + "program stored over the session bus is no token.",
        ],
        example: "holdfast cargo-credential --cargo-plugin",
        options: [Options.cargoPlugin.option] + Options.unlocking,
        run: answerCargo)
}

/// Cargo's credential provider protocol, version 1: one JSON text in each line, on standard input and output.
private func answerCargo(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    guard arguments[Options.cargoPlugin] else {
        throw .usage("cargo calls this; set it up in ~/.cargo/config.toml (holdfast cargo-credential --help)")
    }
    let tokens = CargoTokens(ItemAccess(arguments))
    try Output.write("{\"v\":[1]}\n")
    while true {
        let line: SecretBytes
        do throws(CommandError) {
            line = try SecretInput.line(STDIN_FILENO, CargoTokens.longest, "a request")
        } catch {
            // Cargo has closed its end.
            guard error.code == .input else { throw error }
            return .done
        }
        do throws(CommandError) { try tokens.answer(line).write() } catch {
            guard ![.interrupted, .readerGone].contains(error.exit) else { throw error }
            try Output.write(CargoTokens.failure(error))
        }
    }
}

private struct CargoTokens {
    static let collection = "cargo"
    static let longest = 61_440
    private static let longestURL = 512

    private let access: ItemAccess

    init(_ access: ItemAccess) { self.access = access }

    /// What Cargo is told: to ask the next provider where there is nothing, else why.
    static func failure(_ error: CommandError) -> JSON {
        guard error.code != .recordNotFound else { return .object(["Err": .object(["kind": .text("not-found")])]) }
        let message = JSON.text("holdfast: \(Escaping.sentence(error.message))")
        return .object(["Err": .object(["kind": .text("other"), "message": message, "caused-by": .array([])])])
    }

    func answer(_ line: consuming SecretBytes) throws(CommandError) -> SecretJSON {
        let kind: String?, url: String?, token: SecretBytes?
        do throws(ImportError) {
            let document = try JSONDocument(line)
            kind = try document.text(document.root["kind"])
            url = try document.text(document.root["registry"]?["index-url"])
            token = try document.string(document.root["token"])
        } catch { throw .usage("cargo's request is not the JSON of one") }
        let path = try CargoTokens.path(url)
        var answer = SecretJSON()
        do {
            switch kind {
            case "get":
                try answer.raw(
                    "{\"Ok\":{\"kind\":\"get\",\"cache\":\"session\",\"operation_independent\":true,\"token\":")
                try append(path, to: &answer)
                try answer.raw("}}")
            case "login":
                try store(token ?? ask(path), path)
                try answer.raw("{\"Ok\":{\"kind\":\"login\"}}")
            case "logout":
                try erase(path)
                try answer.raw("{\"Ok\":{\"kind\":\"logout\"}}")
            default: try answer.raw("{\"Err\":{\"kind\":\"operation-not-supported\"}}")
            }
        } catch { throw CommandError(error) }
        return answer
    }

    private func append(_ path: RecordName, to answer: inout SecretJSON) throws {
        let item = try access.item(path)
        guard !item.isOfSecretService, let field = item.mainField else { throw CargoTokens.none }
        try item.withText(.field(field), "token") { value in try answer.value(value) }
    }

    /// A token that cargo was not told, from the terminal: its own standard input is the protocol's.
    private func ask(_ path: RecordName) throws(CommandError) -> SecretBytes {
        guard let terminal = Terminal() else { throw .usage("there is no terminal to ask for the token") }
        return try terminal.readSecret(
            prompt: "Token for \(Escaping.name(path.name)) (not shown): ", capacity: CargoTokens.longest)
    }

    private func store(_ token: borrowing SecretBytes, _ path: RecordName) throws(CommandError) {
        guard token.count > 0 else { throw .failure(.cancelled, "the token is empty; nothing was stored") }
        try access.store(path) { item throws(CommandError) in
            try vaultCall {
                try token.withBytes { token throws(VaultError) in try item.put(.secret, "password", bytes: token) }
            }
        }
    }

    private func erase(_ path: RecordName) throws(CommandError) {
        guard try !access.item(path).isOfSecretService else { throw CargoTokens.none }
        _ = try access.discard(path, days: Int(ItemStore.standardLifetime.components.seconds) / 86_400)
    }

    private static let none = CommandError(.notFound, code: .recordNotFound, "there is no token for this registry")

    private static func path(_ url: String?) throws(CommandError) -> RecordName {
        let isPlain = url?.unicodeScalars.allSatisfy { $0.value > 0x20 && $0.value < 0x7F } ?? false
        guard let url, isPlain, url.utf8.count <= longestURL, let path = RecordName(collection: collection, name: url)
        else { throw .usage("the address of a registry has 1 to \(longestURL) visible characters") }
        return path
    }
}

extension ItemAccess {
    /// Changes the login that a program keeps under a name, or makes it.
    /// - Throws: `invalidItem` for one that a program stored over the session bus: it would get the secret.
    func store(_ path: RecordName, _ fill: (inout Item) throws(CommandError) -> Void) throws(CommandError) {
        func fillOwn(_ item: inout Item) throws(CommandError) {
            guard !item.isOfSecretService else {
                throw .failure(
                    .invalidItem,
                    "a program stored an entry under this registry's name over the session bus; rename or remove it")
            }
            try fill(&item)
        }
        do throws(CommandError) {
            try change(FoundItem(record: NamedRecord(path), item: item(path)), fillOwn)
        } catch {
            guard error.code == .recordNotFound else { throw error }
            var item = try vaultCall { try Item(.login) }
            try fillOwn(&item)
            try add(item, as: NamedRecord(path))
        }
    }
}
