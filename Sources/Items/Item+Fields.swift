public import SecretMemory
internal import VaultCore
public import VaultFormat
public import VaultStorage

extension Item {
    /// A field without its value.
    public struct Field: Sendable, Hashable {
        /// Its place among the fields, from 0. Good until the item is changed.
        public let index: Int
        /// What it holds.
        public let kind: FieldKind
        /// What it is called; fields may have the same label.
        public let label: String
        /// Bytes of its value.
        package let size: Int
    }

    /// The fields, in the order in which they are shown.
    public var fields: [Field] {
        bytes.withBytes { bytes in
            layout.fields.enumerated().map { index, field in
                Field(index: index, kind: field.kind, label: bytes.text(field.label), size: field.value.count)
            }
        }
    }

    /// The first field of this label, by its bytes; else in whatever case.
    public func field(_ label: String) -> Field? {
        let wanted = label.lowercased()
        return fields.first { $0.label.utf8.elementsEqual(label.utf8) }
            ?? fields.first { $0.label.lowercased() == wanted }
    }

    /// The first field of one of these kinds.
    public func field(_ kinds: FieldKind...) -> Field? { fields.first { kinds.contains($0.kind) } }

    /// What the item is mostly read for: a login's password, a note's text, the value of what was a plain value. Nil
    /// where nothing of it is a secret. Its value may be elsewhere (``requireHere(_:)``).
    package var mainField: Field? { field("password") ?? field("value") ?? field(.secret) ?? field(.oneTimeCode) }

    /// Lends a field's value from locked memory for the time of the closure.
    /// - Throws: What `body` throws. A field of another item traps.
    public borrowing func withValue<R: ~Copyable, E: Error>(
        of field: Field, _ body: (RawSpan) throws(E) -> R
    ) throws(E) -> R {
        let range = layout.fields[field.index].value
        return try bytes.withBytes { bytes throws(E) in try body(bytes.extracting(range)) }
    }

    /// The name and the content of a file's field; nil of any other.
    package borrowing func withFile<R, E: Error>(
        of field: Field, _ body: (_ name: String, _ content: RawSpan) throws(E) -> R
    ) throws(E) -> R? {
        guard field.kind == .file else { return nil }
        return try withValue(of: field) { value throws(E) in
            guard let (name, content) = ItemValue.fileContent(value) else { return nil }
            return try body(value.text(name), value.extracting(content))
        }
    }

    /// How many fields it has; told without their labels.
    package var fieldCount: Int { layout.fields.count }
    /// How many fields, tags, earlier values and notes it has.
    package var partCount: Int { layout.entries.count }

    /// Adds a field behind the others.
    /// - Throws: `invalidItem` for what an item cannot hold, `tooLarge` beyond 1 MiB, `outOfMemory`; then nothing has
    ///   changed.
    public mutating func add(
        _ kind: FieldKind, _ label: String, _ value: borrowing SecretBytes
    ) throws(VaultError) {
        try value.withBytes { value throws(VaultError) in try add(kind, label, bytes: value) }
    }

    /// As ``add(_:_:_:)``, for bytes that the caller keeps.
    public mutating func add(_ kind: FieldKind, _ label: String, bytes value: RawSpan) throws(VaultError) {
        let end = layout.end(of: ItemLayout.Tag.field)
        try replace(end..<end, with: .field(kind, label: label), value)
    }

    /// Adds a file's name and content as a field.
    /// - Throws: As ``add(_:_:_:)``.
    package mutating func addFile(_ label: String, name: String, content: RawSpan) throws(VaultError) {
        let front = Array(name.utf8)
        guard front.count <= ItemLimits.fileName, content.byteCount <= ItemLimits.size else { throw .tooLargeItem }
        var value = try locked { () throws(SecretMemoryError) in
            try SecretBytes(zeroed: 2 + front.count + content.byteCount)
        }
        value.withMutableBytes { value in
            value.store(UInt16(front.count), at: 0)
            unsafe value.store(front.span.bytes, at: 2)
            value.store(content, at: 2 + front.count)
        }
        try add(.file, label, value)
    }

    /// Changes a field's value. What it held becomes an earlier value, unless it was the same or empty.
    /// - Throws: As ``add(_:_:_:)``. A field of another item traps.
    public mutating func set(_ field: Field, _ value: borrowing SecretBytes) throws(VaultError) {
        try value.withBytes { value throws(VaultError) in try set(field, bytes: value, now: Item.now) }
    }

    /// Changes the value of the field with this label, or adds such a field.
    /// - Throws: What ``add(_:_:bytes:)`` and a change of a value throw.
    package mutating func put(_ kind: FieldKind, _ label: String, bytes value: RawSpan) throws(VaultError) {
        guard let field = field(label) else { return try add(kind, label, bytes: value) }
        try set(field, bytes: value)
    }

    /// - Parameter keepsEarlier: Whether what it held becomes an earlier value; not where it is worth nothing, as the
    ///   number of a code that was used.
    package mutating func set(
        _ field: Field, bytes value: RawSpan, now: Int64 = Item.now, keepsEarlier: Bool = true
    ) throws(VaultError) {
        let old = try part(layout.fields[field.index].value)
        if old.isEqual(to: value) { return }
        let entry = layout.entries(ItemLayout.Tag.field)[field.index]
        // Earlier values make room for this one, and that of now for them only as far as there is some left.
        try replace(entry.whole, with: .field(field.kind, label: field.label), value, makingRoom: true)
        if keepsEarlier { try remember(field, old, now: now) } else { touch(now) }
    }

    /// Gives a field another label.
    /// - Throws: As ``add(_:_:_:)``.
    package mutating func rename(_ field: Field, to label: String) throws(VaultError) {
        let value = try part(layout.fields[field.index].value)
        let entry = layout.entries(ItemLayout.Tag.field)[field.index]
        try value.withBytes { value throws(VaultError) in
            try replace(entry.whole, with: .field(field.kind, label: label), value)
        }
    }

    /// Removes a field; what it held becomes an earlier value.
    /// - Throws: `outOfMemory`.
    public mutating func remove(_ field: Field) throws(VaultError) {
        let old = try part(layout.fields[field.index].value)
        try removeEntry(layout.entries(ItemLayout.Tag.field)[field.index])
        try remember(field, old, now: Item.now)
    }

    /// Puts a field at another place among the fields; no value changes.
    /// - Parameters:
    ///   - field: The field that moves.
    ///   - index: The place it gets, from 0.
    /// - Throws: `outOfMemory`. A field of another item, or a place behind the last, traps.
    package mutating func move(_ field: Field, to index: Int) throws(VaultError) {
        precondition(layout.fields.indices.contains(index), "no such place")
        let value = try part(layout.fields[field.index].value)
        try removeEntry(layout.entries(ItemLayout.Tag.field)[field.index])
        let rest = layout.entries(ItemLayout.Tag.field)
        let place = index < rest.count ? rest[index].whole.lowerBound : layout.end(of: ItemLayout.Tag.field)
        try value.withBytes { value throws(VaultError) in
            try replace(place..<place, with: .field(field.kind, label: field.label), value)
        }
        touch(Item.now)
    }

    mutating func removeEntry(_ entry: ItemLayout.Entry) throws(VaultError) {
        let nothing: [UInt8] = []
        try unsafe replace(entry.whole, with: nil, nothing.span.bytes)
    }
}
