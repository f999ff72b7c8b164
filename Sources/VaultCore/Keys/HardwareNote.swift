internal import KeyStores
internal import VaultFormat

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// What lies in hardware and key stores while the header changes from one to another, or while the vault is destroyed: a
/// process that is killed in between leaves it to the next one, which lets go of all that the header does not name.
///
/// The file is no secret and opens nothing. It is written before the hardware has anything, and replaced as a whole.
struct HardwareNote: Sendable, Hashable {
    /// Shares in a chip that counts attempts.
    var shares: [HardwareObject] = []
    /// Shares in key stores that keep them.
    var items: [KeyStoreItem] = []
    /// The vault whose generation is held, or about to be.
    var anchor: VaultID?

    static let name = "hardware.pending"
    private static let part = "hardware.pending.part"
    /// Every name that it can have.
    static let names = [name, part]

    private static let mark = Array("HFPEND02".utf8)
    private static let largest = 16_384

    /// The kinds of what is noted, each before its counted parts.
    private enum Kind: UInt8 {
        case share = 1
        case item = 2
        case anchor = 3

        var parts: Int { self == .share ? 2 : 1 }
    }

    var isEmpty: Bool { shares.isEmpty && items.isEmpty && anchor == nil }

    init() {}

    /// What a header names.
    init(of header: Header) {
        shares = header.slots.compactMap(\.hardwareObject)
        // A chip keeps nothing of such a share; and no header makes us delete what is another vault's.
        items = header.slots.compactMap { KeptOwner($0)?.item }.filter { item in
            item.kind != .tpm && item.data == Array(KeptOwner.name(header.vault).utf8)
        }
        anchor = header.flags.contains(.generationAnchored) ? header.vault : nil
    }

    /// Takes in what another one has; of two shares with one name the later says more.
    mutating func add(_ other: HardwareNote) {
        shares.removeAll { share in other.shares.contains { $0.name == share.name } }
        shares += other.shares
        items += other.items.filter { !items.contains($0) }
        anchor = other.anchor ?? anchor
    }

    // MARK: On the disk

    /// Nil where nothing is noted.
    static func read(in home: HomeDirectory) -> HardwareNote? {
        guard let file = try? home.openFile(name, O_RDONLY) else { return nil }
        guard let bytes = try? file.read(largest, at: 0) else { return HardwareNote() }
        return HardwareNote(parsing: bytes) ?? HardwareNote()
    }

    /// Adds to what is noted. Durable when it returns.
    static func add(_ more: HardwareNote, in home: HomeDirectory) throws(VaultError) {
        guard !more.isEmpty else { return }
        let present = read(in: home)
        var note = present ?? HardwareNote()
        note.add(more)
        if note != present { try note.write(in: home) }
    }

    /// Durable when it returns; before that the old one is there.
    func write(in home: HomeDirectory) throws(VaultError) {
        let bytes = encoded
        guard bytes.count <= HardwareNote.largest else {
            throw VaultError(.tooLarge, "the chip could not let go of too many shares; see holdfast doctor")
        }
        guard let file = try home.openFile(HardwareNote.part, O_RDWR | O_CREAT) else {
            throw .damaged("\(HardwareNote.part) cannot be created")
        }
        try file.truncate(to: 0)
        try file.write(bytes, at: 0)
        try file.synchronize()
        try home.rename(HardwareNote.part, to: HardwareNote.name)
        try home.synchronize()
    }

    static func remove(in home: HomeDirectory) { for name in names { home.remove(name) } }

    private var encoded: [UInt8] {
        func counted(_ part: [UInt8]) -> [UInt8] { [UInt8(part.count & 0xff), UInt8(part.count >> 8 & 0xff)] + part }
        var bytes = HardwareNote.mark
        for share in shares { bytes += [Kind.share.rawValue] + counted(share.name) + counted(share.data) }
        for item in items { bytes += [Kind.item.rawValue] + counted([item.kind.rawValue] + item.data) }
        if let anchor { bytes += [Kind.anchor.rawValue] + counted(anchor.bytes) }
        return unsafe bytes + HeaderFile.checksum(bytes.span.bytes)
    }

    /// Nil for anything but what ``encoded`` makes.
    private init?(parsing bytes: [UInt8]) {
        let end = bytes.count - 32
        guard end >= HardwareNote.mark.count, bytes.starts(with: HardwareNote.mark) else { return nil }
        let covered = Array(bytes[..<end])
        guard unsafe HeaderFile.checksum(covered.span.bytes) == Array(bytes[end...]) else { return nil }
        var place = HardwareNote.mark.count
        while place < end {
            guard let kind = Kind(rawValue: bytes[place]) else { return nil }
            place += 1
            var parts: [[UInt8]] = []
            for _ in 0..<kind.parts {
                guard place + 2 <= end else { return nil }
                let size = Int(bytes[place]) | Int(bytes[place + 1]) << 8
                guard place + 2 + size <= end else { return nil }
                parts.append(Array(bytes[place + 2..<place + 2 + size]))
                place += 2 + size
            }
            switch kind {
            case .share: shares.append(HardwareObject(name: parts[0], data: parts[1]))
            case .item:
                guard let store = parts[0].first.flatMap(KeyStoreKind.init) else { return nil }
                items.append(KeyStoreItem(store, data: Array(parts[0].dropFirst())))
            case .anchor:
                guard let vault = VaultID(bytes: parts[0]) else { return nil }
                anchor = vault
            }
        }
    }
}

extension Slot {
    /// What the share of a counted slot is found by; nil where it has none.
    var hardwareObject: HardwareObject? {
        if kind == .hardware { return PINSlot(self)?.object }
        guard kind.isCounted, flags.contains(.hardwareShare) else { return nil }
        return HardwareObject(name: hardwareName, data: kindData)
    }
}
