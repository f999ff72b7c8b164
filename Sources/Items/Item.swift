internal import Cryptography
internal import SecretMemory
internal import SystemCalls
internal import VaultCore
public import VaultFormat
public import VaultStorage

/// A login, a note, a card: a record with fields, tags, notes and earlier values (items.md).
///
/// It is held as the bytes that are stored, in locked memory; no value is ever a `String`. What a newer version of
/// Holdfast put there is kept.
public struct Item: ~Copyable, Sendable {
    private(set) var bytes: SecretBytes
    var layout: ItemLayout
    /// Whether it was read from a plain value.
    package internal(set) var isOfValue = false
    /// The number of the write that it was read from; nil for one that is not stored yet.
    package internal(set) var sequence: UInt64?

    /// A new item, without fields.
    /// - Throws: `outOfMemory`, `cryptography`.
    public init(_ kind: ItemKind) throws(VaultError) {
        try self.init(kind, now: WallClock.milliseconds)
    }

    package init(_ kind: ItemKind, now: Int64) throws(VaultError) {
        let front = ItemFront(kind: kind, id: try Item.newID(), created: now, modified: now)
        try self.init(front)
    }

    private init(_ front: ItemFront) throws(VaultError) {
        let bytes = try locked { () throws(SecretMemoryError) in
            try SecretBytes(count: ItemLayout.frontSize) { front.write(into: &$0) }
        }
        layout = try Item.layout(of: bytes)
        self.bytes = bytes
    }

    /// Reads what is stored.
    /// - Throws: `damaged`, `newerVersion`, `outOfMemory`.
    package init(parsing content: RawSpan, sequence: UInt64? = nil, isOfValue: Bool = false) throws(VaultError) {
        let bytes = try locked { () throws(SecretMemoryError) in try SecretBytes(copying: content) }
        layout = try Item.layout(of: bytes)
        self.bytes = bytes
        self.sequence = sequence
        self.isOfValue = isOfValue
    }

    private static func layout(of bytes: borrowing SecretBytes) throws(VaultError) -> ItemLayout {
        try bytes.withBytes { bytes throws(VaultError) in
            do throws(FormatError) {
                return try ItemLayout(parsing: bytes)
            } catch .newerVersion {
                throw VaultError(.newerVersion, "this entry was written by a newer version of Holdfast")
            } catch { throw .damagedItem }
        }
    }

    static func newID() throws(VaultError) -> ItemID {
        do throws(CryptographyError) {
            guard let id = ItemID(try SecureRandom.bytes(ItemID.size)) else { throw CryptographyError.invalidSize }
            return id
        } catch { throw VaultError(any: error) }
    }

    /// Its own random bytes; they stay when it is renamed, a copy gets others.
    public var id: ItemID { layout.front.id }

    /// Milliseconds since 1970; it comes along when the item is renamed or imported.
    public var created: Int64 { layout.front.created }

    /// As ``created``, of the last change.
    package var modified: Int64 { layout.front.modified }

    /// What it is; changing it changes no field.
    public var kind: ItemKind {
        get { layout.front.kind }
        set { setFront { $0.kind = newValue } }
    }

    /// Whether it is shown first.
    package var isFavourite: Bool {
        get { layout.front.isFavourite }
        set { setFront { $0.isFavourite = newValue } }
    }

    /// Bytes that it takes in a record; at most ``VaultFormat/ItemLimits/size``.
    package var size: Int { bytes.count }

    mutating func setFront(_ change: (inout ItemFront) -> Void) {
        change(&layout.front)
        let front = layout.front
        bytes.withMutableBytes { front.write(into: &$0) }
    }

    /// Lends the bytes as they are stored.
    package borrowing func withBytes<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
        try bytes.withBytes(body)
    }

    /// The same item once more, read from the same write.
    /// - Throws: `outOfMemory`.
    package borrowing func duplicate() throws(VaultError) -> Item {
        let (sequence, isOfValue) = (sequence, isOfValue)
        return try bytes.withBytes { bytes throws(VaultError) in
            try Item(parsing: bytes, sequence: sequence, isOfValue: isOfValue)
        }
    }

    /// The same item under an id of its own.
    /// - Throws: `outOfMemory`, `cryptography`.
    package borrowing func copy() throws(VaultError) -> Item {
        var copy = try bytes.withBytes { bytes throws(VaultError) in try Item(parsing: bytes) }
        let id = try Item.newID()
        copy.setFront { $0.id = id }
        return copy
    }

    /// Puts an entry in place of a part of the bytes.
    /// - Parameter makesRoom: Whether the oldest earlier values go where there is too little room. They lie behind the
    ///   part.
    /// - Throws: `invalidItem`, `tooLarge`, `outOfMemory`; then nothing has changed.
    mutating func replace(
        _ part: Range<Int>, with entry: ItemEntry?, _ value: RawSpan, makingRoom makesRoom: Bool = false
    ) throws(VaultError) {
        let added = entry?.size(value: value.byteCount) ?? 0
        var size = bytes.count - part.count + added
        let gone = makesRoom ? oldest(size - ItemLimits.size) : bytes.count..<bytes.count
        size -= gone.count
        guard size <= ItemLimits.size else { throw .tooLargeItem }
        var next = try locked { () throws(SecretMemoryError) in try SecretBytes(zeroed: size) }
        bytes.withBytes { old in
            next.withMutableBytes { next in
                next.store(old.extracting(0..<part.lowerBound), at: 0)
                entry?.write(value, into: &next, at: part.lowerBound)
                next.store(old.extracting(part.upperBound..<gone.lowerBound), at: part.lowerBound + added)
                let rest = old.extracting(gone.upperBound..<old.byteCount)
                next.store(rest, at: size - rest.byteCount)
            }
        }
        let layout: ItemLayout
        do throws(VaultError) { layout = try Item.layout(of: next) } catch { throw .invalidItem }
        self.layout = layout
        bytes = next
        WorkingMemory.wipe()
    }

    /// Lends a part of the bytes while they are changed: a copy of it, because the change makes new ones.
    func part(_ range: Range<Int>) throws(VaultError) -> SecretBytes {
        try locked { () throws(SecretMemoryError) in try bytes.copy(range) }
    }
}

extension VaultError {
    static let damagedItem = VaultError.damaged("an entry is not as any version of Holdfast writes it")
    static let invalidItem = VaultError(
        .invalidItem,
        "an entry cannot hold this: a label has 1 to 255 bytes, a tag 1 to 64, a date is 2031-12-24 or 2031-12, and there are limits to "
            + "how many")
    static let tooLargeItem = VaultError(.tooLarge, "an entry has at most 1 MiB; store the file as a value of its own")
}

func locked<R: ~Copyable>(_ body: () throws(SecretMemoryError) -> R) throws(VaultError) -> R {
    do throws(SecretMemoryError) { return try body() } catch { throw VaultError(error) }
}

extension Item {
    /// The tag of what programs store over the session bus, through the Secret Service. Only the Secret Service sets
    /// it; the user may.
    package static let secretServiceTag = "secret-service"

    /// Whether a program stored it over the session bus. Any program there chooses names and values, so no other
    /// program access takes such an item for what the user meant by its name; the user says that it is by taking the
    /// tag away.
    package var isOfSecretService: Bool {
        tags.contains { $0.utf8.elementsEqual(Item.secretServiceTag.utf8) }
    }
}
