internal import Items
internal import SecretMemory
internal import VaultFormat

/// Reads entries, and what groups and the database say in the user's own words.
final class KeePassEntries {
    private let files: KeePassTree.Files
    let references: KeePassReferences
    /// Bytes of attachments that entries got: many entries may refer to one.
    private var copied = 0

    init(files: KeePassTree.Files, references: KeePassReferences) {
        (self.files, self.references) = (files, references)
    }

    /// Elements of an entry or a group that say nothing outside of KeePass: numbers, looks, the state of its windows.
    /// The list is from the format's description, https://keepass.info/help/kb/kdbx.html, and its schema.
    static let meaningless: Set = [
        "UUID", "IconID", "CustomIconUUID", "ForegroundColor", "BackgroundColor", "QualityCheck", "PreviousParentGroup",
        "IsExpanded", "EnableAutoType", "EnableSearching", "LastTopVisibleEntry", "AutoType.Enabled",
        "AutoType.DataTransferObfuscation", "Times.LastAccessTime", "Times.ExpiryTime", "Times.UsageCount",
        "Times.LocationChanged", "Times.CreationTime", "Times.LastModificationTime", "Times.Expires",
        "CustomData.Item.LastModificationTime",
    ]

    private static let meaninglessOfGroups = meaningless.union(["Group", "Entry"])

    /// The same of the database: its numbers, times, and settings of the program.
    private static let meaninglessMeta: Set = [
        "Generator", "HeaderHash", "SettingsChanged", "DatabaseName", "DatabaseNameChanged",
        "DatabaseDescriptionChanged", "DefaultUserNameChanged", "MaintenanceHistoryDays", "Color", "MasterKeyChanged",
        "MasterKeyChangeRec", "MasterKeyChangeForce", "MasterKeyChangeForceOnce", "MemoryProtection",
        "RecycleBinEnabled", "RecycleBinUUID", "RecycleBinChanged", "EntryTemplatesGroup", "EntryTemplatesGroupChanged",
        "LastSelectedGroup", "LastTopVisibleGroup", "HistoryMaxItems", "HistoryMaxSize", "Binaries",
        "CustomData.Item.LastModificationTime", "CustomIcons",
    ]

    /// What keys of custom data begin with that KeePassXC keeps for itself: which programs were allowed something, how
    /// reports count an entry, what groups do in a browser, times of its own.
    private static let bookkeeping = [
        "KPXC_", "FDO_SECRETS_", "Browser", "KeePassXC-Browser", "KeeShare/", "_LAST_MODIFIED", "_CREATED", "KnownBad",
    ]
    private static let ours: Set = [KeePassLayout.key, KeePassLayout.earlierKey]

    static func unknown(_ path: String) -> String { "what KeePass has as \(path)" }

    /// Reads an entry.
    /// - Parameter tags: Those of its groups, which count for their entries.
    func read(
        _ node: XMLNode, _ path: [String], _ tags: [String], into result: inout Imported
    ) throws(ImportError) {
        let (layout, isLayoutUnknown) = layout(node)
        let times = node["Times"]
        var strings = KeePassStrings(node)
        let title = try title(&strings, layout, node)
        let created = KeePassTree.time(times?["CreationTime"])
        let item = try ImportedItem(
            layout?.kind ?? .login, path: path + [title.text.isEmpty ? "unnamed" : title.text], place: "",
            created: exact(created, layout?.created))
        if title.text.isEmpty { item.note(.changed, "an entry without a title") }
        if title.isUnresolved { item.note(.changed, KeePassEntries.unresolved) }
        if isLayoutUnknown { item.note(.leftOut, "what Holdfast wrote about it in the file, which cannot be read") }
        keepOrigin(&strings, of: item)
        var binaries = KeePassBinaries(node)
        var expiry = expiry(times, of: item)
        if layout?.isRecord ?? false { item.becomeRecord() }
        for field in layout?.fields ?? [] {
            try item.part { () throws(ImportError) in
                try restore(field, &strings, &binaries, &expiry, of: node, to: item)
            }
        }
        for (key, label, kind) in [
            ("UserName", "username", FieldKind.text), ("Password", "password", .secret), ("URL", "website", .url),
        ] {
            guard let value = strings.take(key) else { continue }
            try add(kind, label, value, of: node, to: item)
        }
        if let notes = strings.take("Notes") { try add(notes: notes, layout?.areNotesLiteral ?? false, node, to: item) }
        try KeePassCodes.add(&strings, to: item)
        for (key, value) in strings.others { try add(custom: key, value, of: node, to: item) }
        for binary in binaries.others { try add(binary: binary, to: item) }
        if let expiry { try add(expiry: expiry, "expires", to: item) }
        try addExtras(of: node, to: item)
        addTags(node, layout, tags, to: item)
        if layout?.isFavourite ?? false { item.favour() }
        try addHistory(of: node, times, to: item)
        for path in node.unread(except: KeePassEntries.meaningless) {
            item.note(.leftOut, KeePassEntries.unknown(path))
        }
        item.finish(modified: exact(KeePassTree.time(times?["LastModificationTime"]), layout?.modified))
        try result.append(item)
    }

    /// What we kept about it, if we wrote it; and whether there is such a text that cannot be read.
    private func layout(_ node: XMLNode) -> (KeePassLayout?, isUnknown: Bool) {
        for item in node["CustomData"]?.all("Item") ?? [] where item["Key"]?.openText == KeePassLayout.key {
            guard let value = item["Value"], value.byteCount <= ItemLimits.size else { return (nil, true) }
            let layout = KeePassLayout(value.openText)
            return (layout, layout == nil)
        }
        return (nil, false)
    }

    /// Our time, unless another program has changed the entry since.
    private func exact(_ time: Int64?, _ ours: Int64?) -> Int64? {
        guard let time, let ours, KeePassTime.seconds(ours) == KeePassTime.seconds(time) else { return time }
        return ours
    }

    /// Keeps where an entry was in a vault of ours. We never hide it: a hidden string is somebody's own.
    private func keepOrigin(_ strings: inout KeePassStrings, of item: ImportedItem) {
        guard strings.value(KeePassTree.originKey)?.isProtected == false,
            let text = strings.take(KeePassTree.originKey)?.openText
        else { return }
        item.keep(origin: text)
        let isSame =
            EntryPath(parsing: text).map { path in
                ImportedItem.parts(of: path).elementsEqual(item.path) { $0.utf8.elementsEqual($1.utf8) }
            } ?? false
        if item.origin == nil, !isSame {
            item.note(.leftOut, "where it was in a vault, as the file has it at another place now")
        }
    }

    /// When an entry or a group expires, if it does.
    private func expiry(_ times: XMLNode?, of item: ImportedItem) -> Int64? {
        guard times?["Expires"]?.openText.lowercased() == "true" else { return nil }
        let time = KeePassTree.time(times?["ExpiryTime"])
        if time == nil { item.note(.leftOut, KeePassEntries.unknownExpiry) }
        return time
    }

    private func add(expiry: Int64, _ label: String, to item: ImportedItem) throws(ImportError) {
        guard let day = ForeignTime.day(milliseconds: expiry) else {
            return item.note(.leftOut, KeePassEntries.unknownExpiry)
        }
        if KeePassTime.expiry(day) != expiry { item.note(.changed, "when it expires; the day is kept, not the time") }
        try item.add(.date, label, text: day)
    }

    private static let unknownExpiry = "when it expires, which is no date that can be read"

    private func title(
        _ strings: inout KeePassStrings, _ layout: KeePassLayout?, _ node: XMLNode
    ) throws(ImportError) -> (text: String, isUnresolved: Bool) {
        guard let value = strings.take("Title") else { return ("", false) }
        guard !(layout?.isTitleLiteral ?? false) else { return (value.openText, false) }
        switch try references.resolve(value, of: node) {
        case .plain: return (value.openText, false)
        case .unresolved: return (value.openText, true)
        // A title is no secret.
        case .resolved(let found): return found.isProtected ? (value.openText, true) : (found.text.openText(), false)
        }
    }

    static let unresolved = "a reference to another value, which is the text of the reference now"

    /// Lends a value with what it refers to in place, and whether a part of that is hidden.
    private func with(
        _ value: XMLNode, of node: XMLNode, for item: ImportedItem,
        _ body: (RawSpan, _ isProtected: Bool) throws(ImportError) -> Void
    ) throws(ImportError) {
        switch try references.resolve(value, of: node) {
        case .plain: try value.text?.withBytes { text throws(ImportError) in try body(text, value.isProtected) }
        case .unresolved:
            item.note(.changed, KeePassEntries.unresolved)
            try value.text?.withBytes { text throws(ImportError) in try body(text, value.isProtected) }
        case .resolved(let found):
            let isProtected = found.isProtected || value.isProtected
            try found.text.withBytes { text throws(ImportError) in try body(text, isProtected) }
        }
    }

    /// Adds a value as a field; an open one that KeePass hides, or that refers to such a one, becomes a secret.
    private func add(
        _ kind: FieldKind, _ label: String, _ value: XMLNode, of node: XMLNode, to item: ImportedItem,
        keepsEmpty: Bool = false
    ) throws(ImportError) {
        if kind == .url, value.text?.withBytes({ $0.isCommand }) ?? false {
            item.note(.changed, "an address that runs a program in KeePass; it is only text here")
            let isProtected = value.isProtected
            try value.text?.withBytes { text throws(ImportError) in
                try item.add(isProtected ? .secret : .text, label, bytes: text)
            }
            return
        }
        var isThere = false
        try with(value, of: node, for: item) { text, isProtected throws(ImportError) in
            isThere = true
            try item.add(isProtected && kind.isOpen ? .secret : kind, label, bytes: text, keepsEmpty: keepsEmpty)
        }
        if !isThere, keepsEmpty { try item.add(kind, label, bytes: RawSpan(), keepsEmpty: true) }
    }

    private func add(
        notes: XMLNode, _ isLiteral: Bool, _ node: XMLNode, to item: ImportedItem
    ) throws(ImportError) {
        func add(_ text: RawSpan) throws(ImportError) { try item.addNotes(memory(SecretBytes(copying: text))) }
        guard !isLiteral else {
            try notes.text?.withBytes { text throws(ImportError) in try add(text) }
            return
        }
        try with(notes, of: node, for: item) { text, _ throws(ImportError) in try add(text) }
    }

    /// What the user added.
    private func add(
        custom key: String, _ value: XMLNode, of node: XMLNode, to item: ImportedItem
    ) throws(ImportError) {
        if key.hasPrefix("KPEX_PASSKEY_") { item.note(.changed, "a passkey, which is only fields now") }
        if value.text?.withBytes({ $0.begins(with: ItemValue.oneTimeCodePrefix) }) ?? false {
            try value.text?.withBytes { text throws(ImportError) in
                try item.addCode(key, memory(SecretBytes(copying: text)))
            }
            return
        }
        let kind: FieldKind = key.hasPrefix("KP2A_URL") ? .url : value.isProtected ? .secret : .text
        try add(kind, key, value, of: node, to: item, keepsEmpty: true)
    }

    private func add(binary: XMLNode, to item: ImportedItem) throws(ImportError) {
        let name = binary["Key"]?.openText ?? "file"
        let number = item.item.fields.count { $0.kind == .file } + 1
        try item.part { () throws(ImportError) in
            try withContent(of: binary, for: item) { content throws(ImportError) in
                try item.addFile(number == 1 ? "file" : "file \(number)", name: name, content: content)
            }
        }
    }

    /// Lends what an attachment has.
    func withContent(
        of binary: XMLNode, for item: ImportedItem, _ body: (RawSpan) throws(ImportError) -> Void
    ) throws(ImportError) {
        guard let value = binary["Value"] else { return item.note(.leftOut, KeePassEntries.absent) }
        let file: KeePassTree.File
        if let reference = value.attributes["Ref"] {
            switch Int(reference).flatMap({ files[$0] }) {
            case .none: return item.note(.leftOut, KeePassEntries.absent)
            case .damaged(let error): throw error
            case .content(let found): file = found
            }
        } else {
            file = try KeePassTree.file(value)
        }
        copied += file.count
        guard copied <= ImportLimits.expanded else {
            throw ImportError(.tooLarge, "line \(binary.line)", "the attachments of all entries are too long together")
        }
        try file.withBytes(body)
    }

    private static let absent = "an attachment that is not in the file"

    /// Adds a field as we had it.
    private func restore(
        _ field: KeePassLayout.Field, _ strings: inout KeePassStrings, _ binaries: inout KeePassBinaries,
        _ expiry: inout Int64?, of node: XMLNode, to item: ImportedItem
    ) throws(ImportError) {
        switch field.place {
        case .string:
            guard let value = strings.take(field.key) else { return }
            try add(field.kind, field.label, value, of: node, to: item, keepsEmpty: true)
        case .literal:
            guard let value = strings.take(field.key) else { return }
            try value.text?.withBytes { text throws(ImportError) in
                try item.add(value.kind(field.kind), field.label, bytes: text)
            }
        case .expiry:
            guard let time = expiry.take() else { return }
            let isSame = KeePassTime.expiry(field.key).map(KeePassTime.seconds) == KeePassTime.seconds(time)
            guard isSame else { return try add(expiry: time, field.label, to: item) }
            try item.add(.date, field.label, text: field.key)
        case .content, .file:
            guard let binary = binaries.take(field.key) else { return }
            let kind = binary["Value"]?.kind(field.kind) ?? field.kind
            try withContent(of: binary, for: item) { content throws(ImportError) in
                guard field.place == .file else {
                    return try item.add(kind, field.label, bytes: content, keepsEmpty: true)
                }
                try item.addFile(field.label, name: field.name.isEmpty ? field.key : field.name, content: content)
            }
        }
    }
}

// What is beside the fields.
extension KeePassEntries {
    /// Tags of the entry, as we had them if they are the same, and of its groups.
    private func addTags(_ node: XMLNode, _ layout: KeePassLayout?, _ tags: [String], to item: ImportedItem) {
        let own = KeePassTags(node["Tags"])
        let ours = layout?.tags ?? []
        // No item of ours has more.
        let isOurs =
            !own.isCut && ours.count <= ItemLimits.tags
            && Set(KeePassTags(ours.joined(separator: ";")).all) == Set(own.all)
        let all = (isOurs ? ours : own.all) + tags
        for tag in all.prefix(4 * ItemLimits.tags) { item.addTag(tag) }
        if own.isCut || all.count > 4 * ItemLimits.tags { item.note(.leftOut, KeePassEntries.moreTags) }
    }

    private static let moreTags = "more tags than an entry can have"

    /// Auto-type, the address that stands in for the usual one, and what other programs keep.
    private func addExtras(of node: XMLNode, to item: ImportedItem) throws(ImportError) {
        try add(extra: node["OverrideURL"], "override URL", .text, to: item)
        // A sequence may have a password in it.
        try add(extra: node["AutoType"]?["DefaultSequence"], "auto-type", .secret, to: item)
        try add(extra: node["DefaultAutoTypeSequence"], "auto-type", .secret, to: item)
        for association in node["AutoType"]?.all("Association") ?? [] {
            let window = association["Window"]?.openText ?? ""
            let sequence = association["KeystrokeSequence"]
            let label = window.isEmpty ? "auto-type" : "auto-type in \(window)"
            guard try !add(extra: sequence, label, .secret, to: item), !window.isEmpty else { continue }
            try item.add(.text, "auto-type window", text: window)
        }
        try addCustomData(of: node, to: item)
    }

    @discardableResult
    private func add(
        extra node: XMLNode?, _ label: String, _ kind: FieldKind, to item: ImportedItem
    ) throws(ImportError) -> Bool {
        var isThere = false
        try node?.text?.withBytes { text throws(ImportError) in
            isThere = text.byteCount > 0
            try item.add(kind, label, bytes: text)
        }
        return isThere
    }

    private func addCustomData(of node: XMLNode, to item: ImportedItem) throws(ImportError) {
        for data in node["CustomData"]?.all("Item") ?? [] {
            let key = data["Key"]?.openText ?? ""
            guard !KeePassEntries.ours.contains(key), !KeePassEntries.bookkeeping.contains(where: key.hasPrefix) else {
                data.markRead()
                continue
            }
            guard try add(extra: data["Value"], key, .secret, to: item) else { continue }
            item.note(.changed, "data of another program beside the entry, which is a secret field now")
        }
    }

    /// Keeps what the user wrote about a group as a note in it.
    /// - Parameter tags: Those of the groups that it is in.
    /// - Returns: These and the group's own, which are those of its entries.
    func read(
        group node: XMLNode, _ path: [String], _ name: String, _ tags: [String], into result: inout Imported
    ) throws(ImportError) -> [String] {
        let times = node["Times"]
        let item = try ImportedItem(
            .note, path: path + [name], place: "", created: KeePassTree.time(times?["CreationTime"]))
        if let notes = node["Notes"] { try add(notes: notes, true, node, to: item) }
        if let expiry = expiry(times, of: item) { try add(expiry: expiry, "expires", to: item) }
        try addExtras(of: node, to: item)
        var own = KeePassTags(node["Tags"])
        for path in node.unread(except: KeePassEntries.meaninglessOfGroups) {
            item.note(.leftOut, KeePassEntries.unknown(path))
        }
        own.add(tags)
        if own.isCut { item.note(.leftOut, KeePassEntries.moreTags) }
        item.finish(modified: KeePassTree.time(times?["LastModificationTime"]))
        try result.append(ifFilled: item)
        return own.all
    }

    /// Keeps what the user wrote about the database as a note of the database's name.
    func read(meta: XMLNode, into result: inout Imported) throws(ImportError) {
        let name = meta["DatabaseName"]?.openText ?? ""
        let item = try ImportedItem(.note, path: [name.isEmpty ? "database" : name], place: "")
        if let notes = meta["DatabaseDescription"] { try add(notes: notes, true, meta, to: item) }
        try add(extra: meta["DefaultUserName"], "default user name", .text, to: item)
        try addCustomData(of: meta, to: item)
        for path in meta.unread(except: KeePassEntries.meaninglessMeta) {
            item.note(.leftOut, KeePassEntries.unknown(path))
        }
        let icons = meta["CustomIcons"]?.all("Icon").count ?? 0
        if icons > 0 { item.note(.leftOut, "\(icons) pictures of entries and groups (icons)") }
        try result.append(ifFilled: item)
    }
}

extension Imported {
    /// Takes an item that has anything; of another one the notes alone.
    fileprivate mutating func append(ifFilled item: ImportedItem) throws(ImportError) {
        guard item.isEmpty, item.faults.isEmpty else { return try append(item) }
        for (kind, what) in item.remarks { note(kind, what, entry: item.name, place: item.place) }
    }
}

extension RawSpan {
    /// Whether KeePass runs it as a command.
    var isCommand: Bool {
        let mark: StaticString = "cmd://"
        guard byteCount >= mark.utf8CodeUnitCount else { return false }
        return (0..<mark.utf8CodeUnitCount).allSatisfy { unsafe self[$0] | 0x20 == mark.utf8Start[$0] | 0x20 }
    }
}

/// Times as KeePass writes them: whole seconds.
enum KeePassTime {
    /// Seconds since 1970, of milliseconds.
    static func seconds(_ milliseconds: Int64) -> Int64 {
        milliseconds / 1000 - (milliseconds % 1000 < 0 ? 1 : 0)
    }

    /// The time, in milliseconds since 1970, at which an entry of this date expires: the beginning of the day, or of
    /// the month's first. Nil for what is no date of the years that KeePass has.
    static func expiry(_ date: String) -> Int64? {
        guard !date.hasPrefix("0000") else { return nil }
        return ForeignTime.milliseconds((date.utf8.count == 7 ? date + "-01" : date) + "T00:00:00Z")
    }
}
