/// What each object says that it can do (D-Bus specification, "Introspection Data Format"). Nothing of the vault is in
/// it: collections and items are named by properties, to programs that ask for those.
package enum SecretServiceIntrospection {
    /// - Parameter path: An object's.
    /// - Returns: The XML of an object; nil for a path with nothing at it or behind it.
    package static func text(of path: String) -> String? {
        if let object = SecretServicePath(parsing: path) { return text(of: object) }
        guard let next = next[path] else { return nil }
        return document("", [next])
    }

    private static func text(of path: SecretServicePath) -> String {
        document(bus + interfaces[path.kind, default: ""], path == .service ? ["collection", "aliases"] : [])
    }

    /// What is on the way to objects, and the next step from there; of the last ones whatever a program is told of.
    private static let next = [
        "/": "org", "/org": "freedesktop", "/org/freedesktop": "secrets",
        SecretServicePath.root + "/aliases": "default", SecretServicePath.root + "/collection": "session",
    ]

    private static func document(_ interfaces: String, _ nodes: [String]) -> String {
        """
        <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
         "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">
        <node>
        \(interfaces)\(nodes.map { " <node name=\"\($0)\"/>\n" }.joined())</node>

        """
    }

    private static let bus =
        interface(
            "org.freedesktop.DBus.Properties",
            method("Get", "interface:s name:s", "value:v") + method("GetAll", "interface:s", "properties:a{sv}")
                + method("Set", "interface:s name:s value:v")
                + signal("PropertiesChanged", "interface:s changed:a{sv} invalidated:as"))
        + interface("org.freedesktop.DBus.Introspectable", method("Introspect", "", "xml:s"))
        + interface("org.freedesktop.DBus.Peer", method("Ping") + method("GetMachineId", "", "machine:s"))

    private static let interfaces = [
        "Service": secret(
            "Service",
            method("OpenSession", "algorithm:s input:v", "output:v result:o")
                + method("CreateCollection", "properties:a{sv} alias:s", "collection:o prompt:o")
                + method("SearchItems", "attributes:a{ss}", "unlocked:ao locked:ao")
                + method("Unlock", "objects:ao", "unlocked:ao prompt:o")
                + method("Lock", "objects:ao", "locked:ao prompt:o") + method("LockService")
                + method("GetSecrets", "items:ao session:o", "secrets:a{o(oayays)}")
                + method("ReadAlias", "name:s", "collection:o") + method("SetAlias", "name:s collection:o")
                + signal("CollectionCreated", "collection:o") + signal("CollectionDeleted", "collection:o")
                + signal("CollectionChanged", "collection:o") + property("Collections", "ao")),
        "Collection": secret(
            "Collection",
            method("Delete", "", "prompt:o") + method("SearchItems", "attributes:a{ss}", "results:ao")
                + method("CreateItem", "properties:a{sv} secret:(oayays) replace:b", "item:o prompt:o")
                + signal("ItemCreated", "item:o") + signal("ItemDeleted", "item:o") + signal("ItemChanged", "item:o")
                + property("Items", "ao") + property("Label", "s") + property("Locked", "b")
                + property("Created", "t") + property("Modified", "t")),
        "Item": secret(
            "Item",
            method("Delete", "", "prompt:o") + method("GetSecret", "session:o", "secret:(oayays)")
                + method("SetSecret", "secret:(oayays)") + property("Locked", "b")
                + property("Attributes", "a{ss}", "readwrite") + property("Label", "s", "readwrite")
                + property("Created", "t") + property("Modified", "t")),
        "Session": secret("Session", method("Close")),
        "Prompt": secret(
            "Prompt",
            method("Prompt", "window:s") + method("Dismiss") + signal("Completed", "dismissed:b result:v")),
    ]

    private static func secret(_ name: String, _ contents: String) -> String {
        interface("org.freedesktop.Secret.\(name)", contents)
    }

    private static func interface(_ name: String, _ contents: String) -> String {
        " <interface name=\"\(name)\">\n\(contents) </interface>\n"
    }

    /// - Parameters: Each argument as `name:type`.
    private static func method(_ name: String, _ taken: String = "", _ given: String = "") -> String {
        let arguments = arguments(taken, " direction=\"in\"") + arguments(given, " direction=\"out\"")
        return "  <method name=\"\(name)\">\(arguments)</method>\n"
    }

    private static func signal(_ name: String, _ given: String) -> String {
        "  <signal name=\"\(name)\">\(arguments(given, ""))</signal>\n"
    }

    private static func property(_ name: String, _ type: String, _ access: String = "read") -> String {
        "  <property name=\"\(name)\" type=\"\(type)\" access=\"\(access)\"/>\n"
    }

    private static func arguments(_ all: String, _ direction: String) -> String {
        all.split(separator: " ").map { argument in
            let parts = argument.split(separator: ":")
            return "<arg name=\"\(parts[0])\" type=\"\(parts[1])\"\(direction)/>"
        }.joined()
    }
}
