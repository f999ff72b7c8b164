package import SecretMemory
internal import VaultFormat

/// Tables of comma-separated values: those of Firefox, Chrome, KeePassXC and Bitwarden, known by their first row, and
/// any other with a mapping of columns.
package enum TableImport {
    /// What a column is.
    package enum Role: Sendable, Hashable {
        case title, group, username, password, url, notes, code, created, modified, favourite, tags
        /// What Bitwarden calls an item: `login` or `note`.
        case kind
        /// `1` where Bitwarden asks for its password once more.
        case reprompt
        /// A field of this label.
        case text(String)
        case secret(String)
        /// Left out on purpose.
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

    /// The columns of programs that are known, in lower case.
    private static let known: [[String: Role]] = [
        // Firefox
        [
            "url": .url, "username": .username, "password": .password, "httprealm": .text("realm"),
            "formactionorigin": .nothing,
            "guid": .nothing, "timecreated": .created, "timelastused": .nothing, "timepasswordchanged": .modified,
        ],
        // Chrome and what is made from it
        ["name": .title, "url": .url, "username": .username, "password": .password, "note": .notes],
        // KeePassXC
        [
            "group": .group, "title": .title, "username": .username, "password": .password, "url": .url,
            "notes": .notes,
            "totp": .code, "icon": .nothing, "last modified": .modified, "created": .created,
        ],
        // Bitwarden
        [
            "folder": .group, "favorite": .favourite, "type": .kind, "name": .title, "notes": .notes,
            "fields": .notes,
            "reprompt": .reprompt, "login_uri": .url, "login_username": .username, "login_password": .password,
            "login_totp": .code,
        ],
    ]

    /// - Throws: ``ImportError``.
    package static func read(
        _ bytes: consuming SecretBytes, _ options: ImportOptions = ImportOptions()
    ) throws(ImportError) -> Imported {
        let table = try DelimitedText(bytes)
        var titles: [String] = []
        for cell in table.rows[0] { titles.append(try table.text(cell).lowercased()) }
        let roles = try roles(titles, options.columns)
        var result = Imported(options)
        for (title, role) in zip(titles, roles) where role == nil {
            result.note(.leftOut, "the column \"\(title.prefix(64))\"", place: "line 1")
        }
        let places = Places(roles)
        for index in table.rows.indices.dropFirst() {
            do throws(ImportError) { try read(table, index, roles, places, into: &result) } catch {
                try result.leaveOut(error, place: "line \(table.lines[index])")
            }
        }
        return result
    }

    /// Columns that are looked up for each row.
    private struct Places {
        let title, group, username, url, created, modified, kind: Int?

        init(_ roles: [Role?]) {
            func place(_ role: Role) -> Int? { roles.firstIndex(of: role) }
            (title, group, username, url) = (place(.title), place(.group), place(.username), place(.url))
            (created, modified, kind) = (place(.created), place(.modified), place(.kind))
        }
    }

    /// Roles that one column at most can have, because an item has one of each.
    private static let single: Set<Role> = [.title, .group, .created, .modified, .kind]

    private static func roles(_ titles: [String], _ columns: [String: Role]) throws(ImportError) -> [Role?] {
        guard columns.isEmpty else {
            for name in columns.keys where !titles.contains(name.lowercased()) {
                throw .malformed("line 1", "there is no column \"\(name.prefix(64))\"")
            }
            let roles = titles.map { title in columns.first { $0.key.lowercased() == title }?.value }
            for role in single where roles.count(where: { $0 == role }) > 1 {
                throw .malformed("line 1", "two columns have the role \"\(role)\"; an item has only one")
            }
            return roles
        }
        let fitting = known.filter { program in
            titles.allSatisfy { program[$0] != nil } && titles.contains { program[$0] == .password }
        }
        guard let program = fitting.first else {
            throw ImportError(
                .unknownColumns, "line 1", "no program that is known writes a table with these columns")
        }
        return titles.map { program[$0] }
    }

    private static func read(
        _ table: borrowing DelimitedText, _ index: Int, _ roles: [Role?], _ places: Places, into result: inout Imported
    ) throws(ImportError) {
        let place = "line \(table.lines[index])"
        let row = table.rows[index]
        func text(_ column: Int?) throws(ImportError) -> String? {
            guard let column else { return nil }
            let text = try table.text(row[column])
            return text.isEmpty ? nil : text
        }
        var path = (try text(places.group) ?? "").split(separator: "/").map(String.init)
        // KeePassXC begins every path with the name of the root group.
        if path.first == "Root" || path.first == "Passwords" { path.removeFirst() }
        let address = try text(places.url)
        let (named, user) = (try text(places.title), try text(places.username))
        let title = named ?? address.map(host) ?? user ?? "unnamed"
        let kind: ItemKind = try text(places.kind) == "note" ? .note : .login
        let item = try ImportedItem(kind, path: path + [title], place: place, created: time(try text(places.created)))
        for (column, role) in roles.enumerated() {
            guard let role else { continue }
            let cell = row[column]
            guard !cell.range.isEmpty else { continue }
            func add(_ kind: FieldKind, _ label: String) throws(ImportError) {
                try table.withValue(cell) { value throws(ImportError) in try item.add(kind, label, bytes: value) }
            }
            switch role {
            case .username: try add(.text, "username")
            case .password: try add(.secret, "password")
            case .url: try add(.url, "website")
            case .notes: try item.addNotes(try table.value(cell))
            case .code:
                try item.addCode("code", try table.value(cell))
            case .text(let label): try add(.text, label)
            case .secret(let label): try add(.secret, label)
            case .reprompt: if try table.text(cell) == "1" { item.askEachTime() }
            case .favourite: if try table.text(cell) == "1" { item.favour() }
            case .tags:
                for tag in try table.text(cell).split(whereSeparator: { ",;".contains($0) }) {
                    item.addTag(String(tag))
                }
            case .title, .group, .created, .modified, .kind, .nothing: break
            }
        }
        item.finish(modified: time(try text(places.modified)))
        try result.append(item)
    }

    /// Milliseconds since 1970, or a time as KeePassXC writes it.
    private static func time(_ text: String?) -> Int64? {
        guard let text else { return nil }
        if let number = Int64(text), number > 0 { return number }
        return ForeignTime.milliseconds(text)
    }

    /// The host of an address, for a login without a title.
    private static func host(_ address: String) -> String {
        let rest = address.range(of: "://").map { address[$0.upperBound...] } ?? address[...]
        let host = rest.prefix { !"/?#:".contains($0) }
        return host.isEmpty ? address : String(host)
    }
}

extension String {
    /// Where a text is first.
    fileprivate func range(of text: String) -> Range<Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(text) { return start..<index(start, offsetBy: text.count) }
            start = index(after: start)
        }
        return nil
    }
}
