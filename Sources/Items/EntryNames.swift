internal import VaultCore

/// The entries of a vault by what they are called: which of them a path means, and how each is written.
package struct EntryNames: Sendable {
    /// All of them, in the order in which they were given.
    package let all: [EntryPath]
    private let places: Set<EntryPath>

    /// - Parameter all: Every entry of the vault: whether a name is free, and how it is written, depends on the others.
    package init(_ all: some Sequence<EntryPath>) {
        self.all = Array(all)
        places = Set(self.all)
    }

    /// The entry that a path means, whole: read with escapes or, where there is nothing, with each backslash as itself;
    /// first to the byte, then as texts that look the same.
    /// - Returns: Nil where there is none, and where two mean the same as much.
    package func entry(_ path: String) -> EntryPath? {
        let readings = [PathReading(path)] + (PathReading(literal: path).map { [$0] } ?? [])
        for reading in readings {
            if let place = reading.places.first(where: places.contains) { return place }
            let further = reading.further.filter(places.contains)
            if further.count == 1 { return further[0] }
        }
        // ASCII has one form, but for what a few other scalars are turned into.
        let lookalikes = Dictionary(grouping: all, by: LookalikeKey.init)
        for reading in readings {
            for place in reading.places {
                if let found = lookalikes[LookalikeKey(place)] { return found.count == 1 ? found[0] : nil }
            }
            let further = reading.further.flatMap { lookalikes[LookalikeKey($0)] ?? [] }
            if further.count == 1 { return further[0] }
        }
        return nil
    }

    /// Whether there is an entry at this place.
    package func contains(_ place: EntryPath) -> Bool { places.contains(place) }

    /// The entry that has the place of a new one, or looks like it, or would be written or found otherwise because of
    /// it; nil where the place is free.
    package func taking(_ place: EntryPath) -> EntryPath? {
        let readings = place.readings
        return all.first { $0.readings.contains(where: readings.contains) }
    }

    /// How each is written, in the order of ``all``: the shortest text that means exactly it (``entry(_:)``). Of two
    /// that look the same, everything beyond ASCII is written in numbers.
    package func written() -> [String] {
        var written = all.map { $0.text(among: places) }
        var count: [String: Int] = [:]
        // A text of Swift's equals another one that looks the same.
        for text in written { count[text, default: 0] += 1 }
        guard count.count < written.count else { return written }
        for (number, text) in written.enumerated() where count[text, default: 0] > 1 {
            written[number] = all[number].text(among: places, inNumbers: true)
        }
        return written
    }

    /// How some are written, which may be named more than once.
    package func written(_ some: [EntryPath]) -> [String] {
        let texts = Dictionary(zip(all, written())) { first, _ in first }
        return some.map { texts[$0] ?? $0.text }
    }

    private struct LookalikeKey: Hashable {
        let collection: String
        let name: String

        init(_ place: EntryPath) {
            collection = place.collection
            name = place.name
        }
    }
}

extension EntryPath {
    /// How it is written where the others are not known: always a text that means exactly it.
    public var text: String { text(isWhole: name.utf8.contains(UInt8(ascii: "/")), inNumbers: false) }

    /// The other place that is written the same where nothing else is: nil for a name without a slash.
    package var other: EntryPath? {
        guard collection == Vault.defaultCollection else { return EntryPath(name: collection + "/" + name) }
        return PathReading.split(name)
    }

    /// How it is written where no other is written the same.
    package var short: String { text(isWhole: false, inNumbers: false) }

    /// - Parameter inNumbers: What is not ASCII as `\u{HEX}`.
    fileprivate func text(among places: Set<EntryPath>, inNumbers: Bool = false) -> String {
        // Split at its first slash, it may mean another one.
        let other = collection == Vault.defaultCollection ? other : nil
        return text(isWhole: other.map(places.contains) ?? false, inNumbers: inNumbers)
    }

    private func text(isWhole: Bool, inNumbers: Bool) -> String {
        let name = PathText.escaped(name, inNumbers: inNumbers)
        if collection == Vault.defaultCollection, !isWhole { return name }
        let collection = collection.isEmpty ? "\\-" : PathText.escaped(collection, inNumbers: inNumbers, slash: "\\/")
        return collection + "/" + name
    }
}

/// Names as they are shown: what a terminal would act on is written `\u{HEX}`, and a backslash as two.
package enum PathText {
    /// - Parameters:
    ///   - inNumbers: What is not ASCII as `\u{HEX}`.
    ///   - slash: What a slash is written as.
    ///   - spaces: Whether a space that nobody sees is written `\u{20}`.
    package static func escaped(
        _ text: String, inNumbers: Bool = false, slash: String = "/", spaces: Bool = true
    ) -> String {
        if text.utf8.allSatisfy({ (0x21..<0x7F).contains($0) && $0 != UInt8(ascii: "\\") && $0 != UInt8(ascii: "/") }) {
            return text
        }
        var result = ""
        let scalars = text.unicodeScalars
        for index in scalars.indices {
            let scalar = scalars[index]
            if scalar == "\\" {
                result += "\\\\"
            } else if scalar == "/" {
                result += slash
            } else if scalar.isUnsafeToShow || inNumbers && !scalar.isASCII
                || spaces && scalar == " " && isEnd(index, of: scalars)
            {
                result += "\\u{" + String(scalar.value, radix: 16) + "}"
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// Whether a space is at an end of a part, where nobody sees it: next to a slash, to an end, or to a space that is.
    private static func isEnd(_ index: String.Index, of scalars: String.UnicodeScalarView) -> Bool {
        scalars[..<index].last { $0 != " " }.map { $0 == "/" } ?? true
            || scalars[index...].first { $0 != " " }.map { $0 == "/" } ?? true
    }
}
