/// Where a record is: written `collection/name` in a line.
package struct Place: Sendable, Hashable, Comparable {
    package let collection: String
    package let name: String

    package init(_ collection: String, _ name: String) {
        self.collection = collection
        self.name = name
    }

    init?(parsing text: Substring) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        self.init(String(parts[0]), String(parts[1]))
    }

    var text: String { "\(collection)/\(name)" }

    package static func < (left: Place, right: Place) -> Bool {
        (left.collection, left.name) < (right.collection, right.name)
    }
}

/// One change of one record.
package enum Change: Sendable, Hashable {
    case set(Place, Content)
    case delete(Place)

    init?(parsing text: Substring) {
        let words = text.split(separator: " ")
        guard words.count >= 2, let place = Place(parsing: words[1]) else { return nil }
        switch (words[0], words.count) {
        case ("delete", 2): self = .delete(place)
        case ("set", 4):
            guard let size = Int(words[2]), let seed = UInt64(words[3]) else { return nil }
            self = .set(place, Content(seed: seed, size: size))
        default: return nil
        }
    }

    var text: String {
        switch self {
        case .set(let place, let content): "set \(place.text) \(content.size) \(content.seed)"
        case .delete(let place): "delete \(place.text)"
        }
    }

    /// Does to a dictionary what it does to a vault.
    package func apply(to records: inout [Place: Content]) {
        switch self {
        case .set(let place, let content): records[place] = content
        case .delete(let place): records[place] = nil
        }
    }
}

/// Changes that a vault makes together or not at all.
package struct Operation: Sendable, Hashable {
    package let changes: [Change]

    package init(_ changes: [Change]) { self.changes = changes }

    package init?(parsing text: Substring) {
        changes = text.split(separator: ";").compactMap(Change.init(parsing:))
        guard !changes.isEmpty, changes.count == text.split(separator: ";").count else { return nil }
    }

    package var text: String { changes.map(\.text).joined(separator: ";") }
}
