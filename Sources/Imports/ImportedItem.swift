internal import Cryptography
package import Items
internal import SecretMemory
internal import OneTimeCodes
internal import VaultFormat
internal import VaultStorage

/// An item that was read from another program's file, and where it goes.
package final class ImportedItem: @unchecked Sendable {  // built by one thread, then only read
    /// What it will be called: groups and folders, then the title, with slashes between.
    package let name: String
    /// Where it was in a vault of ours, if the file says so and the rest of the file agrees.
    package internal(set) var origin: EntryPath?
    let path: [String]
    /// Where it was in the file; empty where nobody can look.
    package let place: String
    package fileprivate(set) var item: Item
    /// When it was made, in milliseconds since 1970; nil where the file does not say it.
    let created: Int64?
    /// When it was changed last, in milliseconds since 1970; nil where the file does not say it.
    private(set) var modified: Int64?
    /// What of it could not be kept as it was.
    private(set) var remarks: [(ImportNote.Kind, String)] = []
    private var said: Set<String> = []
    private static let mostRemarks = 256
    /// Why parts of it cannot be read. Whether they end the import or are left out is decided with the whole.
    private(set) var faults: [ImportError] = []
    /// Files that wait for the rest of the item.
    private var large: [(label: String, Attachment)] = []
    /// The value that it is, where a vault of ours had it as one of its own; then nothing else of it counts.
    package private(set) var record: Attachment?
    private(set) var isRecord = false
    /// Files that are too large for the item.
    package private(set) var attachments: [Attachment] = []

    /// A file that becomes a value of its own, below the item's name.
    package final class Attachment: Sendable {
        let name: String
        let content: SecretBytes

        init(name: String, content: consuming SecretBytes) {
            self.name = name
            self.content = content
        }
    }

    init(_ kind: ItemKind, path: [String], place: String, created: Int64? = nil) throws(ImportError) {
        let (name, isCut) = ImportedItem.name(path)
        self.name = name
        self.path = path
        self.place = place
        self.created = created
        do throws(VaultError) { item = try Item(kind, now: created ?? Item.now) } catch {
            throw ImportError(error, place)
        }
        if isCut { note(.changed, "a name of more than \(ImportedItem.longestName) bytes, which was cut") }
    }

    /// Notes something of it that the vault will not have as the file has it; once.
    func note(_ kind: ImportNote.Kind, _ what: String) {
        guard remarks.count <= ImportedItem.mostRemarks, said.insert("\(kind.rawValue):\(what)").inserted else {
            return
        }
        let isLast = remarks.count == ImportedItem.mostRemarks
        remarks.append((kind, isLast ? "this and what follows of the entry is not listed" : what))
    }

    /// Reads a part of it, such as a field. What cannot be read is a fault of this part alone.
    /// - Throws: What is not of this part alone.
    func part(_ body: () throws(ImportError) -> Void) throws(ImportError) {
        do throws(ImportError) { try body() } catch {
            guard error.isOfPart else { throw error }
            add(fault: error)
        }
    }

    func add(fault: ImportError) {
        guard faults.count <= ImportedItem.mostRemarks else { return }
        let isLast = faults.count == ImportedItem.mostRemarks
        faults.append(isLast ? .malformed(place, "this and what follows of the entry is not listed") : fault)
    }

    /// Whether nothing of it would be in the vault but its name.
    var isEmpty: Bool {
        item.fields.isEmpty && item.history.isEmpty && item.withNotes({ _ in true }) == nil && record == nil
            && large.isEmpty && attachments.isEmpty
    }

    /// An item that another program gave.
    /// - Parameters:
    ///   - path: The groups that it is in, and its title.
    ///   - place: Where it was, for people.
    package init(_ item: consuming Item, path: [String], place: String) {
        (name, _) = ImportedItem.name(path)
        self.path = path
        self.place = place
        created = nil
        self.item = item
    }

    private static let longestName = 1000

    /// Without what no name may have, at most 1,000 bytes.
    static func name(_ path: [String]) -> (name: String, isCut: Bool) {
        let parts = path.map { part in
            if isPlain(part) { return (text: part, isCut: false) }
            // A title may be as long as the file; spaces that go away may be in front of what stays.
            let (plain, isCut) = cleaned(part, 2 * longestName) { $0 == "/" || $0.isUnsafeToShow ? " " : $0 }
            if isPlain(plain) { return (text: plain, isCut: isCut) }
            let text = plain.utf8.split(separator: 0x20).map { Substring($0) }.joined(separator: " ")
            // No part of a path is one of these.
            return (text: [".", ".."].contains(text) ? "(\(text))" : text, isCut: isCut)
        }.filter { !$0.text.isEmpty }
        let isCut = parts.contains { $0.isCut }
        let whole = parts.map(\.text).joined(separator: "/")
        guard whole.utf8.count > longestName else { return (whole.isEmpty ? "unnamed" : whole, isCut) }
        let (name, isWholeCut) = cleaned(whole, longestName) { $0 }
        return (name.isEmpty ? "unnamed" : name, isWholeCut || isCut)
    }

    /// Whether more than blanks of its title or its folders was changed.
    var hasOtherName: Bool { !path.allSatisfy(ImportedItem.isKept) }

    /// Whether a part of a name stays as it is but for blanks.
    private static func isKept(_ part: String) -> Bool {
        isPlain(part)
            || !part.unicodeScalars.contains { $0 == "/" || $0.value < 0x20 || $0.value == 0x7F || $0.isUnsafeToShow }
                && ![".", ".."].contains(part)
    }

    /// Whether a part of a name stays as it is: most do, and taking them apart costs as much as the rest of an item.
    private static func isPlain(_ part: String) -> Bool {
        guard 1...longestName ~= part.utf8.count else { return false }
        var last = UInt8(ascii: " ")
        for byte in part.utf8 {
            guard 0x20..<0x7F ~= byte, byte != UInt8(ascii: "/"), byte != 0x20 || last != 0x20 else { return false }
            last = byte
        }
        return last != 0x20 && part != "." && part != ".."
    }

    /// A text with spaces in place of control characters, cut by whole scalars to so many bytes: before anything is
    /// made of each character.
    fileprivate static func cleaned(
        _ text: String, _ limit: Int, _ change: (Unicode.Scalar) -> Unicode.Scalar
    ) -> (String, isCut: Bool) {
        var plain: [UInt8] = []
        plain.reserveCapacity(min(text.utf8.count, limit))
        for scalar in text.unicodeScalars {
            let scalar = scalar.value < 0x20 || scalar.value == 0x7F ? " " : change(scalar)
            guard plain.count + UTF8.width(scalar) <= limit else {
                return (String(decoding: plain, as: UTF8.self), true)
            }
            if scalar.isASCII { plain.append(UInt8(scalar.value)) } else { plain += UTF8.encode(scalar) ?? .init() }
        }
        return (String(decoding: plain, as: UTF8.self), false)
    }
}

extension ImportedItem {
    /// Adds a field; an empty value adds none.
    /// - Throws: ``ImportError`` where an item cannot hold it.
    func add(
        _ kind: FieldKind, _ label: String, _ value: borrowing SecretBytes, keepsEmpty: Bool = false
    ) throws(ImportError) {
        try value.withBytes { value throws(ImportError) in try add(kind, label, bytes: value, keepsEmpty: keepsEmpty) }
    }

    func add(
        _ kind: FieldKind, _ label: String, bytes value: RawSpan, keepsEmpty: Bool = false
    ) throws(ImportError) {
        guard value.byteCount > 0 || keepsEmpty else { return }
        // An invalid text is kept, as a secret; a label is made one that an item can have.
        let isValid = ItemValue.isValid(value, kind)
        if !isValid { note(.changed, "a value that is not of the kind of its field, which is a secret now") }
        let kind = isValid ? kind : .secret
        let label = self.label(label)
        // Looked at first: a file may have millions of them.
        if hasRoom(for: value.byteCount), try adds({ () throws(VaultError) in try item.add(kind, label, bytes: value) })
        {
            return
        }
        // Not a value of its own below it: what guards the entry would not guard that.
        add(fault: .malformed(place, "there is no room for the field \"\(label)\": \(ImportedItem.room)"))
    }

    private static let room = "an entry has at most \(ItemLimits.fields) fields and \(ItemLimits.size >> 20) MiB"

    private func hasRoom(for size: Int) -> Bool {
        item.fieldCount < ItemLimits.fields && item.size + size <= ItemLimits.size
    }

    /// Adds something to the item.
    /// - Returns: False where there is no room for it.
    private func adds(_ body: () throws(VaultError) -> Void) throws(ImportError) -> Bool {
        do throws(VaultError) { try body() } catch {
            guard [.tooLarge, .invalidItem].contains(error.code) else { throw ImportError(error, place) }
            return false
        }
        return true
    }

    func add(_ kind: FieldKind, _ label: String, text: String) throws(ImportError) {
        let bytes = Array(text.utf8)
        try unsafe add(kind, label, bytes: bytes.span.bytes)
    }

    /// The label of a field that is in a section, which fields here are not.
    func label(_ own: String, in section: String) -> String {
        guard !section.isEmpty else { return own }
        let room = ItemLimits.label - own.utf8.count - 2
        let (front, isCut) = ImportedItem.cleaned(section, max(room, 0)) { $0 }
        if isCut { note(.changed, "the title of a section, which was cut") }
        return front.isEmpty ? own : "\(front): \(own)"
    }

    /// A label that an item can have.
    private func label(_ label: String) -> String {
        if label.utf8.count < 64, label.utf8.allSatisfy({ 0x20..<0x7F ~= $0 }), !label.isEmpty { return label }
        let (plain, isCut) = ImportedItem.cleaned(label, ItemLimits.label) { $0 }
        if isCut { note(.changed, "a label of more than \(ItemLimits.label) bytes, which was cut") }
        return plain.isEmpty ? "field" : plain
    }

    /// Adds a one-time code: an `otpauth://` text, Steam's `steam://KEY`, or a key in base 32.
    /// What is neither is kept as a secret, and noted.
    func addCode(_ label: String, _ value: borrowing SecretBytes) throws(ImportError) {
        guard value.count > 0 else { return }
        let text: SecretBytes
        // A word or two may be base 32 too, and no service has a key of less than 80 bits.
        let isAddress = value.withBytes { bytes in (0..<bytes.byteCount).contains { bytes[$0] == UInt8(ascii: ":") } }
        do throws(OneTimeCodeError) {
            guard isAddress || value.count >= 16 else { throw .invalid(.secret) }
            text = try OneTimeCode(entered: value).text()
        } catch {
            note(.changed, ImportedItem.unknownCode)
            return try add(.secret, label, value)
        }
        try add(.oneTimeCode, label, text)
    }

    static let unknownCode = "a one-time code in a form that is not known, which is a secret now"

    func addFile(_ label: String, name: String, content: RawSpan) throws(ImportError) {
        if isSmall(content.byteCount), try holds(label, fileName(name), content) { return }
        try addFile(label, name: name, content: memory(SecretBytes(copying: content)))
    }

    /// As ``addFile(_:name:content:)``, for bytes that nobody else needs.
    func addFile(_ label: String, name: String, content: consuming SecretBytes) throws(ImportError) {
        let name = fileName(name)
        if isRecord, record == nil {
            record = Attachment(name: name, content: content)
            return
        }
        if isSmall(content.count) {
            let isThere = try content.withBytes { content throws(ImportError) in try holds(label, name, content) }
            if isThere { return }
        }
        // A file of thousands of attachments must not become thousands of records for one title.
        guard large.count < ImportLimits.attachments else {
            return add(
                fault: .malformed(
                    place, "an entry has at most \(ImportLimits.attachments) attachments beside those that it can hold")
            )
        }
        large.append((label, Attachment(name: name, content: content)))
    }

    /// Whether a file goes into the item at once. What follows needs room too: a large file waits until all else is
    /// there.
    private func isSmall(_ size: Int) -> Bool {
        !(isRecord && record == nil) && item.size + size <= ItemLimits.size / 2
    }

    private func fileName(_ name: String) -> String {
        if let name = ImportedItem.fileName(name) { return name }
        note(.changed, "a file of a name that no file has; it is called file")
        return "file"
    }

    /// Nil for what is none.
    private static func fileName(_ name: String) -> String? {
        let (plain, isCut) = cleaned(name, ItemLimits.fileName) { $0 == "/" ? "_" : $0 }
        return !isCut && !plain.isEmpty && plain != "." && plain != ".." ? plain : nil
    }

    /// Makes it a value of its own, which is the content of its one file.
    func becomeRecord() { isRecord = true }

    /// - Returns: False where the item has no room for it.
    private func holds(_ label: String, _ name: String, _ content: RawSpan) throws(ImportError) -> Bool {
        guard hasRoom(for: content.byteCount) else { return false }
        let label = self.label(label)
        return try adds { () throws(VaultError) in try item.addFile(label, name: name, content: content) }
    }

    /// Adds the large files as far as there is room. Each of the others becomes a value of its own.
    func placeFiles() throws(ImportError) {
        // Something was added to it elsewhere: a value of its own could not have that.
        if let file = record {
            record = nil
            let isAlone = isEmpty && item.tags.isEmpty && !item.isFavourite
            if isAlone { record = file } else { large.append(("file", file)) }
        }
        for (label, file) in large {
            let isThere = try file.content.withBytes { content throws(ImportError) in
                try holds(label, file.name, content)
            }
            if isThere { continue }
            note(.changed, "an attachment that an entry cannot hold, which is a value of its own below it")
            attachments.append(file)
        }
        large = []
    }

    /// Keeps a value that was there before; values of today's are added first.
    func addEarlier(
        _ kind: FieldKind, _ label: String, _ value: borrowing SecretBytes, replaced: Int64?
    ) throws(ImportError) {
        try value.withBytes { value throws(ImportError) in try addEarlier(kind, label, bytes: value, replaced: replaced)
        }
    }

    func addEarlier(_ kind: FieldKind, _ label: String, bytes value: RawSpan, replaced: Int64?) throws(ImportError) {
        guard value.byteCount > 0 else { return }
        let (count, label) = (item.history.count, self.label(label))
        let isThere = try adds { () throws(VaultError) in
            try item.addEarlier(kind, label, bytes: value, replaced: replaced ?? item.created)
        }
        // The oldest go first.
        if !isThere || item.history.count <= count { note(.leftOut, "earlier values for which an entry has no room") }
    }

    /// Puts a text below the notes that are there.
    func addNotes(_ notes: borrowing SecretBytes) throws(ImportError) {
        guard notes.count > 0 else { return }
        let all = try memory { () throws(SecretMemoryError) in
            var all = SecretBuffer()
            _ = try item.withNotes { notes throws(SecretMemoryError) in
                try all.append(notes)
                try all.append(UInt8(ascii: "\n"))
            }
            try notes.withBytes { notes throws(SecretMemoryError) in try all.append(notes) }
            return try all.bytes()
        }
        guard try !adds({ () throws(VaultError) in try item.setNotes(all) }) else { return }
        note(.changed, "notes that an entry cannot hold, which are a value of their own below it")
        attachments.append(Attachment(name: "notes.txt", content: try memory(notes.copy())))
    }

    /// Adds a tag; what no tag can be is left out and said. One that begins as a guard and is none becomes the
    /// strictest.
    func addTag(_ tag: String) {
        guard tag.utf8.count <= 4 * ItemLimits.tag else { return note(.leftOut, "a tag that no entry can have") }
        var plain = tag.split(separator: " ").joined(separator: " ")
        guard !plain.isEmpty else { return }
        // Whoever wrote the file would choose what programs get from the session bus.
        guard !plain.utf8.elementsEqual(Item.secretServiceTag.utf8) else {
            return note(
                .leftOut, "the tag \(plain), which gives an entry to programs; add it yourself if you want that")
        }
        if GuardTag.meant(by: plain) != nil {
            plain = GuardTag(plain) == .noForwarding ? GuardTag.forwarding : GuardTag.eachTime
            note(.changed, "a tag that begins as one that guards an item and is none; it is \(plain) now")
        }
        do throws(VaultError) {
            // A guard has room: another tag goes for it.
            if item.tags.count >= ItemLimits.tags, GuardTag(plain) != nil, !item.tags.contains(plain),
                let other = item.tags.last(where: { GuardTag($0) == nil })
            {
                try item.removeTag(other)
                note(.leftOut, "a tag that no entry can have")
            }
            try item.addTag(plain)
        } catch {
            note(.leftOut, "a tag that no entry can have")
        }
    }

    /// Has the agent ask before each use, for an item for which another program asked for its password once more.
    func askEachTime() {
        addTag(GuardTag.eachTime)
        note(
            .changed,
            "that the master password is asked for once more; with the tag \(GuardTag.eachTime) the agent asks you instead"
        )
    }

    func favour() { item.isFavourite = true }

    /// Sets the time of the last change, after everything else.
    func finish(modified: Int64?) {
        self.modified = modified
        if let modified { item.touch(modified) }
    }
}
