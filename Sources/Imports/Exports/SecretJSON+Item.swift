package import Items
package import SecretMemory
package import VaultFormat
internal import SystemCalls

extension SecretJSON {
    /// An item as an object; its secrets only where they are to be seen.
    /// - Parameter withHistory: Whether its earlier values are there too.
    package mutating func append(
        _ item: borrowing Item, _ path: RecordName, reveals: Bool, withHistory: Bool = false
    ) throws(SecretMemoryError) {
        try raw("{\"collection\":")
        try text(path.collection)
        try raw(",\"name\":")
        try text(path.name)
        try raw(",\"kind\":")
        try text(item.kind.word)
        try raw(",\"favourite\":\(item.isFavourite),\"id\":\"\(item.id)\",\"created\":")
        try raw(SecretJSON.time(item.created))
        try raw(",\"modified\":\(SecretJSON.time(item.modified)),\"tags\":[")
        for (index, tag) in item.tags.enumerated() {
            if index > 0 { try raw(",") }
            try text(tag)
        }
        try raw("],\"fields\":[")
        for field in item.fields {
            try raw(field.index == 0 ? "{" : ",{")
            try head(field.label, field.kind)
            try raw(",\"size\":\(field.size)")
            if let name = item.withFile(of: field, { name, _ in name }) {
                try raw(",\"file\":")
                try text(name)
            }
            try raw(",\"value\":")
            if !field.kind.isOpen && !reveals {
                try raw("null")
            } else if try item.withFile(
                of: field, { _, content throws(SecretMemoryError) in try base64(content) }) == nil
            {
                try item.withValue(of: field) { bytes throws(SecretMemoryError) in try value(bytes) }
            }
            try raw("}")
        }
        try raw("],\"notes\":")
        let hasNotes = item.withNotes { _ in true } ?? false
        if !hasNotes || !reveals {
            try raw("null")
        } else {
            _ = try item.withNotes { notes throws(SecretMemoryError) in try value(notes) }
        }
        if withHistory { try appendHistory(item) }
        try raw(",\"hasNotes\":\(hasNotes),\"isRevealed\":\(reveals)}")
    }

    /// Earlier values, the oldest first. A file's is all that the item has for it: its name, then its content.
    private mutating func appendHistory(_ item: borrowing Item) throws(SecretMemoryError) {
        try raw(",\"history\":[")
        for earlier in item.history {
            try raw(earlier.index == 0 ? "{" : ",{")
            try head(earlier.label, earlier.kind)
            try raw(",\"replaced\":\(SecretJSON.time(earlier.replaced)),\"value\":")
            try item.withValue(of: earlier) { bytes throws(SecretMemoryError) in try value(bytes) }
            try raw("}")
        }
        try raw("]")
    }

    private mutating func head(_ label: String, _ kind: FieldKind) throws(SecretMemoryError) {
        try raw("\"label\":")
        try text(label)
        try raw(",\"kind\":")
        if let word = kind.word { try text(word) } else { try raw("null") }
    }

    private static func time(_ milliseconds: Int64) -> String {
        timestamp(milliseconds: milliseconds).map { "\"\($0)\"" } ?? "null"
    }

    /// A time as RFC 3339 in UTC; nil outside of the years 1 to 9999.
    package static func timestamp(milliseconds: Int64) -> String? {
        guard let day = ForeignTime.day(milliseconds: milliseconds) else { return nil }
        let inDay = (milliseconds % 86_400_000 + 86_400_000) % 86_400_000 / 1000
        let parts = [inDay / 3600, inDay / 60 % 60, inDay % 60].map { $0 < 10 ? "0\($0)" : String($0) }
        return "\(day)T\(parts.joined(separator: ":"))Z"
    }
}
