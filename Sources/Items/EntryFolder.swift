internal import VaultCore
package import VaultFormat
internal import VaultStorage

// Folders as paths.
extension EntryFolder {
    /// Reads a path that ends with a slash.
    /// - Returns: Nil for another text, and for one that names no folder.
    package init?(parsing text: String) {
        guard let (first, rest) = PathReading(text).folder else { return nil }
        self.init(first: first, rest: rest)
    }

    /// As it is typed, with the slash at its end.
    package var text: String {
        let first = first.isEmpty ? "\\-" : PathText.escaped(first, slash: "\\/")
        return first + "/" + (rest.isEmpty ? "" : PathText.escaped(rest) + "/")
    }

    /// Whether it is another one or lies in it.
    package func isWithin(_ other: EntryFolder) -> Bool {
        guard first.utf8.elementsEqual(other.first.utf8) else { return false }
        return other.rest.isEmpty || (rest + "/").utf8.starts(with: (other.rest + "/").utf8)
    }

    /// The folder in it that has the last part of another one.
    package func appending(lastOf other: EntryFolder) -> EntryFolder? {
        let all = other.rest.isEmpty ? other.first : other.rest
        let last = all.utf8.split(separator: UInt8(ascii: "/")).last.map { String(decoding: $0, as: UTF8.self) } ?? all
        return EntryFolder(first: first, rest: rest.isEmpty ? last : rest + "/" + last)
    }

    /// The place of a new entry in it.
    /// - Throws: `invalidName` as ``EntryPath/init(new:)``; also for a place that is Holdfast's own.
    func place(of remainder: String) throws(VaultError) -> EntryPath {
        let place = try EntryPath(new: text + PathText.escaped(remainder))
        guard !place.isReserved else {
            throw VaultError(.invalidName, "the collection '\(place.collection)' is Holdfast's own")
        }
        return place
    }
}

extension EntryNames {
    /// Whether an entry is in a folder.
    package func has(_ folder: EntryFolder) -> Bool { all.contains { has($0, in: folder) } }

    /// Whether it is in that folder.
    package func has(_ entry: EntryPath, in folder: EntryFolder) -> Bool { remainder(of: entry, in: folder) != nil }

    /// What of an entry's name, as it is written, stands behind a folder; nil where it is not in it. An address with
    /// slashes is one part, and what is Holdfast's own is in no folder.
    func remainder(of entry: EntryPath, in folder: EntryFolder) -> String? {
        guard !entry.isReserved, let place = split(entry), place.collection.utf8.elementsEqual(folder.first.utf8) else {
            return nil
        }
        guard !folder.rest.isEmpty else { return place.name }
        let front = folder.rest + "/"
        guard place.name.utf8.starts(with: front.utf8), place.name.utf8.count > front.utf8.count,
            !place.name.isAddress
        else { return nil }
        return String(decoding: place.name.utf8.dropFirst(front.utf8.count), as: UTF8.self)
    }

    /// The first part of an entry's name as it is written, and the rest; nil where there is no other.
    private func split(_ entry: EntryPath) -> EntryPath? {
        guard entry.collection == Vault.defaultCollection, let other = entry.other, !other.collection.isEmpty else {
            return entry.collection == Vault.defaultCollection ? nil : entry
        }
        return contains(other) ? entry : other
    }
}

extension EntryPath {
    /// What a list shows of it: the last part of its path, and the folder that this is in; the folder is empty for an
    /// entry of the default collection without one. An address with slashes is one part.
    package var parts: (folder: String, title: String) {
        let collection = collection == Vault.defaultCollection ? [] : [self.collection]
        guard !name.isAddress else { return (collection.first ?? "", name) }
        let pieces = name.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard let title = pieces.last, !pieces.contains("") else { return (collection.first ?? "", name) }
        return ((collection + pieces.dropLast()).joined(separator: "/"), title)
    }
}

extension String {
    /// Whether a name is an address such as git's, whose slashes make no folders.
    fileprivate var isAddress: Bool { utf8.contains(UInt8(ascii: ":")) && contains("://") }
}
