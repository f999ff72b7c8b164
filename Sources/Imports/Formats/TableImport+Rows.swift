internal import SecretMemory
internal import VaultFormat

extension TableImport {
    /// Reads a row, unless nothing is in it.
    static func read(
        _ table: borrowing DelimitedText, _ index: Int, _ columns: Columns, _ place: String, _ seen: inout Seen,
        into result: inout Imported
    ) throws(ImportError) {
        let (row, program) = (table.rows[index], columns.program)
        guard row.contains(where: { !$0.range.isEmpty }) else { return }
        func text(_ role: Role) throws(ImportError) -> String? {
            guard let column = columns.place(role) else { return nil }
            // What is made of such a text takes many times of it.
            guard row[column].range.count <= ItemLimits.size else {
                throw .malformed(place, "a cell is longer than an entry may be")
            }
            let text = try table.text(row[column])
            return text.isEmpty ? nil : text
        }
        let word = try text(.kind)
        // A folder without anything in it; those of entries are said by them.
        if let word, word.lowercased() == program?.folderKind { return }
        var kind = word.flatMap { Program.kinds[$0.lowercased()] }
        var address = try text(.url)
        if address == nil { address = try text(.addresses) }
        let isNote = address != nil && address == program?.noteAddress
        let typed = try isNote ? typedNote(table, row, columns) : nil
        if isNote { kind = typed?.kind ?? .note }
        var groups: [String] = []
        if let group = try text(.group) { groups = [group] }
        if let all = try text(.groups) { groups += all.pieces { $0 == "," } }
        var path = (groups.first ?? "").pieces { $0 == program?.separator ?? "/" }
        if program?.hasRoot ?? false, !path.isEmpty { path.removeFirst() }
        if let trash = program?.trash, path.first == trash, seen.trash == nil {
            (seen.trash, seen.trashName) = (table.lines[index], trash)
        }
        let (named, user) = (try text(.title), try text(.username))
        let title = named ?? (isNote ? nil : address.map(host)) ?? user ?? "unnamed"
        let created = try text(.created).map { ($0, time($0)) }
        let item = try ImportedItem(
            kind ?? program?.kind ?? .login, path: path + [title], place: place, created: created?.1)
        for other in groups.dropFirst() { item.addTag(other) }
        if groups.count > 1 {
            item.note(.changed, "more than one folder or collection: the first is its folder, the others are tags")
        }
        // A word that is no kind is kept, and so is a time that is not understood.
        if let word, kind == nil { try item.add(.text, "type", text: word) }
        if let created, created.1 == nil { try item.add(.text, "created", text: created.0) }
        for column in columns.order {
            guard let role = columns.roles[column], !row[column].range.isEmpty else { continue }
            if columns.unknown.contains(column) { seen.columns.insert(column) }
            if isNote, role == .url { continue }
            if role == .typedNotes, let typed {
                try table.withValue(row[column]) { text throws(ImportError) in try typed.add(text, to: item) }
            } else if role == .notesOrContent, let word, ProtonImport.hasContentInTable(word) {
                try ProtonImport.addContent(table.value(row[column]), of: word, beside: table.size, to: item)
            } else {
                try add(table, row[column], role, columns.titles[column], to: item)
            }
        }
        try item.addExpiry(month: text(.expiryMonth), year: text(.expiryYear))
        let modified = try text(.modified).map { ($0, time($0)) }
        if let modified, modified.1 == nil { try item.add(.text, "modified", text: modified.0) }
        item.finish(modified: modified?.1)
        try result.append(item)
    }

    private static func typedNote(
        _ table: borrowing DelimitedText, _ row: [DelimitedText.Cell], _ columns: Columns
    ) throws(ImportError) -> LastPassNote? {
        guard let column = columns.place(.typedNotes) else { return nil }
        return try table.withValue(row[column]) { LastPassNote($0) }
    }

    private static func add(
        _ table: borrowing DelimitedText, _ cell: DelimitedText.Cell, _ role: Role, _ title: String,
        to item: ImportedItem
    ) throws(ImportError) {
        func add(_ kind: FieldKind, _ label: String) throws(ImportError) {
            try table.withValue(cell) { value throws(ImportError) in try item.add(kind, label, bytes: value) }
        }
        switch role {
        case .username: try add(.text, "username")
        case .password: try add(.secret, "password")
        case .url: try add(.url, "website")
        case .addresses: for address in addresses(try table.text(cell)) { try item.add(.url, "website", text: address) }
        case .notes, .typedNotes, .notesOrContent: try item.addNotes(try table.value(cell))
        case .fields:
            try table.withValue(cell) { value throws(ImportError) in try addFields(value, to: item) }
        case .code: try item.addCode("code", try table.value(cell))
        case .text(let label): try add(.text, label)
        case .secret(let label): try add(.secret, label)
        case .date(let label): try item.addDate(label, try table.value(cell))
        case .reprompt: try flag { item.askEachTime() }
        case .favourite: try flag { item.favour() }
        case .archived:
            let text = try table.text(cell).lowercased()
            if !["0", "false"].contains(text) { item.addTag("archived") }
        case .tags:
            for tag in try table.text(cell).pieces({ ",;".contains($0) }) { item.addTag(tag) }
        case .title, .group, .groups, .created, .modified, .kind, .expiryMonth, .expiryYear, .nothing: break
        }
        func flag(_ set: () -> Void) throws(ImportError) {
            switch try table.text(cell).lowercased() {
            case "1", "true": set()
            case "0", "false": break
            default: try add(.text, title)
            }
        }
    }

    /// Lines `name: value`. A line without a name belongs to the value before it.
    private static func addFields(_ text: RawSpan, to item: ImportedItem) throws(ImportError) {
        var field: (label: Range<Int>, value: Range<Int>)?
        func add() throws(ImportError) {
            guard let field else { return }
            let label = text.openText(field.label)
            try item.add(
                .secret, label.isEmpty ? "field" : label, bytes: text.extracting(field.value),
                keepsEmpty: !label.isEmpty)
        }
        var start = 0
        while start < text.byteCount {
            var (end, colon) = (start, Int?.none)
            while end < text.byteCount, text[end] != 10 {
                let isColon = text[end] == UInt8(ascii: ":")
                if colon == nil, isColon, end + 1 == text.byteCount || [10, 32].contains(text[end + 1]) { colon = end }
                end += 1
            }
            if let colon {
                try add()
                field = (start..<colon, min(colon + 2, end)..<end)
            } else {
                field = (field?.label ?? start..<start, (field?.value.lowerBound ?? start)..<end)
            }
            start = end + 1
        }
        try add()
    }

    /// Addresses with commas between. An address may have commas itself: the next one begins with its scheme then.
    private static func addresses(_ text: String) -> [String] {
        if text.hasPrefix("["), let list = jsonList(text) { return list }
        let parts = text.split(separator: ",", maxSplits: 999, omittingEmptySubsequences: false)
        let isPlain = !text.utf8.contains(UInt8(ascii: "/"))
        var all: [String] = []
        for part in parts {
            let part = String(part.drop { $0 == " " })
            if all.isEmpty || isPlain || hasScheme(part) {
                all.append(part)
            } else {
                all[all.count - 1] += "," + part
            }
        }
        return all.filter { !$0.isEmpty }
    }

    /// The texts of a list in JSON; nil for anything else.
    private static func jsonList(_ text: String) -> [String]? {
        let bytes = Array(text.utf8)
        guard let copy = try? unsafe SecretBytes(copying: bytes.span.bytes), let document = try? JSONDocument(copy),
            let elements = document.root.elements
        else { return nil }
        var list: [String] = []
        for element in elements {
            guard let text = try? document.text(element) else { return nil }
            if !text.isEmpty { list.append(text) }
        }
        return list
    }

    private static func hasScheme(_ text: String) -> Bool {
        let scheme = text.utf8.prefix { $0 != UInt8(ascii: ":") }
        return !scheme.isEmpty && text.utf8.dropFirst(scheme.count).starts(with: "://".utf8)
            && scheme.allSatisfy { $0 | 0x20 >= 97 && $0 | 0x20 <= 122 || (43...57).contains($0) }
    }

    /// The title in a row, for what is said of it.
    static func name(_ table: borrowing DelimitedText, _ index: Int, _ columns: Columns) -> String {
        guard let column = columns.title else { return "" }
        return (try? table.text(table.rows[index][column])) ?? ""
    }

    /// Seconds or milliseconds since 1970, or a time as KeePassXC writes it.
    private static func time(_ text: String) -> Int64? {
        guard let number = Int64(text) else { return ForeignTime.milliseconds(text) }
        guard (1...253_402_300_799_999).contains(number) else { return nil }
        // As seconds, this is the year 5138.
        return number < 100_000_000_000 ? number * 1000 : number
    }

    /// The host of an address, for a login without a title.
    private static func host(_ address: String) -> String {
        let utf8 = address.utf8
        let scheme = utf8.prefix { $0 != UInt8(ascii: ":") }
        let start = utf8.dropFirst(scheme.count).starts(with: "://".utf8) ? scheme.count + 3 : 0
        let host = utf8.dropFirst(start).prefix { !"/?#:".utf8.contains($0) }
        return host.isEmpty ? address : String(decoding: host, as: UTF8.self)
    }
}
