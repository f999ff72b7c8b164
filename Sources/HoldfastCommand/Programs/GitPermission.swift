internal import AgentMessages
internal import CommandLineArguments
internal import Holdfast
internal import HoldfastAgent
internal import Items
internal import ProgramAccess
internal import ProgramProtocols
internal import VaultFormat

/// Which logins outside of git's collection git may have, and for which servers.
struct GitPermission {
    private enum Action: String {
        case allow = "allow"
        case disallow = "disallow"
        case list = "list"
    }

    private let action: Action
    private let server: CredentialAddress?
    private let collection: String
    private let access: ItemAccess

    /// Nil for what git itself asks.
    /// - Throws: A usage error for what names no server.
    init?(_ arguments: Arguments) throws(CommandError) {
        guard let action = Action(rawValue: arguments[place: 0]) else { return nil }
        self.action = action
        let host = arguments.places.dropFirst().first
        guard (host != nil) == (action != .list) else {
            throw .usage("\(action.rawValue) takes \(host == nil ? "a host, such as github.com" : "no host")")
        }
        server = try host.map { host throws(CommandError) in try GitPermission.server(host) }
        collection = arguments[Options.credentialCollection] ?? CredentialStore.defaultCollection
        access = ItemAccess(arguments)
    }

    private static func server(_ text: String) throws(CommandError) -> CredentialAddress {
        let rest = text.firstRange(of: "://").map { text[$0.upperBound...] } ?? text[...]
        let host = rest.hasSuffix("/") ? rest.dropLast() : rest
        guard !host.contains(where: { "/?#@".contains($0) }), let server = CredentialAddress(serverOf: text) else {
            throw .usage("'\(Escaping.name(text))' is no server; write a host such as github.com, or http://HOST")
        }
        guard AllowedLogin.tag(for: server) != nil else {
            throw .failure(.tooLarge, "the name of this server is too long for a tag")
        }
        return server
    }

    func run() throws(CommandError) -> ExitCode {
        switch action {
        case .allow: try allow()
        case .disallow: try disallow()
        case .list: try list()
        }
        return .done
    }

    private func allow() throws(CommandError) {
        guard let server, let tag = AllowedLogin.tag(for: server) else { return }
        var (count, refusal) = (0, CommandError?.none)
        for (path, user) in try found(server.host) {
            let found: FoundItem
            do throws(CommandError) { found = FoundItem(record: NamedRecord(path), item: try access.item(path)) } catch
            {
                // One that asks, and is not given: the others are still allowed.
                guard error.code == .notAllowed else { throw error }
                Output.note("\(path.entry.text) asks first, and was left as it is: \(error.what)")
                refusal = error
                continue
            }
            guard AllowedLogin.isPossible(found.item, for: server) else { continue }
            try access.change(found) { item throws(CommandError) in
                guard AllowedLogin.isPossible(item, for: server) else { return }
                try vaultCall { try item.addTag(tag) }
            }
            count += 1
            try tell(server, user, path)
        }
        guard count > 0 else {
            if let refusal { throw refusal }
            throw CommandError(
                .notFound, code: .recordNotFound, "no login has an address on \(server.name)",
                advice: "holdfast find \(ShellWord.quoted(server.host)) shows what has its name")
        }
    }

    private func disallow() throws(CommandError) {
        guard let server, let tag = AllowedLogin.tag(for: server) else { return }
        // What is in the trash would come back with it, and what is in git's collection leave that with it.
        let count = try access.run(changes: true) { agent throws(VaultError) in
            try agent.disallow(tag: tag)
        } own: { (items, _) throws(VaultError) in
            try items.untag(tag)
        }
        guard count > 0 else {
            throw CommandError(
                .notFound, code: .recordNotFound, "no login is allowed for \(server.name)",
                advice: "holdfast git-credential list shows what is")
        }
    }

    private func list() throws(CommandError) {
        for tag in try access.tags() {
            guard let server = AllowedLogin.server(of: tag) else { continue }
            for (path, user) in try found("#" + tag) {
                do throws(CommandError) {
                    let item = try access.item(path)
                    if AllowedLogin.isAllowed(item, for: server) { try tell(server, user, path) }
                } catch {
                    // One that asks has the tag for all that.
                    guard error.code == .notAllowed else { throw error }
                    try tell(server, user, path)
                }
            }
        }
    }

    /// Entries outside of git's own collection that a search finds, and whom each is for.
    private func found(_ query: String) throws(CommandError) -> [(path: RecordName, user: String)] {
        let all: [(path: RecordName, user: String)] = try access.run { agent throws(VaultError) in
            try agent.find(query, in: nil).map { ($0.path, $0.user) }
        } own: { (items, _) throws(VaultError) in
            try items.search(ItemQuery(query)).compactMap { match in
                RecordName(collection: match.collection, name: match.name).map { ($0, match.user) }
            }
        }
        return all.filter {
            !$0.path.entry.isReserved && !$0.path.collection.utf8.elementsEqual(collection.utf8)
        }
    }

    /// The host, the entry, and the user that it is for.
    private func tell(_ server: CredentialAddress, _ user: String, _ path: RecordName) throws(CommandError) {
        let host = String(AllowedLogin.tag(for: server)?.dropFirst(AllowedLogin.mark.count) ?? "")
        try Output.write([host, path.entry.text, Escaping.name(user)].joined(separator: "\t") + "\n")
    }
}
