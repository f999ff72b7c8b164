internal import SecretMemory
internal import VaultCore
package import VaultFormat
package import VaultStorage
internal import SystemCalls

extension Item {
    /// What a field held before it was changed or removed.
    public struct Earlier: Sendable, Hashable {
        /// Its place, from 0; the latest is the last. Good until the item is changed.
        public let index: Int
        /// When it was replaced: milliseconds since 1970.
        package let replaced: Int64
        /// What the field was.
        package let kind: FieldKind
        /// What the field was called.
        package let label: String
        /// Bytes of the value.
        package let size: Int
    }

    /// Earlier values, the latest last.
    package var history: [Earlier] {
        bytes.withBytes { bytes in
            layout.history.enumerated().map { index, earlier in
                Earlier(
                    index: index, replaced: earlier.replaced, kind: earlier.field.kind,
                    label: bytes.text(earlier.field.label), size: earlier.field.value.count)
            }
        }
    }

    /// Lends an earlier value from locked memory for the time of the closure.
    /// - Throws: What `body` throws. One of another item traps.
    public borrowing func withValue<R: ~Copyable, E: Error>(
        of earlier: Earlier, _ body: (RawSpan) throws(E) -> R
    ) throws(E) -> R {
        let range = layout.history[earlier.index].field.value
        return try bytes.withBytes { bytes throws(E) in try body(bytes.extracting(range)) }
    }

    /// Forgets all earlier values. They are gone from the item; what copies of the disk hold is not reached.
    /// - Throws: `outOfMemory`.
    package mutating func forgetHistory() throws(VaultError) {
        while let entry = layout.entries(ItemLayout.Tag.earlier).last { try removeEntry(entry) }
        touch(Item.now)
    }

    /// Makes a value an earlier one. Where there are too many, or no room is left, the oldest go.
    mutating func remember(_ field: Field, _ value: borrowing SecretBytes, now: Int64) throws(VaultError) {
        touch(now)
        guard value.count > 0 else { return }
        let entry = ItemEntry.earlier(replaced: now, field.kind, label: field.label)
        let needed = entry.size(value: value.count)
        // A large file that fills the item leaves no room for what was there before it; nothing earlier goes for that.
        let others = layout.entries(ItemLayout.Tag.earlier).reduce(bytes.count) { $0 - $1.whole.count }
        guard others + needed <= ItemLimits.size else { return }
        while let oldest = layout.entries(ItemLayout.Tag.earlier).first,
            layout.history.count >= ItemLimits.history || layout.entries.count >= ItemLimits.entries
                || bytes.count + needed > ItemLimits.size
        { try removeEntry(oldest) }
        guard bytes.count + needed <= ItemLimits.size, layout.entries.count < ItemLimits.entries else { return }
        let end = layout.end(of: ItemLayout.Tag.earlier)
        try value.withBytes { value throws(VaultError) in try replace(end..<end, with: entry, value) }
    }

    /// Where the oldest earlier values are that have so many bytes together; all where they have fewer.
    func oldest(_ size: Int) -> Range<Int> {
        let all = layout.entries(ItemLayout.Tag.earlier)
        guard size > 0, let start = all.first?.whole.lowerBound else { return bytes.count..<bytes.count }
        let last = all.first { $0.whole.upperBound - start >= size } ?? all[all.count - 1]
        return start..<last.whole.upperBound
    }

    /// Adds an earlier value that another program kept, behind those that are there.
    /// - Throws: As ``add(_:_:_:)``.
    package mutating func addEarlier(
        _ kind: FieldKind, _ label: String, bytes value: RawSpan, replaced: Int64
    ) throws(VaultError) {
        let copy = try locked { () throws(SecretMemoryError) in try SecretBytes(copying: value) }
        let modified = modified
        try remember(Field(index: 0, kind: kind, label: label, size: value.byteCount), copy, now: replaced)
        touch(modified)
    }

    package mutating func touch(_ now: Int64) { setFront { $0.modified = now } }

    package static var now: Int64 { WallClock.milliseconds }
}
