internal import Items
internal import VaultCore
internal import VaultFormat

/// Gives names that are taken a number each, from 2.
struct ImportNumbers {
    /// All that places can be read by. What looks the same is taken too: Swift takes such texts for equal.
    private var taken: Set<String>
    /// The number to try next, by the place without one: thousands of items may have the same name.
    private var next: [EntryPath: Int] = [:]
    /// Names that were tried and taken.
    private(set) var tries = 0

    init(_ taken: Set<String>) { self.taken = taken }

    mutating func take(_ entry: EntryPath) { taken.formUnion(entry.readings) }

    /// The place, or one whose name has a number behind it.
    mutating func entry(_ wanted: EntryPath) -> EntryPath {
        if taken.isDisjoint(with: wanted.readings) {
            take(wanted)
            return wanted
        }
        var number = next[wanted] ?? 2
        while true {
            let entry = EntryPath(collection: wanted.collection, name: ImportNumbers.name(wanted.name, number))
            number += 1
            if taken.isDisjoint(with: entry.readings) {
                take(entry)
                next[wanted] = number
                return entry
            }
            tries += 1
        }
    }

    /// With the number, as long as a name may be.
    private static func name(_ name: String, _ number: Int) -> String {
        ImportNumbers.name(name, with: " (\(number))")
    }

    /// With something behind it, as long as a name may be.
    static func name(_ name: String, with end: String) -> String {
        var name = name
        while name.utf8.count + end.utf8.count > RecordName.maximumNameSize { name.unicodeScalars.removeLast() }
        return name + end
    }

    /// A place without the number that an import gave it; nil for one without.
    static func withoutNumber(_ entry: EntryPath) -> EntryPath? {
        let name = entry.name
        guard name.hasSuffix(")"), let start = name.lastIndex(of: "("), name[..<start].hasSuffix(" ") else {
            return nil
        }
        let digits = name[start...].dropFirst().dropLast()
        guard digits.first != "0", digits.utf8.allSatisfy({ (48...57).contains($0) }), let number = Int(digits),
            number > 1
        else { return nil }
        return EntryPath(collection: entry.collection, name: String(name[..<start].dropLast()))
    }
}
