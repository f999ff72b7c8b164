internal import AgentMessages
internal import ProgramAccess
internal import Items
internal import SecretMemory
internal import VaultCore
internal import VaultFormat
internal import VaultStorage

// Records and their values for clients, and for programs that use them.
extension Agent {
    func handle(_ request: RecordRequest, _ connection: Connection) {
        switch request {
        case .get(let path):
            begin(connection) { [items] vault, gate in
                let reader = try vault.reader(for: path.name, in: path.collection)
                try items.checkAbove(path.entry, gate.pass(_:at:))
                return try Work.give(reader, 0)
            }
        case .put(let path, let replacing):
            begin(connection) { vault in
                let besides = path.entry.twins.compactMap(\.record)
                let writer = try vault.writer(
                    for: path.name, in: path.collection, replacing: replacing, besides: besides)
                return ([try Packet(.ready)], .take(writer))
            }
        case .list(let collection):
            begin(connection) { vault in ([], .list(try Work.entries(vault, in: collection))) }
        case .remove(let path):
            begin(connection) { [items] _ in
                try items.remove(path.entry)
                return ([try Packet(.done)], .rest)
            }
        case .move(let path, let target):
            begin(connection) { [items] _, gate in
                // A name is what the user is asked by: giving an item that asks another one is a use of it.
                try items.rename(
                    path.name, in: path.collection, to: target.name, into: target.collection, isChecked: true,
                    admitting: gate.pass(_:at:))
                return ([try Packet(.done)], .rest)
            }
        case .copy(let path, let target):
            begin(connection) { [items] _, gate in
                try items.copy(
                    path.name, in: path.collection, to: target.name, into: target.collection, isChecked: true,
                    admitting: gate.pass(_:at:))
                return ([try Packet(.done)], .rest)
            }
        case .find(let query, let collection):
            begin(connection) { [items] _ in ([], .list(try Work.found(items, query, in: collection))) }
        case .value(let path, let label, let isCode):
            begin(connection) { [items] _, gate in
                (try Work.value(items, path, label, isCode: isCode, gate), .rest)
            }
        }
    }

    /// The next part of a value that is being stored. Each is answered, so that an error is met at once.
    func store(_ request: Request, _ body: Body, _ writer: ValueWriter, _ connection: Connection) {
        switch request {
        case .transfer(.data(let range)):
            begin(connection) { _ in
                try body.bytes.withBytes { try writer.append($0.extracting(range)) }
                return ([try Packet(.ready)], .take(writer))
            }
        case .transfer(.end): begin(connection) { _ in ([try Packet(.finished(try writer.finish()))], .rest) }
        default: fail(connection, VaultError(.agentProtocol, "a value is being stored"))
        }
    }

    func handle(_ request: ProgramRequest, _ body: Body, _ connection: Connection) {
        switch request {
        case .credential(let action, let collection, let attributes):
            begin(connection) { [items] vault, gate in
                let store = CredentialStore(vault, items, collection: collection)
                return (try Work.credential(store, action, body, attributes, gate), .rest)
            }
        case .serveSSH:
            do throws(VaultError) {
                let path = Array(try serveSSH().utf8)
                send(.notice(String(decoding: path, as: UTF8.self)), to: connection)
                send(.done, to: connection)
            } catch { fail(connection, error) }
        case .serveSecrets:
            do throws(VaultError) {
                try serveSecrets()
                send(.done, to: connection)
            } catch { fail(connection, error) }
        case .stopSecrets:
            endSecrets()
            send(.done, to: connection)
        case .disallow(let tag):
            // No other tag: one that guards would be gone without a question.
            guard AllowedLogin.server(of: tag) != nil else {
                return fail(connection, VaultError(.invalidItem, "this tag lets git have no login"))
            }
            begin(connection) { [items] _ in ([try Packet(.finished(UInt64(try items.untag(tag))))], .rest) }
        case .importSSH(let path, let key):
            begin(connection) { [items] _ in
                let line = try body.bytes.withBytes { bytes in
                    try SSHIdentities(items).add(bytes.extracting(key), as: path.name, in: path.collection)
                }
                return ([try Packet(.notice(line)), try Packet(.done)], .rest)
            }
        }
    }
}
