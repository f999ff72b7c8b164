/// What a wipe has to erase and how far it is: names of targets and their state, never a path. It starts nothing
/// (constructions.md 9.1). Before a wipe it holds the targets that apps have registered.
package struct WipeJournal: Sendable, Hashable {
    /// One of two sectors, written in turn.
    package static let size = 8192
    package static let fileSize = 2 * size
    /// What fits, and more than any app registers.
    package static let maximumItems = 96
    static let magic = Array("HFWIPEJN".utf8)
    static let version: UInt32 = 1

    package var vault: VaultID
    /// Counts the writes; the higher of two valid sectors holds.
    package var sequence: UInt64
    package var items: [WipeItem]

    package init(vault: VaultID, sequence: UInt64 = 0, items: [WipeItem] = []) {
        self.vault = vault
        self.sequence = sequence
        self.items = items
    }

    /// - Throws: ``FormatError/headerFull`` for more than ``maximumItems``.
    package func encoded(checksum: (RawSpan) -> [UInt8]) throws(FormatError) -> [UInt8] {
        guard items.count <= WipeJournal.maximumItems else { throw .headerFull }
        var writer = ByteWriter()
        writer.append(WipeJournal.magic)
        writer.integer(WipeJournal.version)
        writer.append(vault.bytes)
        writer.integer(sequence)
        writer.integer(UInt16(items.count))
        for item in items {
            writer.counted(Array(item.target.description.utf8))
            writer.integer(item.result.rawValue)
            writer.integer(item.count)
        }
        return writer.checked(to: WipeJournal.size, checksum)
    }

    /// Reads one sector; anything that no writer writes is refused.
    package init(parsing bytes: [UInt8], checksum: (RawSpan) -> [UInt8]) throws(FormatError) {
        guard bytes.count == WipeJournal.size else { throw .wrongSize }
        guard bytes.starts(with: WipeJournal.magic) else { throw .wrongMagic }
        var reader = try ByteReader(checking: bytes, from: WipeJournal.magic.count, checksum)
        let version = try reader.integer(UInt32.self)
        guard version == WipeJournal.version else { throw .newerVersion(version) }
        vault = try reader.vaultID()
        sequence = try reader.integer(UInt64.self)
        guard sequence < 1 << 62 else { throw .invalid(field: "journal sequence") }
        let count = Int(try reader.integer(UInt16.self))
        guard count <= WipeJournal.maximumItems else { throw .invalid(field: "journal targets") }
        items = []
        for _ in 0..<count {
            let name = try reader.counted(limit: WipeTargetID.longest, "journal target")
            guard let text = String(validating: name, as: UTF8.self), let target = WipeTargetID(text),
                let result = WipeResult(rawValue: try reader.integer(UInt8.self))
            else { throw .invalid(field: "journal target") }
            items.append(WipeItem(target, result, count: try reader.integer(UInt32.self)))
        }
        try reader.expectZeros("journal padding")
        guard Set(items.map(\.target)).count == count else { throw .invalid(field: "journal targets") }
    }
}
