internal import Cryptography
package import Items
internal import SecretMemory
internal import SystemCalls
internal import VaultCore
internal import VaultFormat
package import VaultStorage

/// What an import will do with each item, decided before anything is written.
package struct ImportPlan: Sendable {
    /// What becomes of an item of the file.
    package enum Step: Sendable {
        /// It is stored under this name.
        case add(ImportedItem, name: String)
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

    /// Compares the items of a file with those of the vault. Two are the same if the last parts of their names, their fields and their
    /// notes are; a name that another item has gets a number.
    /// - Parameters:
    ///   - prefix: Put before each name, with a slash; empty for none.
    /// - Throws: `locked`, `damaged`, `outOfMemory`.
    package init(
        _ imported: Imported, prefix: String, into items: ItemStore, collection: String
    ) throws(VaultError) {
        // A digest of a secret could be guessed; under a key that is gone with this call it cannot.
        let key = try crypto { () throws(CryptographyError) in try SecureRandom.secret(32) }
        var known: [[UInt8]: String] = [:]
        var names: Set<String> = []
        for record in try items.list() where record.collection.utf8.elementsEqual(collection.utf8) {
            names.insert(record.name)
            guard !record.isFile else { continue }
            let item = try items.item(record.name, in: collection)
            known[try ImportPlan.digest(item, record.name, key)] = record.name
        }
        for item in imported.items {
            let wanted = prefix.isEmpty ? item.name : "\(prefix)/\(item.name)"
            let digest = try ImportPlan.digest(item.item, wanted, key)
            if let same = known[digest] {
                steps.append(.duplicate(item, of: same))
                continue
            }
            var (name, number) = (wanted, 2)
            while !names.insert(name).inserted {
                name = "\(wanted) (\(number))"
                number += 1
            }
            known[digest] = name
            steps.append(.add(item, name: name))
        }
    }

    /// Of the last part of the name, the fields in any order, and the notes.
    private static func digest(
        _ item: borrowing Item, _ name: String, _ key: borrowing SecretBytes
    ) throws(VaultError) -> [UInt8] {
        var parts: [[UInt8]] = []
        for field in item.fields {
            parts.append(
                try item.withValue(of: field) { value throws(VaultError) in
                    try digest(field.kind.rawValue, field.label.lowercased(), value, key)
                })
        }
        let notes = try item.withNotes { notes throws(VaultError) in try digest(0, "", notes, key) }
        if let notes { parts.append(notes) }
        parts.sort { $0.lexicographicallyPrecedes($1) }
        let all = parts.flatMap(\.self)
        return try unsafe digest(0, name.split(separator: "/").last?.lowercased() ?? "", all.span.bytes, key)
    }

    private static func digest(
        _ kind: UInt8, _ label: String, _ value: RawSpan, _ key: borrowing SecretBytes
    ) throws(VaultError) -> [UInt8] {
        var message = SecretBuffer()
        do throws(SecretMemoryError) {
            try message.append(kind)
            try append(label, to: &message)
            try message.append(value)
        } catch { throw VaultError(error) }
        let digest = try message.withBytes { message throws(VaultError) in
            try crypto { () throws(CryptographyError) in try HMACSHA256.authenticate(message, key: key) }
        }
        return digest.withBytes { digest in (0..<digest.byteCount).map { digest[$0] } }
    }

    private static func append(_ text: String, to message: inout SecretBuffer) throws(SecretMemoryError) {
        try append(size: text.utf8.count, to: &message)
        try message.append(text)
    }

    private static func append(size: Int, to message: inout SecretBuffer) throws(SecretMemoryError) {
        for shift in 0..<4 { try message.append(UInt8(truncatingIfNeeded: size >> (8 * shift))) }
    }

    /// Stores everything as one transaction: all of it, or nothing.
    /// - Parameter progress: Told how many items are written.
    /// - Throws: As `ItemStore.add`; then nothing was stored.
    package func store(
        in items: ItemStore, collection: String, progress: (Int) -> Void = { _ in }
    ) throws(VaultError) {
        try items.write { session throws(VaultError) in
            var done = 0
            for case .add(let item, let name) in steps {
                try ItemStore.check(name)
                try item.item.withBytes { bytes throws(VaultError) in
                    try session.put(item: bytes, for: name, in: collection, replacing: false)
                }
                done += 1
                progress(done)
            }
        }
    }
}
