package import SecretMemory
internal import VaultFormat

/// Tables of comma-separated values: those of programs that are known by their columns, and any other with a mapping of
/// columns.
package enum TableImport {
    /// What a column is.
    package enum Role: Sendable, Hashable {
        case title, group, username, password, url, notes, code, created, modified, favourite, tags
        /// Several groups with commas between: the first is the path, the others are tags.
        case groups
        /// One address or several, with commas between.
        case addresses
        /// Lines `name: value`, each a field.
        case fields
        /// Notes, which may have a type and lines of fields (``LastPassNote``).
        case typedNotes
        /// Notes, in place of which a card and an identity have JSON (``ProtonImport``).
        case notesOrContent
        /// What the program calls an item, such as `note`.
        case kind
        /// `1` where Bitwarden asks for its password once more.
        case reprompt
        /// Whether, or when, it was put away.
        case archived
        case expiryMonth, expiryYear
        /// A field of this label.
        case text(String)
        case secret(String)
        case date(String)
        /// Left out on purpose: it says nothing outside of its program.
        case nothing

        /// The words of a mapping; `text:LABEL` and `secret:LABEL` name a field.
        package init?(word: String) {
            let words: [String: Role] = [
                "title": .title, "group": .group, "username": .username, "password": .password, "url": .url,
                "notes": .notes,
                "otp": .code, "tags": .tags, "ignore": .nothing,
            ]
            if let role = words[word] {
                self = role
            } else if word.hasPrefix("text:"), word.utf8.count > 5 {
                self = .text(String(word.dropFirst(5)))
            } else if word.hasPrefix("secret:"), word.utf8.count > 7 {
                self = .secret(String(word.dropFirst(7)))
            } else {
                return nil
            }
        }
    }

    /// - Throws: ``ImportError``.
    package static func read(
        _ bytes: consuming SecretBytes, _ options: ImportOptions = ImportOptions()
    ) throws(ImportError) -> Imported {
        let table = try DelimitedText(bytes) { Columns.isKnown($0, options.columns) }
        var titles: [String] = []
        for cell in table.rows[0] { titles.append(try table.text(cell)) }
        var result = Imported(options)
        let columns = try Columns(titles, options.columns, table.separator)
        for column in columns.unmapped { result.note(.leftOut, column, place: "line 1") }
        var seen = Seen()
        for index in table.rows.indices.dropFirst() {
            let place = table.place(index)
            do throws(ImportError) {
                if let fault = table.faults[index] { throw .malformed(place, fault.what) }
                try read(table, index, columns, place, &seen, into: &result)
            } catch {
                // In a row with a fault, the title's place may have anything, such as a password.
                let title = table.faults[index] == nil ? name(table, index, columns) : ""
                try result.leaveOut(error, entry: title, place: place)
            }
        }
        for column in seen.columns.sorted() {
            let title = columns.titles[column].lowercased().prefix(64)
            result.note(
                .changed, "the column \"\(title)\", which is not known; what is in it is a secret", place: "line 1")
        }
        if let line = seen.trash {
            result.note(
                .changed, "the group of what was thrown away, which is a folder like any other here",
                entry: seen.trashName, place: "line \(line)")
        }
        return result
    }

    /// What all rows together have.
    struct Seen {
        /// Unknown columns with something in them.
        var columns: Set<Int> = []
        /// The line of the first entry in the trash.
        var trash: Int?
        var trashName = ""
    }

    /// What the columns of a table are.
    struct Columns {
        /// By the order of the columns; nil for those that are left out.
        private(set) var roles: [Role?] = []
        /// Columns of a known program's table that this program does not know: what is in them is kept.
        private(set) var unknown: Set<Int> = []
        /// Columns without a role in a mapping, each as a note calls it.
        private(set) var unmapped: [String] = []
        /// Columns with a role, in the order in which an entry gets what is in them: what every entry has comes first,
        /// because of the rest there may be more than an entry has room for.
        private(set) var order: [Int] = []
        /// The first column of each role that names no field; a table of their hashes would take longer than these few.
        private var places: [(role: Role, column: Int)] = []
        /// As the table has them.
        let titles: [String]
        let program: Program?

        /// Roles that one column at most can have, because an item has one of each.
        private static let single: Set<Role> = [.title, .group, .created, .modified, .kind]

        /// Whether a table with these titles can be read.
        static func isKnown(_ titles: [String], _ mapping: [String: Role]) -> Bool {
            let names = titles.map { $0.lowercased() }
            guard mapping.isEmpty else { return mapping.keys.allSatisfy { names.contains($0.lowercased()) } }
            return Program.writing(names) != nil
        }

        /// What was seen between the columns, for the message about those that are not known.
        private static func seen(_ count: Int, _ separator: DelimitedText.Separator) -> String {
            guard count > 1 else { return ", and no comma, semicolon or tab is between columns" }
            return switch separator {
            case .comma: ""
            case .semicolon: ", with semicolons between them"
            case .tab: ", with tabs between them"
            }
        }

        init(
            _ titles: [String], _ mapping: [String: Role], _ separator: DelimitedText.Separator
        ) throws(ImportError) {
            self.titles = titles
            let names = titles.map { $0.lowercased() }
            guard mapping.isEmpty else {
                // What is said of a column of a known program goes before what is known.
                let known = Program.writing(names)
                // The first line of another table may be no titles: it may have somebody's password.
                let shown = titles.indices.map {
                    known == nil ? "column \($0 + 1)" : "the column \"\(titles[$0].prefix(64))\""
                }
                for name in mapping.keys.sorted() where !names.contains(name.lowercased()) {
                    let there =
                        known == nil
                        ? "their number is \(titles.count)\(Columns.seen(titles.count, separator))"
                        : "there are " + titles.prefix(32).map { String($0.prefix(64)) }.joined(separator: ", ")
                    throw ImportError(
                        .unknownColumns, "line 1", "there is no column \"\(name.prefix(64))\"; \(there)")
                }
                program = known
                roles = names.map { name in
                    mapping.first { $0.key.lowercased() == name }?.value ?? known?.columns[name]
                }
                unmapped = zip(shown, roles).filter { $1 == nil }.map(\.0)
                for role in Columns.single where roles.count(where: { $0 == role }) > 1 {
                    throw .malformed("line 1", "two columns have the role \"\(role)\"; an item has only one")
                }
                index()
                return
            }
            guard let program = Program.writing(names) else {
                throw ImportError(
                    .unknownColumns, "line 1",
                    "no program that is known writes a table with these columns"
                        + "\(Columns.seen(titles.count, separator)); known are \(Program.names)")
            }
            self.program = program
            var taken: Set<Role> = []
            for (name, title) in zip(names, titles) {
                if let role = program.columns[name], !Columns.single.contains(role) || taken.insert(role).inserted {
                    roles.append(role)
                } else {
                    unknown.insert(roles.count)
                    roles.append(.secret(title.isEmpty ? "field" : title))
                }
            }
            index()
        }

        /// Once for all rows.
        private mutating func index() {
            var last: [Int] = []
            for (column, role) in roles.enumerated() {
                guard let role else { continue }
                switch role {
                case .text, .secret, .date: break
                default: if place(role) == nil { places.append((role, column)) }
                }
                if role == .fields || unknown.contains(column) { last.append(column) } else { order.append(column) }
            }
            order += last
        }

        /// The first column of a role that names no field.
        func place(_ role: Role) -> Int? { places.first { $0.role == role }?.column }
        var title: Int? { place(.title) }
    }
}
