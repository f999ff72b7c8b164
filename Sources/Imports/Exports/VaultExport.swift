package import Items
package import SecretMemory
internal import VaultCore
internal import VaultFormat
internal import VaultStorage

/// Entries of a vault for another program, in locked memory until they are written to a file: a database of KeePass, or
/// JSON that anyone can read.
package final class VaultExport {
    /// What an export calls after each entry: how many are read, of how many. What it throws ends the export.
    package typealias Progress = (_ done: Int, _ total: Int) throws -> Void

    /// Bytes of values beyond 1 MiB that a database gets as attachments, together: so much of one is imported again.
    package static let largestAttachments = 48 << 20

    /// The values that are too large for the file.
    package private(set) var left: [ItemSummary] = []
    private let items: ItemStore
    private let root = KDBXGroup()
    private var room = largestAttachments

    /// Reads entries for a database of KeePass.
    /// - Throws: ``VaultStorage/VaultError``, ``ImportError``, and what progress throws.
    package init(_ wanted: [ItemSummary], of items: ItemStore, progress: Progress = { _, _ in }) throws {
        self.items = items
        let entries = wanted.map { EntryPath(collection: $0.collection, name: $0.name) }
        let names = try items.names()
        for (index, (summary, (entry, written))) in zip(wanted, zip(entries, names.written(entries))).enumerated() {
            try progress(index, wanted.count)
            if let item = try VaultExport.item(summary, items) {
                root.add(entry, written: written, item)
            } else if let file = try attachment(summary) {
                room -= file.size
                root.add(entry, written: written, try Item(.file, now: summary.modified), file)
            } else {
                left.append(summary)
            }
        }
    }

    /// The database, encrypted with a password that is the file's alone.
    package func sealed(with password: borrowing SecretBytes) throws(ImportError) -> SecretBytes {
        var export = try KDBXExport(title: "Holdfast")
        try export.append(root)
        return try export.seal(password: password)
    }

    /// JSON of the entries, which `holdfast import` reads again.
    /// - Parameter left: The values that are too large for it.
    /// - Throws: As ``init(_:of:progress:)``.
    package static func plain(
        _ wanted: [ItemSummary], of items: ItemStore, left: inout [ItemSummary], progress: Progress = { _, _ in }
    ) throws -> SecretBytes {
        var json = SecretJSON()
        try json.raw("{\"format\":\"\(HoldfastImport.format)\",\"version\":1,\"items\":[")
        var isFirst = true
        left = []
        for (index, summary) in wanted.enumerated() {
            try progress(index, wanted.count)
            guard let path = RecordName(collection: summary.collection, name: summary.name) else { continue }
            guard let item = try item(summary, items) else {
                left.append(summary)
                continue
            }
            if !isFirst { try json.raw(",\n") }
            isFirst = false
            try json.append(item, path, reveals: true, withHistory: true)
        }
        try json.raw("]}\n")
        return try json.bytes()
    }

    /// An item; nil for a value that is too large to be one.
    private static func item(_ summary: ItemSummary, _ items: ItemStore) throws(VaultError) -> Item? {
        guard !summary.isFile else { return nil }
        do throws(VaultError) { return try items.item(summary.name, in: summary.collection) } catch {
            guard error.code == .tooLarge else { throw error }
            return nil
        }
    }

    /// A value in a file of its own; nil for one that is larger than what may be there yet.
    private func attachment(_ summary: ItemSummary) throws -> KDBXGroup.Attachment? {
        struct IsTooLarge: Error {}
        var content = SecretBuffer(limit: room)
        do {
            try items.vault.read(summary.name, in: summary.collection) { part in
                guard part.byteCount <= room - content.count else { throw IsTooLarge() }
                try content.append(part)
            }
        } catch is IsTooLarge { return nil }
        let name = summary.name.split(separator: "/").last.map(String.init) ?? summary.name
        return KDBXGroup.Attachment(name, content)
    }
}
