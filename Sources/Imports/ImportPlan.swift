internal import Cryptography
package import Items
internal import OneTimeCodes
internal import SecretMemory
internal import SystemCalls
internal import VaultCore
internal import VaultFormat
package import VaultStorage

/// What an import will do with each item, decided before anything is written.
package struct ImportPlan: Sendable {
    /// What happens to an item of the file.
    package enum Step: Sendable {
        /// It is stored here.
        case add(ImportedItem, as: EntryPath)
        /// The vault, or the file further up, has the same item.
        case duplicate(ImportedItem, of: String)
    }

    package private(set) var steps: [Step] = []

    /// Items that will be stored.
    package var additions: Int {
        steps.count { step in
            if case .add = step { return true }
            return false
        }
    }

    /// Compares the items of a file with those of the vault. Two are the same if the last parts of their names, their
    /// fields and their notes are; a name that another item has gets a number.
    /// - Parameters:
    ///   - folder: The folder that everything goes into; empty for none.
    /// - Throws: `locked`, `damaged`, `outOfMemory`.
    package init(_ imported: Imported, into items: ItemStore, folder: String = "") throws(VaultError) {
        // A digest of a secret could be guessed; under a key that is gone with this call it cannot.
        let key = try crypto(SecureRandom.secret(32))
        var known: [[UInt8]: String] = [:]
        // What looks the same is taken too: a text of Swift's equals another one that does.
        var readings: Set<String> = []
        var places: Set<EntryPath> = []
        for record in try items.list() {
            let entry = EntryPath(collection: record.collection, name: record.name)
            readings.formUnion(entry.readings)
            places.insert(entry)
            guard !record.isFile else { continue }
            let item = try items.item(entry)
            let content = try ImportPlan.digest(item, key)
            known[try ImportPlan.digest(content, record.name, key)] = entry.short
            // An import that found its name taken has put a number behind it.
            guard let plain = ImportPlan.withoutNumber(record.name) else { continue }
            let digest = try ImportPlan.digest(content, plain, key)
            if known[digest] == nil { known[digest] = entry.short }
        }
        let before = readings
        var numbers = Numbers(readings)
        for item in imported.items {
            // What a vault of ours had is put where it was, if nothing is there.
            let origin = folder.isEmpty ? item.origin : nil
            let wanted = origin ?? ImportedItem.entry(item.name, in: folder)
            let digest = try ImportPlan.digest(ImportPlan.digest(item.item, key), wanted.name, key)
            if let same = known[digest] {
                steps.append(.duplicate(item, of: same))
                continue
            }
            let entry: EntryPath
            // Nothing of the user's gets another name by it, and no reference of hers finds it.
            if let origin, before.isDisjoint(with: origin.readings), places.insert(origin).inserted {
                entry = origin
                // Both of two that are written the same come back, if the file has both.
                if ImportedItem.isSaid(origin) { numbers.take(origin) }
            } else {
                entry = numbers.entry(wanted)
                places.insert(entry)
            }
            known[digest] = entry.short
            steps.append(.add(item, as: entry))
        }
    }

    /// Gives names that are taken a number each, from 2.
    struct Numbers {
        /// All that places can be read by.
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
                let entry = EntryPath(collection: wanted.collection, name: Numbers.name(wanted.name, number))
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
            let end = " (\(number))"
            var name = name
            while name.utf8.count + end.utf8.count > RecordName.maximumNameSize { name.unicodeScalars.removeLast() }
            return name + end
        }
    }

    /// A name without the number that an import gave it; nil for one without.
    static func withoutNumber(_ name: String) -> String? {
        guard name.hasSuffix(")"), let start = name.lastIndex(of: "("), name[..<start].hasSuffix(" ") else {
            return nil
        }
        let digits = name[start...].dropFirst().dropLast()
        guard digits.first != "0", digits.utf8.allSatisfy({ (48...57).contains($0) }), let number = Int(digits),
            number > 1
        else { return nil }
        return String(name[..<start].dropLast())
    }

    /// Of the last part of a name, and of what the item has.
    private static func digest(
        _ content: [UInt8], _ name: String, _ key: borrowing SecretBytes
    ) throws(VaultError) -> [UInt8] {
        let last = name.utf8.lastIndex(of: UInt8(ascii: "/")).map { name[name.utf8.index(after: $0)...] } ?? name[...]
        return try unsafe digest(0, last.lowercased(), content.span.bytes, key)
    }

    /// Of the fields in any order, and the notes.
    private static func digest(
        _ item: borrowing Item, _ key: borrowing SecretBytes
    ) throws(VaultError) -> [UInt8] {
        var parts: [[UInt8]] = []
        for field in item.fields {
            parts.append(
                try item.withValue(of: field) { value throws(VaultError) in
                    let (kind, label) = (field.kind.rawValue, field.label.lowercased())
                    switch field.kind == .oneTimeCode ? canonical(value) : nil {
                    case .none: return try digest(kind, label, value, key)
                    case .some(let text):
                        return try text.withBytes { text throws(VaultError) in try digest(kind, label, text, key) }
                    }
                })
        }
        let notes = try item.withNotes { notes throws(VaultError) in try digest(0, "", notes, key) }
        if let notes { parts.append(notes) }
        parts.sort { $0.lexicographicallyPrecedes($1) }
        return parts.flatMap(\.self)
    }

    /// A code's text with all of its settings: the same code may be written with or without the usual ones. Nil for
    /// what is none.
    private static func canonical(_ text: RawSpan) -> SecretBytes? { try? OneTimeCode(parsing: text).text() }

    /// Under the key, of a kind, the size of a label, the label and a value.
    private static func digest(
        _ kind: UInt8, _ label: String, _ value: RawSpan, _ key: borrowing SecretBytes
    ) throws(VaultError) -> [UInt8] {
        var front: [UInt8] = [kind]
        for shift in 0..<4 { front.append(UInt8(truncatingIfNeeded: label.utf8.count >> (8 * shift))) }
        front += label.utf8
        let message: SecretBytes
        do throws(SecretMemoryError) {
            message = try SecretBytes(count: front.count + value.byteCount) { bytes in
                bytes.store(unsafe front.span.bytes, at: 0)
                bytes.store(value, at: front.count)
            }
        } catch { throw VaultError(error) }
        defer { WorkingMemory.wipe() }
        return try message.withBytes { message throws(VaultError) in
            try key.withBytes { key throws(VaultError) in
                try crypto(BLAKE3.keyedHash(message, key: key)).bytes
            }
        }
    }

    /// Stores everything as one transaction: all of it, or nothing.
    /// - Parameter progress: Told how many items are written.
    /// - Throws: As `ItemStore.add`; then nothing was stored.
    package func store(
        in items: ItemStore, progress: (Int) -> Void = { _ in }
    ) throws(VaultError) {
        try items.write { session throws(VaultError) in
            // Another program may have taken a place meanwhile. Among themselves they are as in the file.
            for case .add(_, let entry) in steps { try session.requireFree(beside: entry) }
            var done = 0
            for case .add(let item, let entry) in steps {
                try ItemStore.check(entry.name)
                try item.item.withBytes { bytes throws(VaultError) in
                    try session.put(item: bytes, for: entry.name, in: entry.collection, replacing: false)
                }
                done += 1
                progress(done)
            }
        }
    }
}
