internal import AgentMessages
internal import FaceMessages
internal import Faces
internal import Items
internal import SecretMemory
internal import VaultCore
internal import VaultFormat
internal import VaultStorage

/// What threads do in the open vault for calls of the Secret Service.
struct SecretServiceWork: Sendable {
    let items: ItemStore
    let gate: Gate

    private var store: SecretServiceStore { SecretServiceStore(items) }

    /// The collection that a path means; nil for other objects.
    static func collection(_ path: SecretServicePath) -> String? {
        switch path {
        case .collection(let name): name
        case .alias("default"): Vault.defaultCollection
        case .alias, .item, .service, .session: nil
        }
    }

    static func path(_ entry: SecretServiceStore.Entry) -> String {
        SecretServicePath.item(collection: entry.collection, name: entry.name).text
    }

    func search(_ question: SecretServiceAttributes, in collection: String?) throws -> SecretServiceAnswer {
        .items(try store.search(question, in: collection))
    }

    func secret(_ path: SecretServicePath) throws -> SecretServiceSecret {
        guard case .item(let collection, let name) = path, let record = RecordPath(collection: collection, name: name)
        else { throw VaultError.noSuchRecord }
        return try store.secret(name, in: collection) { item throws(VaultError) in try gate.pass(item, record) }
    }

    /// Those of many that can be given.
    /// - Throws: What is wrong with the only one.
    func secrets(_ paths: [String]) throws -> SecretServiceAnswer {
        var found: [(path: String, secret: SecretServiceSecret)] = []
        var bytes = 0
        for text in Set(paths).sorted() {
            do {
                guard let path = SecretServicePath(parsing: text) else { throw VaultError.noSuchRecord }
                let one = try secret(path)
                bytes += one.value.count
                // What is not yet in the message is in locked memory, of which there is little.
                guard bytes <= 1 << 20 else { throw VaultError(.tooLarge, "the secrets are too large together") }
                found.append((text, one))
            } catch let error as VaultError {
                guard paths.count > 1, [.recordNotFound, .notAllowed, .invalidName].contains(error.code) else {
                    throw error
                }
            }
        }
        return .secrets(found)
    }

    func properties(of path: SecretServicePath) throws -> SecretServiceAnswer {
        switch path {
        case .service: return .properties([("Collections", .paths(try collections()))])
        case .session: throw VaultError.noSuchRecord
        case .collection, .alias:
            guard let name = SecretServiceWork.collection(path) else { throw VaultError.noSuchRecord }
            return SecretServiceWork.properties(
                collection: name, try store.search(SecretServiceAttributes(), in: name), isLocked: false)
        case .item(let collection, let name):
            let entry = try store.entry(name, in: collection)
            return .properties([
                ("Locked", .flag(false)), ("Attributes", .attributes(entry.attributes)), ("Label", .text(entry.name)),
                ("Created", .number(UInt64(max(0, entry.created / 1000)))),
                ("Modified", .number(UInt64(max(0, entry.modified / 1000)))),
            ])
        }
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
