/// Names the secret that a service manager wants for a unit.
///
/// For `LoadCredential=ID:PATH` with a socket at PATH, systemd connects from the abstract address `RANDOM/unit/UNIT/ID`
/// and reads to the end (systemd.exec(5)). The peer chooses that address: who it is must be known otherwise.
package struct UnitCredential: Sendable, Hashable {
    /// The collection that has what may be given to units; nothing else of a vault is.
    package static let collection = "credentials"
    /// Bytes of an address that was not cut off, at most: a longer one does not fit into `sun_path`.
    package static let longestAddress = 107

    /// The unit's full name, that of an instance too: `web.service`, `worker@3.service`.
    package let unit: String
    /// The credential's name in the unit.
    package let id: String

    /// Reads a peer's address.
    /// - Parameter address: The bytes of `sun_path`, with the zero that makes it abstract.
    /// - Returns: Nil for any other address.
    package init?(parsing address: [UInt8]) {
        guard address.count <= UnitCredential.longestAddress, address.first == 0 else { return nil }
        let parts = address.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.count == 4, (1...16).contains(parts[0].count), parts[0].allSatisfy(UnitCredential.isHexDigit),
            parts[1].elementsEqual("unit".utf8)
        else { return nil }
        self.init(unit: parts[2], id: parts[3])
    }

    /// Reads the name of an entry in ``collection``.
    /// - Returns: Nil for a name that no unit asks for.
    package init?(entry name: String) {
        let parts = Array(name.utf8).split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        self.init(unit: parts[0], id: parts[1])
    }

    /// What both may be written with is systemd's own rule for them, so that no two are written alike.
    private init?(unit: ArraySlice<UInt8>, id: ArraySlice<UInt8>) {
        for part in [unit, id] where part.isEmpty || part.elementsEqual(".".utf8) || part.elementsEqual("..".utf8) {
            return nil
        }
        let isVisible = id.allSatisfy { (0x20...0x7E).contains($0) && $0 != UInt8(ascii: ":") }
        guard isVisible, unit.allSatisfy(UnitCredential.isOfUnit) else { return nil }
        self.unit = String(decoding: unit, as: UTF8.self)
        self.id = String(decoding: id, as: UTF8.self)
    }

    /// Its name in ``collection``.
    package var entry: String { "\(unit)/\(id)" }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }

    private static func isOfUnit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: ":-_.\\@".utf8.contains(byte)
        }
    }
}
