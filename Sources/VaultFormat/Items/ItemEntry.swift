/// An entry to be written: what is short and may be in ordinary memory as values, a field's value as lent bytes.
package enum ItemEntry {
    /// The label must be one; whether the value fits its kind is the caller's to ask (``ItemValue/isValid(_:_:)``).
    case field(FieldKind, label: String)
    case tag(String)
    case notes
    case trash(moved: Int64, expires: Int64, name: String)
    case earlier(replaced: Int64, FieldKind, label: String)

    package var tag: UInt8 {
        switch self {
        case .field: ItemLayout.Tag.field
        case .tag: ItemLayout.Tag.tag
        case .notes: ItemLayout.Tag.notes
        case .trash: ItemLayout.Tag.trash
        case .earlier: ItemLayout.Tag.earlier
        }
    }

    /// Bytes of content that stand before the lent ones.
    private var prefix: [UInt8] {
        var writer = ByteWriter()
        switch self {
        case .field(let kind, let label): ItemEntry.write(kind, label, &writer)
        case .tag(let text): writer.append(Array(text.utf8))
        case .notes: break
        case .trash(let moved, let expires, let name):
            writer.integer(UInt64(bitPattern: moved))
            writer.integer(UInt64(bitPattern: expires))
            writer.counted(Array(name.utf8))
        case .earlier(let replaced, let kind, let label):
            writer.integer(UInt64(bitPattern: replaced))
            ItemEntry.write(kind, label, &writer)
        }
        return writer.bytes
    }

    private static func write(_ kind: FieldKind, _ label: String, _ writer: inout ByteWriter) {
        writer.integer(kind.rawValue)
        writer.integer(UInt8(0))
        writer.counted(Array(label.utf8))
    }

    /// Bytes with the entry's head.
    /// - Parameter value: Bytes of a field's value or of the notes; 0 else.
    package func size(value: Int = 0) -> Int { ItemLayout.Entry.headSize + prefix.count + value }

    /// Writes the entry; the caller has made room.
    /// - Parameter value: A field's value or the notes; nothing else has one.
    /// - Returns: The offset behind it.
    @discardableResult
    package func write(_ value: RawSpan, into bytes: inout MutableRawSpan, at offset: Int) -> Int {
        let prefix = prefix
        bytes.store(tag, at: offset)
        bytes.store(UInt32(prefix.count + value.byteCount), at: offset + 1)
        unsafe bytes.store(prefix.span.bytes, at: offset + ItemLayout.Entry.headSize)
        bytes.store(value, at: offset + ItemLayout.Entry.headSize + prefix.count)
        return offset + ItemLayout.Entry.headSize + prefix.count + value.byteCount
    }
}

extension MutableRawSpan {
    /// Copies bytes; the caller has made room.
    package mutating func store(_ bytes: RawSpan, at offset: Int) {
        precondition(offset >= 0 && bytes.byteCount <= byteCount - offset, "bytes outside of their span")
        unsafe withUnsafeMutableBytes { target in
            unsafe bytes.withUnsafeBytes { source in
                let part = unsafe UnsafeMutableRawBufferPointer(rebasing: target[offset..<offset + source.count])
                unsafe part.copyMemory(from: source)
            }
        }
    }
}
