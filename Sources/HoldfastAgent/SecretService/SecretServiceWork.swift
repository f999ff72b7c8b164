internal import AgentMessages
internal import ProgramProtocols
internal import ProgramAccess
internal import Items
internal import SecretMemory
internal import VaultCore
internal import VaultFormat
internal import VaultStorage

/// What threads do in the open vault for calls of the Secret Service.
struct SecretServiceWork: Sendable {
    let items: ItemStore
    let gate: LeaseCheck

    private var store: SecretServiceStore { SecretServiceStore(items) }

    /// The collection that a path means; nil for other objects.
    static func collection(_ path: SecretServicePath) -> String? {
        switch path {
        case .collection(let name): name
        case .alias("default"): Vault.defaultCollection
        case .alias, .item, .service, .session, .prompt, .found: nil
        }
    }

    static func path(_ entry: SecretServiceStore.Entry) -> String {
        SecretServicePath.item(collection: entry.collection, name: entry.name).text
    }

    func search(_ question: SecretServiceAttributes, in collection: String?) throws -> SecretServiceAnswer {
        .items(try store.search(question, in: collection))
    }

    func secret(_ path: SecretServicePath) throws -> SecretServiceSecret {
        let (collection, name) = try item(path)
        guard let record = RecordName(collection: collection, name: name) else { throw VaultError.noSuchRecord }
        return try store.secret(name, in: collection) { item throws(VaultError) in try gate.pass(item, record) }
    }

    /// The item that a path means.
    private func item(_ path: SecretServicePath) throws -> (collection: String, name: String) {
        switch path {
        case .item(let collection, let name): return (collection, name)
        case .found(let question):
            guard let first = try store.search(question, in: nil).first else { throw VaultError.noSuchRecord }
            return (first.collection, first.name)
        default: throw VaultError.noSuchRecord
        }
    }

    /// Those of many that can be given: one that the user refuses is left out, but not before the user was asked.
    /// - Throws: What is wrong with the only one; what stops at the gate.
    func secrets(_ paths: Set<String>) throws -> SecretServiceAnswer {
        var found: [(path: String, secret: SecretServiceSecret)] = []
        var bytes = 0
        for text in paths.sorted() {
            var isSearch = false
            do {
                guard let path = SecretServicePath(parsing: text) else { throw VaultError.noSuchRecord }
                if case .found = path { isSearch = true }
                let one = try secret(path)
                bytes += one.value.count
                // What is not yet in the message is in locked memory, of which there is little.
                guard bytes <= 1 << 20 else { throw VaultError(.tooLarge, "the secrets are too large together") }
                found.append((text, one))
            } catch let error as VaultError {
                // A search that finds nothing is no error.
                if isSearch, error.code == .invalidName { continue }
                guard paths.count > 1, gate.closed == nil,
                    [.recordNotFound, .notAllowed, .invalidName].contains(error.code)
                else {
                    throw error
                }
            }
        }
        return .secrets(found)
    }

    func properties(of path: SecretServicePath) throws -> SecretServiceAnswer {
        switch path {
        case .service: return .properties([("Collections", .paths(try collections()))])
        case .session, .prompt: throw VaultError.noSuchRecord
        case .collection, .alias:
            guard let name = SecretServiceWork.collection(path) else { throw VaultError.noSuchRecord }
            return SecretServiceWork.properties(
                collection: name, try store.search(SecretServiceAttributes(), in: name), isLocked: false)
        case .item, .found:
            let (collection, name) = try item(path)
            let entry = try store.entry(name, in: collection)
            return .properties([
                ("Locked", .flag(false)), ("Attributes", .attributes(entry.attributes)), ("Label", .text(entry.label)),
                ("Created", .number(UInt64(max(0, entry.created / 1000)))),
                ("Modified", .number(UInt64(max(0, entry.modified / 1000)))),
            ])
        }
    }

    /// What is told of an item that a search may find: only what was asked.
    static func properties(lockedWith question: SecretServiceAttributes) -> SecretServiceAnswer {
        .properties([
            ("Locked", .flag(true)), ("Attributes", .attributes(question)), ("Label", .text("")),
            ("Created", .number(0)), ("Modified", .number(0)),
        ])
    }

    private func collections() throws -> [String] {
        let found = try store.search(SecretServiceAttributes(), in: nil).map(\.collection) + [Vault.defaultCollection]
        return Set(found.map { SecretServicePath.collection($0).text }).sorted()
    }

    /// - Parameter entries: Its items; none while the vault is locked, when nothing is told of them.
    static func properties(
        collection: String, _ entries: [SecretServiceStore.Entry], isLocked: Bool
    ) -> SecretServiceAnswer {
        .properties([
            ("Items", .paths(entries.map(path))), ("Label", .text(collection)), ("Locked", .flag(isLocked)),
            ("Created", .number(UInt64(max(0, (entries.map(\.created).min() ?? 0) / 1000)))),
            ("Modified", .number(UInt64(max(0, (entries.map(\.modified).max() ?? 0) / 1000)))),
        ])
    }
}
