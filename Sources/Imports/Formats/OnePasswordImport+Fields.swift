internal import Items
internal import SecretMemory
internal import VaultFormat

extension OnePasswordImport {
    static func readSection(
        _ section: JSONNode, _ document: borrowing JSONDocument, _ item: ImportedItem, _ files: inout Files
    ) throws(ImportError) {
        let title = try document.text(section["title"]) ?? ""
        for field in section["fields"]?.elements ?? [] { try readField(field, document, title, item, &files) }
    }

    /// A field of a section: its value is an object whose one key says what it is.
    private static func readField(
        _ field: JSONNode, _ document: borrowing JSONDocument, _ section: String, _ item: ImportedItem,
        _ files: inout Files
    ) throws(ImportError) {
        let title = try document.text(field["title"]) ?? ""
        let own = try title.isEmpty ? document.text(field["id"]) ?? "field" : title
        let label = item.label(own, in: section)
        guard let (kind, value) = field["value"]?.members.first else { return }
        switch kind {
        case "string", "phone", "menu", "gender", "creditCardType":
            if let text = try document.string(value) { try item.add(.text, label, text) }
        case "concealed", "creditCardNumber":
            if let text = try document.string(value) { try item.add(.secret, label, text) }
        case "url": if let text = try document.string(value) { try item.add(.url, label, text) }
        case "email":
            // A text before version 3 of the format.
            if let text = try document.string(value["email_address"] ?? value) { try item.add(.text, label, text) }
        case "totp":
            if let text = try document.string(value) { try item.addCode(label, text) }
        case "date": try addNumber(value, document, label, item) { ForeignTime.day(milliseconds: $0) }
        case "monthYear":
            // A number such as 203112.
            try addNumber(value, document, label, item) { milliseconds in
                let (year, month) = (milliseconds / 1000 / 100, milliseconds / 1000 % 100)
                guard 1000...9999 ~= year, 1...12 ~= month else { return nil }
                return "\(year)-" + (month < 10 ? "0" : "") + "\(month)"
            }
        case "address":
            for (part, value) in value.members {
                if let text = try document.string(value) { try item.add(.text, "\(label) \(part)", text) }
            }
        case "sshKey":
            try item.addKey(
                document.string(value["privateKey"]), told: document.text(value["metadata"]?["publicKey"]))
        case "file": try files.add(value, document, label, item)
        case "reference" where !value.isEmpty:
            value.markRead()
            item.note(.leftOut, "a link to another entry")
        case "reference": break
        default:
            guard !value.isEmpty else { return }
            if let text = try document.string(value) {
                item.note(.changed, "a field of a kind that is not known, which is a secret now")
                return try item.add(.secret, label, text)
            }
            item.note(.leftOut, "a field of the kind \(kind.prefix(64))")
            value.markRead()
        }
    }

    /// A number as the date that it stands for; where it stands for no date, it stays a number.
    private static func addNumber(
        _ node: JSONNode, _ document: borrowing JSONDocument, _ label: String, _ item: ImportedItem,
        _ date: (Int64) -> String?
    ) throws(ImportError) {
        guard let number = document.integer(node) else { return }
        let (milliseconds, overflows) = Int64(number).multipliedReportingOverflow(by: 1000)
        if !overflows, let date = date(milliseconds) {
            try item.add(.date, label, text: date)
        } else {
            try item.add(.text, label, text: "\(number)")
        }
    }

    /// The attachments of the archive: each goes into one item, so that a small file cannot become a large import.
    struct Files: ~Copyable {
        private let archive: ZipArchive
        private var used: Set<String> = []
        private var ofTrash: Set<String> = []

        init(_ archive: consuming ZipArchive) { self.archive = archive }

        func content(_ path: String) throws(ImportError) -> SecretBytes? { try archive.content(path) }

        /// Files that were looked for by no entry.
        var unused: [String] {
            archive.entries.keys.filter { $0.hasPrefix("files/") }
                .filter { !used.contains($0) && !ofTrash.contains($0) }.sorted()
        }

        private static func path(
            _ node: JSONNode, _ document: borrowing JSONDocument
        ) throws(ImportError) -> (path: String, name: String)? {
            guard let name = try document.text(node["fileName"]), let id = try document.text(node["documentId"]) else {
                return nil
            }
            return ("files/\(id)__\(name)", name)
        }

        /// Remembers the attachments of an entry in the trash, which is noted as a whole.
        mutating func passOver(_ details: JSONNode?, _ document: borrowing JSONDocument) {
            var nodes = [details?["documentAttributes"]]
            for section in details?["sections"]?.elements ?? [] {
                nodes += (section["fields"]?.elements ?? []).map { $0["value"]?["file"] }
            }
            for node in nodes {
                if let node, let (path, _) = try? Files.path(node, document) { ofTrash.insert(path) }
            }
        }

        mutating func add(
            _ node: JSONNode, _ document: borrowing JSONDocument, _ label: String, _ item: ImportedItem
        ) throws(ImportError) {
            guard let (path, name) = try Files.path(node, document) else {
                return item.note(.leftOut, "an attachment without a name")
            }
            guard archive.entries[path] != nil, used.insert(path).inserted else {
                return item.note(.leftOut, "an attachment that is not in the archive, or is in another entry")
            }
            try item.addFile(label, name: name, at: path, in: archive)
        }
    }
}
