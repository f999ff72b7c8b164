internal import CSecret
internal import SystemCalls
internal import VaultFormat

/// What our processes call themselves that stay behind. An agent can be the session's Secret Service: it keeps what it
/// is given in a vault, and nothing that opens or ends a vault may lie in one.
package enum OwnProgram {
    package static let name = "holdfast"
}

/// The keyring service of the session as it is now: which program it is, and which keyrings it has.
///
/// Made for one operation: what the library remembers of an earlier one (a session, whether a keyring is locked) it
/// learns to be out of date from an event loop only, which we do not run.
@safe final class KeyringService {
    /// One of the service's keyrings.
    struct Collection: Hashable {
        /// Its path on the bus, as short as it can be.
        let path: String
        let isLocked: Bool
    }

    let keyring: Keyring
    /// The library's object.
    let service: UnsafeMutableRawPointer
    /// The name of the program, cut by the kernel to 15 bytes; a fixed word where it cannot be known.
    let program: String
    let collections: [Collection]
    /// The one that new items go into; nil where there is none.
    let standard: Collection?

    /// What the paths of keyrings begin with.
    static let prefix = "/org/freedesktop/secrets/collection/"
    private static let unknownProgram = "secret-service"

    /// The word that items keep: the program and the keyring in it.
    func backend(_ collection: Collection) -> String { "\(program):\(collection.path)" }

    /// A keyring's path on the bus.
    static func path(_ collection: Collection) -> String {
        collection.path.hasPrefix("/") ? collection.path : prefix + collection.path
    }

    /// The keyring that an item's word names; nil where the service has none of that name, or is another program.
    func collection(of backend: String) -> Collection? { collections.first { self.backend($0) == backend } }

    /// Looks without making or unlocking anything.
    /// - Throws: ``KeyStoreError`` (`unavailable`, `busy`).
    init(_ keyring: Keyring) throws {
        let openSessionAndLoadCollections: Int32 = 1 << 1 | 1 << 2
        let opened = try unsafe keyring.limited { cancellable, error in
            unsafe keyring.call.secret_service_open_sync(
                keyring.call.secret_service_get_type(), nil, openSessionAndLoadCollections, cancellable, &error)
        }
        guard let service = unsafe opened else {
            throw KeyStoreError(.unavailable, "no keyring runs in this session (gnome-keyring)")
        }
        self.keyring = keyring
        unsafe self.service = service
        program = unsafe KeyringService.program(of: service, keyring)
        var found: [Collection] = []
        let list = unsafe keyring.call.secret_service_get_collections(service)
        defer { unsafe keyring.call.g_list_free_full(list, keyring.call.g_object_unref) }
        var entry = unsafe list
        while let each = unsafe entry {
            if let collection = unsafe each.pointee.data { unsafe found.append(Collection(collection, keyring)) }
            unsafe entry = each.pointee.next
        }
        collections = found
        let alias: UnsafeMutableRawPointer?
        do {
            unsafe alias = try unsafe keyring.limited { cancellable, error in
                unsafe keyring.call.secret_collection_for_alias_sync(service, "default", 0, cancellable, &error)
            }
        } catch {
            unsafe keyring.call.g_object_unref(service)
            throw error
        }
        if let alias = unsafe alias {
            defer { unsafe keyring.call.g_object_unref(alias) }
            standard = unsafe Collection(alias, keyring)
        } else {
            standard = nil
        }
    }

    deinit { unsafe keyring.call.g_object_unref(service) }

    /// The service of this session, with the library that asks it.
    /// - Throws: ``KeyStoreError`` (`unavailable`, `busy`); `unavailable` where the service is an agent of ours.
    static func current() throws -> KeyringService {
        let service = try KeyringService(Keyring.required())
        guard service.program != OwnProgram.name else {
            throw KeyStoreError(
                .unavailable, "the Secret Service of this session is Holdfast itself, which is no keyring for vaults")
        }
        return service
    }

    /// The keyring that new items go into, unlocked. A call without one would make one.
    /// - Throws: ``KeyStoreError`` (`unavailable`, `lockedOut`).
    func openStandard() throws(KeyStoreError) -> Collection {
        guard let standard else {
            throw KeyStoreError(.unavailable, "the session has a keyring program but no keyring")
        }
        guard !standard.isLocked else { throw KeyStoreError(.lockedOut, Keyring.lockedReason) }
        return standard
    }

    /// Who owns the service's name on the bus, as the kernel calls the process.
    private static func program(of service: UnsafeMutableRawPointer, _ keyring: Keyring) -> String {
        guard let owner = unsafe keyring.call.g_dbus_proxy_get_name_owner(service),
            let connection = unsafe keyring.call.g_dbus_proxy_get_connection(service)
        else { return unknownProgram }
        defer { unsafe keyring.call.g_free(owner) }
        // The call takes the reference over that these begin with.
        var part = unsafe keyring.call.g_variant_new_string(owner)
        let parameters = unsafe withUnsafePointer(to: &part) { unsafe keyring.call.g_variant_new_tuple($0, 1) }
        let reply = try? unsafe keyring.limited { cancellable, error in
            unsafe keyring.call.g_dbus_connection_call_sync(
                connection, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
                "GetConnectionUnixProcessID", parameters, nil, 0, 2000, cancellable, &error)
        }
        guard let answer = unsafe reply else { return unknownProgram }
        defer { unsafe keyring.call.g_variant_unref(answer) }
        guard unsafe keyring.call.g_variant_get_type_string(answer).map({ unsafe String(cString: $0) }) == "(u)",
            let value = unsafe keyring.call.g_variant_get_child_value(answer, 0)
        else { return unknownProgram }
        defer { unsafe keyring.call.g_variant_unref(value) }
        return name(of: unsafe keyring.call.g_variant_get_uint32(value)) ?? unknownProgram
    }

    private static func name(of process: UInt32) -> String? {
        let file = unsafe open("/proc/\(process)/comm", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = unsafe read(file, &bytes, bytes.count)
        guard count > 0 else { return nil }
        return printable(Array(bytes[..<count].prefix { $0 != 0x0a }))
    }

    /// Only what an item's word may have.
    fileprivate static func printable(_ bytes: [UInt8]) -> String {
        String(decoding: bytes.map { (0x21...0x7e).contains($0) ? $0 : UInt8(ascii: "_") }, as: UTF8.self)
    }
}

extension KeyringService.Collection {
    @unsafe fileprivate init(_ proxy: UnsafeMutableRawPointer, _ keyring: Keyring) {
        let full = unsafe keyring.call.g_dbus_proxy_get_object_path(proxy).map { unsafe String(cString: $0) } ?? ""
        let prefix = KeyringService.prefix
        let short = full.hasPrefix(prefix) ? String(full.dropFirst(prefix.count)) : full
        path = KeyringService.printable(Array(short.utf8.prefix(96)))
        isLocked = unsafe keyring.call.secret_collection_get_locked(proxy) != 0
    }
}
