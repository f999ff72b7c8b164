internal import SecretMemory
internal import VaultFormat

extension OnePasswordImport {
    /// A field of a section: its value is an object whose one key says what it is.
    static func readField(
        _ field: JSONNode, _ document: borrowing JSONDocument, _ item: ImportedItem, _ files: inout Files
    ) throws(ImportError) {
        let title = try document.text(field["title"]) ?? ""
        let label = try title.isEmpty ? document.text(field["id"]) ?? "field" : title
        guard let (kind, value) = field["value"]?.members.first else { return }
        switch kind {
        case "concealed": if let text = try document.string(value) { try item.add(.secret, label, text) }
        case "string", "phone", "menu", "gender", "creditCardType":
            if let text = try document.string(value) { try item.add(.text, label, text) }
        case "creditCardNumber": if let text = try document.string(value) { try item.add(.secret, label, text) }
        case "url": if let text = try document.string(value) { try item.add(.url, label, text) }
        case "email":
            // A text before version 3 of the format.
            if let text = try document.string(value["email_address"] ?? value) { try item.add(.text, label, text) }
        case "totp":
            if let text = try document.string(value) { try item.addCode(label, text) }
        case "date":
            let day = document.integer(value).flatMap { Int64(exactly: $0) }.flatMap { seconds in
                seconds.multipliedReportingOverflow(by: 1000).overflow
                    ? nil : ForeignTime.day(milliseconds: seconds * 1000)
            }
            if let day { try item.add(.date, label, text: day) }
        case "monthYear":
            guard let number = document.integer(value), (100_001...999_912).contains(number),
                (1...12).contains(number % 100)
            else { return }
            try item.add(.date, label, text: "\(number / 100)-" + (number % 100 < 10 ? "0" : "") + "\(number % 100)")
        case "address":
            for (part, value) in value.members {
                if let text = try document.string(value) { try item.add(.text, "\(label) \(part)", text) }
            }
        case "sshKey":
            if let text = try document.string(value["privateKey"]) { try item.add(.secret, "private key", text) }
            if let text = try document.string(value["metadata"]?["publicKey"]) {
                try item.add(.text, "public key", text)
            }
        case "file": try files.add(value, document, label, item)
        case "reference": item.note(.leftOut, "a link to another entry")
        default: item.note(.leftOut, "a field of the kind \(kind.prefix(64))")
        }
    }

    /// The attachments of the archive: each goes into one item, so that a small file cannot become a large import.
    struct Files: ~Copyable {
        private let archive: ZipArchive
        private var used: Set<String> = []

        init(_ archive: consuming ZipArchive) { self.archive = archive }

        func content(_ path: String) throws(ImportError) -> SecretBytes? { try archive.content(path) }

        mutating func add(
            _ node: JSONNode, _ document: borrowing JSONDocument, _ label: String, _ item: ImportedItem
        ) throws(ImportError) {
            guard let name = try document.text(node["fileName"]), let id = try document.text(node["documentId"]) else {
                return item.note(.leftOut, "an attachment without a name")
            }
            let path = "files/\(id)__\(name)"
            guard let size = archive.entries[path]?.size, used.insert(path).inserted else {
                return item.note(.leftOut, "an attachment that is not in the archive, or is in another entry")
            }
            let tooLarge = "an attachment that is too large for an item"
            guard size <= ItemLimits.size else { return item.note(.leftOut, tooLarge) }
            guard case .some(let content) = try archive.content(path) else { return }
            do throws(ImportError) {
                try content.withBytes { content throws(ImportError) in
                    try item.addFile(label, name: name, content: content)
                }
            } catch {
                guard error.kind == .malformed else { throw error }
                item.note(.leftOut, tooLarge)
            }
        }
    }
}
