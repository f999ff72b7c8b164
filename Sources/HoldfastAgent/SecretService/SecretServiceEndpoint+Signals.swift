internal import DeviceOwner
internal import ProgramProtocols
internal import VaultCore

/// Signals (Secret Service API 0.2, chapter 4). Each goes to the clients that have a session, and not to whoever
/// listens on the bus: the paths have names in them.
extension SecretServiceEndpoint {
    /// Tells what was done for a program.
    /// - Parameter path: The object that it was done with.
    func tell(_ found: SecretServiceAnswer, of kind: SecretServiceCall, on path: String) {
        let (member, item): (String, String)
        switch (kind, found) {
        case (.createItem, .created(let made)): (member, item) = ("ItemCreated", made)
        case (.deleteItem, .done): (member, item) = ("ItemDeleted", path)
        case (.setSecret, .done), (.setProperty, .done): (member, item) = ("ItemChanged", path)
        default: return
        }
        guard case .item(let collection, _) = SecretServicePath(parsing: item) else { return }
        let place = SecretServicePath.collection(collection).text
        for client in sessions.clients {
            let signal = bus.signal(member, of: "org.freedesktop.Secret.Collection", on: place, to: client)
            signal?.path(item)
            signal?.send()
        }
    }

    /// Says that the vault is locked now, or is not.
    func tellLocked(_ isLocked: Bool) {
        tellLocked(SecretServicePath.collection(Vault.defaultCollection).text, isLocked, sessions.clients)
    }

    /// Says that an object is locked now, or is not.
    func tellLocked(_ path: String, _ isLocked: Bool, _ clients: Set<String>) {
        let kind: String
        switch SecretServicePath(parsing: path) {
        case .collection, .alias: kind = "Collection"
        case .item, .found: kind = "Item"
        default: return
        }
        for client in clients {
            let changed = bus.signal(
                "PropertiesChanged", of: "org.freedesktop.DBus.Properties", on: path, to: client)
            guard let changed else { return }
            changed.text("org.freedesktop.Secret.\(kind)")
            changed.container("a", "{sv}") {
                changed.container("e", "sv") {
                    changed.text("Locked")
                    changed.variant(.flag(isLocked))
                }
            }
            changed.container("a", "s") {}
            changed.send()
        }
    }
}
