internal import VaultCore
package import VaultFormat
internal import VaultStorage

extension EntryNames {
    /// How much of a path is enough, from the nearest on; each takes in those before it.
    package enum Nearness: Int, Comparable, Sendable {
        /// In any case of letters.
        case anyCase
        /// The last parts.
        case lastPart
        /// The beginning of it or of a part.
        case beginning
        /// Anything in it.
        case middle

        package static func < (left: Nearness, right: Nearness) -> Bool { left.rawValue < right.rawValue }
    }

    /// The entries that a path can mean which means none as a whole: all that are as near as the nearest one.
    package func near(_ path: String, upTo limit: Nearness) -> [EntryPath] {
        let wanted = Folding.folded(PathReading(path).text)
        guard !wanted.isEmpty else { return [] }
        var found: [EntryPath] = []
        var nearest = limit
        // What waits in the inbox was named by whoever wrote it.
        for place in all where !place.collection.utf8.elementsEqual(Vault.inboxCollection.utf8) {
            guard let nearness = EntryNames.nearness(wanted, in: Folding.folded(place.spelled)), nearness <= nearest
            else {
                continue
            }
            if nearness < nearest { found = [] }
            nearest = nearness
            found.append(place)
        }
        return found
    }

    private static func nearness(_ wanted: [UInt8], in path: [UInt8]) -> Nearness? {
        var path = path
        if path == wanted { return .anyCase }
        // Each part begins behind a slash, the first one too.
        path.insert(UInt8(ascii: "/"), at: 0)
        let part = [UInt8(ascii: "/")] + wanted
        let all = 0..<path.count
        return path.withRawSpan { path in
            if path.find(part, in: max(0, all.upperBound - part.count)..<all.upperBound) != nil { return .lastPart }
            if path.find(part, in: all) != nil { return .beginning }
            return path.find(wanted, in: all) != nil ? .middle : nil
        }
    }
}

extension EntryPath {
    /// As it is stored, without escapes: the collection is left out where it is the default one.
    package var spelled: String { collection == Vault.defaultCollection ? name : collection + "/" + name }

    /// The texts, without escapes, that a path can be read as it by; where two entries have one in common, each can be
    /// written or found otherwise because of the other one.
    package var readings: [String] {
        collection == Vault.defaultCollection ? [name, collection + "/" + name] : [collection + "/" + name]
    }

    /// Where a text is looked for, the first one first.
    package static func places(of text: String) -> [EntryPath] { PathReading(text).places }

    /// The other places that one of its texts is read as, to the byte: an entry there keeps a new one from this place,
    /// because one of the two would be written or found otherwise.
    package var twins: [EntryPath] {
        var found: [EntryPath] = []
        for text in readings {
            let reading = PathReading(plain: text)
            for place in reading.places + reading.further
            where place != self && place.isPossible && !found.contains(place) {
                found.append(place)
            }
        }
        return found
    }

    /// As a record's name; nil where none can be there.
    package var record: RecordName? { RecordName(collection: collection, name: name) }

    /// Whether it is in a folder, or in one below.
    package func isIn(folder: String) -> Bool {
        let path = spelled.utf8
        return path.starts(with: folder.utf8) && path.dropFirst(folder.utf8.count).first == UInt8(ascii: "/")
            || collection.utf8.elementsEqual(folder.utf8)
    }

    /// Whether it is written below a first part: in this collection, or in the default one under a name that begins
    /// with it.
    package func isBelow(_ part: String) -> Bool {
        collection.utf8.elementsEqual(part.utf8)
            || collection == Vault.defaultCollection && name.utf8.starts(with: part.utf8)
                && name.utf8.dropFirst(part.utf8.count).first == UInt8(ascii: "/")
    }
}
