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
    /// The collection `session`.
    let memory: SecretServiceMemory.Items
    let gate: LeaseCheck
    /// What it may take of locked memory; nil for no secrets.
    let room: SecretServiceRoom?

    private var store: SecretServiceStore { SecretServiceStore(items, room) }

    /// A collection: a folder of the vault, or the one in memory.
    enum Place: Sendable, Hashable {
        case folder(String)
        case session

        var path: String {
            switch self {
            case .folder(let name): SecretServicePath.collection(name).text
            case .session: SecretServicePath.sessionCollection.text
            }
        }

        var label: String {
            switch self {
            case .folder(let name): name
            case .session: SecretServicePath.sessionName
            }
        }

        static let standard = Place.folder(Vault.defaultCollection)

        /// What a short name stands for; nil for a name that stands for nothing.
        init?(alias: String) {
            switch alias {
            case "default": self = .standard
            case SecretServicePath.sessionName: self = .session
            default: return nil
            }
        }

        /// The collection that a path means; nil for other objects.
        init?(_ path: SecretServicePath) {
            switch path {
            case .collection(let name): self = .folder(name)
            case .sessionCollection: self = .session
            case .alias(let alias):
                guard let place = Place(alias: alias) else { return nil }
                self = place
            case .item, .sessionItem, .service, .session, .prompt, .found: return nil
            }
        }
    }

    /// - Parameter place: Where to search; everywhere when nil.
    func search(_ question: SecretServiceAttributes, in place: Place?) throws -> SecretServiceAnswer {
        .items(try entries(question, in: place).map(\.path.text))
    }

    private func entries(
        _ question: SecretServiceAttributes, in place: Place?
    ) throws(VaultError) -> [SecretServiceStore.Entry] {
        var found: [SecretServiceStore.Entry] = []
        switch place {
        case .session: break
        case .folder(let name): found = try store.search(question, in: name)
        case nil: found = try store.search(question, in: nil)
        }
        if place == nil || place == .session {
            for number in try memory.search(question) { found.append(try memory.entry(number)) }
        }
        return found
    }

    func create(
        _ draft: SecretServiceStore.Draft, _ secret: SecretServiceSecret, in place: Place
    ) throws -> SecretServiceAnswer {
        switch place {
        case .session:
            let (number, isNew) = try memory.create(draft, secret)
            return .created(SecretServicePath.sessionItem(number).text, isNew: isNew)
        case .folder(let collection):
            let (name, isNew) = try secret.value.withBytes { value throws(VaultError) in
                try store.create(draft, value, in: collection)
            }
            return .created(SecretServicePath.item(collection: collection, name: name).text, isNew: isNew)
        }
    }

    func set(_ path: SecretServicePath, _ secret: SecretServiceSecret) throws -> SecretServiceAnswer {
        switch path {
        case .sessionItem(let number): try memory.set(number, secret)
        case .item(let collection, let name):
            try secret.value.withBytes { value throws(VaultError) in
                try store.set(name, in: collection, value, contentType: secret.contentType)
            }
        default: throw VaultError.noSuchRecord
        }
        return .done
    }

    func set(_ path: SecretServicePath, label: String) throws -> SecretServiceAnswer {
        switch path {
        case .sessionItem(let number): try memory.set(number, label: label)
        case .item(let collection, let name): try store.set(name, in: collection, label: label)
        default: throw VaultError.noSuchRecord
        }
        return .changed("Label", .text(label))
    }

    func set(
        _ path: SecretServicePath, attributes: SecretServiceAttributes
    ) throws -> SecretServiceAnswer {
        switch path {
        case .sessionItem(let number): try memory.set(number, attributes: attributes)
        case .item(let collection, let name): try store.set(name, in: collection, attributes: attributes)
        default: throw VaultError.noSuchRecord
        }
        return .changed("Attributes", .attributes(attributes))
    }

    func delete(_ path: SecretServicePath) throws -> SecretServiceAnswer {
        switch path {
        case .sessionItem(let number): try memory.delete(number)
        case .item(let collection, let name): try store.delete(name, in: collection)
        default: throw VaultError.noSuchRecord
        }
        return .done
    }

    /// The one of an object.
    func only(_ path: SecretServicePath) throws -> SecretServiceAnswer { .secrets([(path.text, try secret(path))]) }

    private func secret(_ path: SecretServicePath) throws -> SecretServiceSecret {
        if case .sessionItem(let number) = path { return try memory.secret(number) }
        let (collection, name) = try item(path)
        guard let record = RecordName(collection: collection, name: name) else { throw VaultError.noSuchRecord }
        return try store.secret(name, in: collection) { item throws(VaultError) in try gate.pass(item, record) }
    }

    /// The item that a path means.
    private func item(_ path: SecretServicePath) throws -> (collection: String, name: String) {
        switch path {
        case .item(let collection, let name): return (collection, name)
        case .found(let question, let place):
            guard case .item(let collection, let name) = try store.search(question, in: place).first?.path else {
                throw VaultError(.recordNotFound, "nothing has these attributes")
            }
            return (collection, name)
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
                guard bytes <= SecretServiceStore.longest else {
                    throw VaultError(.tooLarge, "these secrets are too large together; ask for fewer in one call")
                }
                found.append((text, one))
            } catch let error as VaultError {
                // A search that finds nothing is no error of a call for several.
                if isSearch, error.code == .recordNotFound { continue }
                guard paths.count > 1, gate.closed == nil,
                    [.recordNotFound, .notAllowed, .invalidName, .damaged].contains(error.code)
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
        case .session, .prompt: return .properties([])
        case .collection, .alias, .sessionCollection:
            guard let place = Place(path) else { throw VaultError.noSuchRecord }
            return SecretServiceWork.properties(
                of: place, try entries(SecretServiceAttributes(), in: place), isLocked: false)
        case .sessionItem(let number): return SecretServiceWork.properties(try memory.entry(number))
        case .item, .found:
            let (collection, name) = try item(path)
            return SecretServiceWork.properties(try store.entry(name, in: collection))
        }
    }

    private static func properties(_ entry: SecretServiceStore.Entry) -> SecretServiceAnswer {
        .properties([
            ("Locked", .flag(false)), ("Attributes", .attributes(entry.attributes)), ("Label", .text(entry.label)),
            ("Created", .number(UInt64(max(0, entry.created / 1000)))),
            ("Modified", .number(UInt64(max(0, entry.modified / 1000)))),
        ])
    }

    /// What is told of an item that a search may find: only what was asked.
    static func properties(lockedWith question: SecretServiceAttributes) -> SecretServiceAnswer {
        .properties([
            ("Locked", .flag(true)), ("Attributes", .attributes(question)), ("Label", .text("")),
            ("Created", .number(0)), ("Modified", .number(0)),
        ])
    }

    private func collections() throws -> [String] {
        let found = try store.search(SecretServiceAttributes(), in: nil).compactMap { entry -> String? in
            guard case .item(let collection, _) = entry.path else { return nil }
            return SecretServicePath.collection(collection).text
        }
        return Set(found + SecretServiceWork.standardCollections).sorted()
    }

    /// Those that are always there.
    static let standardCollections = [Place.standard.path, Place.session.path]

    /// - Parameter entries: Its items; none while the vault is locked, when nothing is told of them.
    static func properties(
        of place: Place, _ entries: [SecretServiceStore.Entry], isLocked: Bool
    ) -> SecretServiceAnswer {
        .properties([
            ("Items", .paths(entries.map(\.path.text))), ("Label", .text(place.label)), ("Locked", .flag(isLocked)),
            ("Created", .number(UInt64(max(0, (entries.map(\.created).min() ?? 0) / 1000)))),
            ("Modified", .number(UInt64(max(0, (entries.map(\.modified).max() ?? 0) / 1000)))),
        ])
    }
}
