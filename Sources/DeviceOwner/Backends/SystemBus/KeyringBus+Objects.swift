internal import SecretMemory

extension KeyringBus {
    /// Objects that are named, at most.
    private static let mostObjects = 100_000
    private static let longestText = 65_536
    private static let mostAttributes = 1024

    /// What is told of a collection.
    package struct Collection: Sendable {
        package let path: String
        package fileprivate(set) var label = ""
        package fileprivate(set) var isLocked = true
        package fileprivate(set) var items: [String] = []
    }

    /// What is told of an item without its secret.
    package struct Item: Sendable {
        package fileprivate(set) var label = ""
        /// Nil where they are too many or too long.
        package fileprivate(set) var attributes: [(name: String, value: String)]? = []
        /// Seconds since 1970; nil where it is not told.
        package fileprivate(set) var created: UInt64?
        package fileprivate(set) var isLocked = true
    }

    /// The paths of all collections.
    /// - Throws: ``Problem``.
    package func collections() throws(Problem) -> [String] {
        var found: [String] = []
        try properties(of: KeyringBus.root, "Service") { name, value in
            guard name == "Collections" else { return false }
            found = KeyringBus.paths(value)
            return true
        }
        return found
    }

    /// The collection that new items go into; nil where there is none.
    /// - Throws: ``Problem``.
    package func standard() throws(Problem) -> String? {
        let path = try call(KeyringBus.root, "Service", "ReadAlias", [.text("default")]).objectPath()
        return path == "/" ? nil : path
    }

    /// - Throws: ``Problem``.
    package func collection(_ path: String) throws(Problem) -> Collection {
        var found = Collection(path: path)
        try properties(of: path, "Collection") { name, value in
            switch name {
            case "Label": found.label = KeyringBus.text(value) ?? ""
            case "Locked": found.isLocked = KeyringBus.flag(value) ?? true
            case "Items": found.items = KeyringBus.paths(value)
            default: return false
            }
            return true
        }
        return found
    }

    /// - Throws: ``Problem``.
    package func item(_ path: String) throws(Problem) -> Item {
        var found = Item()
        try properties(of: path, "Item") { name, value in
            switch name {
            case "Label": found.label = KeyringBus.text(value) ?? ""
            case "Locked": found.isLocked = KeyringBus.flag(value) ?? true
            case "Created":
                guard value.enter(UInt8(ascii: "v"), "t") else { return false }
                found.created = value.longNumber()
                value.leave()
            case "Attributes": found.attributes = KeyringBus.attributes(value)
            default: return false
            }
            return true
        }
        return found
    }

    /// The secret of an item, encrypted for a session.
    /// - Parameters:
    ///   - longest: Bytes that it may have, encrypted.
    ///   - body: Is given it, the parameters of the encryption, and its content type.
    /// - Returns: What the body returns; nil for one that is larger.
    /// - Throws: ``Problem``.
    package func secret<R>(
        _ path: String, session: String, atMost longest: Int, _ body: (RawSpan, RawSpan, String) -> R?
    ) throws(Problem) -> R? {
        let reply = try call(path, "Item", "GetSecret", [.path(session)])
        reply.wipeLater()
        guard reply.enter(UInt8(ascii: "r"), "oayays"), reply.objectPath() != nil,
            let parameters = reply.bytes(atMost: 64)
        else { throw .failed("GetSecret") }
        guard let value = reply.bytes(atMost: longest) else { return nil }
        let type = reply.text("s", atMost: 255) ?? "text/plain"
        return value.withBytes { value in parameters.withBytes { body(value, $0, type) } }
    }

    /// - Parameter take: Reads the variant of a property that it knows; false for one that it has not read.
    private func properties(
        of path: String, _ kind: String, _ take: (String, BusMessage) -> Bool
    ) throws(Problem) {
        let reply = try call(
            path, "org.freedesktop.DBus.Properties", "GetAll", [.text("org.freedesktop.Secret." + kind)])
        guard reply.enter(UInt8(ascii: "a"), "{sv}") else { throw .failed("GetAll") }
        while reply.enter(UInt8(ascii: "e"), "sv") {
            guard let name = reply.text("s", atMost: 255) else { throw .failed("GetAll") }
            guard take(name, reply) || reply.skip() else { throw .failed("GetAll") }
            reply.leave()
        }
    }

    private static func text(_ value: BusMessage) -> String? {
        guard value.enter(UInt8(ascii: "v"), "s") else { return nil }
        defer { value.leave() }
        return value.text("s", atMost: longestText)
    }

    private static func flag(_ value: BusMessage) -> Bool? {
        guard value.enter(UInt8(ascii: "v"), "b") else { return nil }
        defer { value.leave() }
        return value.flag()
    }

    private static func paths(_ value: BusMessage) -> [String] {
        guard value.enter(UInt8(ascii: "v"), "ao"), value.enter(UInt8(ascii: "a"), "o") else { return [] }
        var all: [String] = []
        while all.count < mostObjects, let next = value.text("o", atMost: 4096) { all.append(next) }
        value.leave()
        value.leave()
        return all
    }

    private static func attributes(_ value: BusMessage) -> [(name: String, value: String)]? {
        guard value.enter(UInt8(ascii: "v"), "a{ss}"), value.enter(UInt8(ascii: "a"), "{ss}") else { return nil }
        var all: [(name: String, value: String)] = []
        var isWhole = true
        while value.enter(UInt8(ascii: "e"), "ss") {
            if let name = value.text("s", atMost: longestText), let text = value.text("s", atMost: longestText),
                all.count < mostAttributes
            {
                all.append((name, text))
            } else {
                isWhole = false
                break
            }
            value.leave()
        }
        guard isWhole else { return nil }
        value.leave()
        value.leave()
        return all
    }
}
