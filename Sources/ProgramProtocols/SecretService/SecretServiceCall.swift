/// A call of the Secret Service: which there are, on which objects, with which types (Secret Service API 0.2, chapter
/// 4). What is not exactly one of these is refused before anything of it is read.
package enum SecretServiceCall: String, Sendable, CaseIterable {
    case openSession = "Service.OpenSession"
    case createCollection = "Service.CreateCollection"
    case searchItems = "Service.SearchItems"
    case unlock = "Service.Unlock"
    case lock = "Service.Lock"
    /// gnome-keyring's own: everything.
    case lockService = "Service.LockService"
    case getSecrets = "Service.GetSecrets"
    case readAlias = "Service.ReadAlias"
    case setAlias = "Service.SetAlias"
    case deleteCollection = "Collection.Delete"
    case searchCollection = "Collection.SearchItems"
    case createItem = "Collection.CreateItem"
    case deleteItem = "Item.Delete"
    case getSecret = "Item.GetSecret"
    case setSecret = "Item.SetSecret"
    case closeSession = "Session.Close"
    case prompt = "Prompt.Prompt"
    case dismiss = "Prompt.Dismiss"
    case getProperty = "Properties.Get"
    case getProperties = "Properties.GetAll"
    case setProperty = "Properties.Set"
    case introspect = "Introspectable.Introspect"

    /// Why a call is not done.
    package enum Refusal: Error, Sendable, Hashable {
        case unknownObject
        case unknownMethod
        /// The types are not those of the call.
        case invalidArguments
    }

    /// - Parameters:
    ///   - interface: Empty where the client names none.
    ///   - signature: The types of the whole message.
    /// - Throws: ``Refusal``.
    package init(
        interface: String, member: String, signature: String, on path: SecretServicePath?
    ) throws(Refusal) {
        guard let path else { throw .unknownObject }
        let found = SecretServiceCall.allCases.first { call in
            let isNamed = call.member.utf8.elementsEqual(member.utf8)
            return isNamed && call.isOn(path)
                && (interface.isEmpty || call.interface.utf8.elementsEqual(interface.utf8))
        }
        guard let found else { throw .unknownMethod }
        guard signature == found.signature else { throw .invalidArguments }
        self = found
    }

    private var member: Substring { rawValue.split(separator: ".")[1] }

    package var interface: String {
        let name = rawValue.split(separator: ".")[0]
        return isOfBus ? "org.freedesktop.DBus.\(name)" : "org.freedesktop.Secret.\(name)"
    }

    /// The types of its arguments. A secret is `(oayays)`: session, parameters, value, content type.
    package var signature: String {
        switch self {
        case .openSession: "sv"
        case .createCollection: "a{sv}s"
        case .searchItems, .searchCollection: "a{ss}"
        case .unlock, .lock: "ao"
        case .getSecrets: "aoo"
        case .readAlias, .prompt: "s"
        case .setAlias: "so"
        case .createItem: "a{sv}(oayays)b"
        case .getSecret: "o"
        case .setSecret: "(oayays)"
        case .deleteCollection, .deleteItem, .closeSession, .dismiss, .lockService, .introspect: ""
        case .getProperty: "ss"
        case .getProperties: "s"
        case .setProperty: "ssv"
        }
    }

    /// Whether it is about what is in the open vault.
    package var needsVault: Bool {
        switch self {
        case .createItem, .deleteItem, .getSecret, .getSecrets, .setSecret, .searchItems, .searchCollection,
            .getProperty, .getProperties, .setProperty, .createCollection, .unlock:
            true
        case .openSession, .lock, .lockService, .readAlias, .setAlias, .deleteCollection, .closeSession, .prompt,
            .dismiss, .introspect:
            false
        }
    }

    /// Whether it is the bus's own interface, which every object has.
    private var isOfBus: Bool { rawValue.utf8.starts(with: "Properties.".utf8) || self == .introspect }

    private func isOn(_ path: SecretServicePath) -> Bool {
        isOfBus || rawValue.split(separator: ".")[0] == path.kind
    }
}

extension SecretServicePath {
    /// What its interface is called.
    package var kind: String {
        switch self {
        case .service: "Service"
        case .collection, .alias, .sessionCollection: "Collection"
        case .item, .found, .sessionItem: "Item"
        case .prompt: "Prompt"
        case .session: "Session"
        }
    }
}
