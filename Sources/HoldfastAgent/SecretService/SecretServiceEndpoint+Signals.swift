internal import DeviceOwner
internal import ProgramAccess
internal import ProgramProtocols
internal import VaultCore

/// Signals (Secret Service API 0.2, chapter 4). Each goes to the clients that have a session, and not to whoever
/// listens on the bus: the paths have names in them.
extension SecretServiceEndpoint {
    /// Tells what was done for a program.
    /// - Parameter path: The object that it was done with.
    func tell(_ found: SecretServiceAnswer, of kind: SecretServiceCall, on path: String) {
        switch (kind, found) {
        case (.createItem, .created(let item, let isNew)): tell(isNew ? .created : .changed, item)
        case (.deleteItem, .done): tell(.deleted, path)
        case (.setSecret, .done): tell(.changed, path)
        case (.setProperty, .changed(let name, let value)):
            tellChange(of: name, to: value, on: path, sessions.clients)
            tell(.changed, path)
        default: return
        }
    }

    /// What became of an item.
    enum Change: String, Sendable {
        case created = "ItemCreated"
        case changed = "ItemChanged"
        case deleted = "ItemDeleted"
    }

    func tell(_ change: Change, _ item: String, isOwn: Bool = true) {
        let place: String
        switch SecretServicePath(parsing: item) {
        case .item(let collection, _): place = SecretServicePath.collection(collection).text
        case .sessionItem: place = SecretServicePath.sessionCollection.text
        default: return
        }
        if isOwn { survey.told(item) }
        for client in sessions.clients {
            let signal = bus.signal(change.rawValue, of: "org.freedesktop.Secret.Collection", on: place, to: client)
            signal?.path(item)
            signal?.send()
        }
    }

    /// Says that the vault is locked now, or is not.
    func tellLocked(_ isLocked: Bool) {
        if isLocked {
            memory.clear()
            survey.forget()
        }
        tellLocked(SecretServiceWork.standardCollections, isLocked)
    }

    /// Tells all clients whether collections are locked.
    func tellLocked(_ collections: some Sequence<String>, _ isLocked: Bool) {
        for path in collections {
            tellLocked(path, isLocked, sessions.clients)
            for client in sessions.clients {
                let signal = bus.signal(
                    "CollectionChanged", of: "org.freedesktop.Secret.Service", on: SecretServicePath.root, to: client)
                signal?.path(path)
                signal?.send()
            }
        }
    }

    /// Says that an object is locked now, or is not.
    func tellLocked(_ path: String, _ isLocked: Bool, _ clients: Set<String>) {
        tellChange(of: "Locked", to: .flag(isLocked), on: path, clients)
    }

    private func tellChange(
        of name: String, to value: SecretServiceAnswer.Property, on path: String, _ clients: Set<String>
    ) {
        guard let interface = SecretServicePath(parsing: path)?.interface else { return }
        for client in clients {
            let changed = bus.signal(
                "PropertiesChanged", of: "org.freedesktop.DBus.Properties", on: path, to: client)
            guard let changed else { return }
            changed.text(interface)
            changed.container("a", "{sv}") {
                changed.container("e", "sv") {
                    changed.text(name)
                    changed.variant(value)
                }
            }
            changed.container("a", "s") {}
            changed.send()
        }
    }
}
