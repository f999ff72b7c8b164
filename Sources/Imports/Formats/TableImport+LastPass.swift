internal import SecretMemory
internal import VaultFormat

/// A note of LastPass that has a type: lines `Name:Value`, of which the first is `NoteType`. What is behind `Notes:` is
/// the text of the note. A line without a name belongs to the value before it, and so does all of a key in PEM.
struct LastPassNote {
    private let type: String
    private var fields: [(name: String, value: Range<Int>)] = []
    private var notes: Range<Int>?

    /// Of more lines with names than any type has, a note is a text like any other.
    private static let mostFields = 128
    private static let longestName = 64

    var kind: ItemKind {
        switch type {
        case "Credit Card": .card
        case "SSH Key": .sshKey
        case "Address": .identity
        default: .note
        }
    }

    /// Nil for a note without a type.
    init?(_ text: RawSpan) {
        guard text.begins(with: "NoteType:") else { return nil }
        var start = 0
        var isInKey = false
        while start < text.byteCount {
            var end = start
            while end < text.byteCount, text[end] != 10 { end += 1 }
            let line = text.extracting(start..<end)
            if !isInKey, let colon = LastPassNote.colon(line) {
                let name = line.openText(0..<colon)
                guard name != "Notes" else {
                    notes = start + colon + 1..<text.byteCount
                    break
                }
                guard fields.count < LastPassNote.mostFields else { return nil }
                fields.append((name, start + colon + 1..<end))
                isInKey = line.extracting(colon + 1..<line.byteCount).begins(with: "-----BEGIN ")
            } else {
                guard !fields.isEmpty else { return nil }
                fields[fields.count - 1].value = fields[fields.count - 1].value.lowerBound..<end
                if line.begins(with: "-----END ") { isInKey = false }
            }
            start = end + 1
        }
        for index in fields.indices {
            var value = fields[index].value
            while let last = value.last, [9, 10, 13, 32].contains(text[last]) { value.removeLast() }
            fields[index].value = value
        }
        let first = fields.removeFirst().value
        guard first.count <= LastPassNote.longestName else { return nil }
        type = text.openText(first)
    }

    /// Where the name of a line ends; nil without one. The scheme of an address is none.
    private static func colon(_ line: RawSpan) -> Int? {
        let ends = 0..<min(line.byteCount, longestName + 1)
        guard let colon = ends.first(where: { line[$0] == UInt8(ascii: ":") }), colon > 0, line[0] != 32 else {
            return nil
        }
        return line.extracting(colon + 1..<line.byteCount).begins(with: "//") ? nil : colon
    }

    /// Adds its fields and its text to an entry.
    /// - Parameter text: What it was made of.
    func add(_ text: RawSpan, to item: ImportedItem) throws(ImportError) {
        if kind == .note { try item.add(.text, "type", text: type) }
        var (key, told) = (Range<Int>?.none, Range<Int>?.none)
        for (name, value) in fields {
            // A date that nobody entered is a comma.
            guard value.contains(where: { text[$0] != UInt8(ascii: ",") }) else { continue }
            let bytes = text.extracting(value)
            switch (kind, name) {
            case (_, "Language"): break
            case (.sshKey, "Private Key") where key == nil: key = value
            case (.sshKey, "Public Key") where told == nil: told = value
            default:
                if let label = LastPassNote.dates[name.lowercased()] {
                    try LastPassNote.addDate(label, bytes, to: item)
                } else if ["url", "website"].contains(name.lowercased()) {
                    try item.add(.url, "website", bytes: bytes)
                } else if let label = LastPassNote.open[name.lowercased()] {
                    try item.add(.text, label, bytes: bytes)
                } else {
                    try item.add(.secret, LastPassNote.secret[name] ?? name, bytes: bytes)
                }
            }
        }
        if key != nil || told != nil {
            try item.addKey(
                key.map { range throws(ImportError) in try copy(text, range) },
                told: told.map { text.openText($0) })
        }
        if let notes { try item.addNotes(copy(text, notes)) }
    }

    private func copy(_ text: RawSpan, _ range: Range<Int>) throws(ImportError) -> SecretBytes {
        try memory { () throws(SecretMemoryError) in try SecretBytes(copying: text.extracting(range)) }
    }

    /// `March,2031` or `March,24,2031` as a date, and anything else as it is.
    private static func addDate(_ label: String, _ value: RawSpan, to item: ImportedItem) throws(ImportError) {
        if value.byteCount <= 32, let date = date(value.openText(0..<value.byteCount)) {
            try item.add(.date, label, text: date)
        } else {
            try item.add(ItemValue.isValid(value, .date) ? .date : .text, label, bytes: value)
        }
    }

    private static let months = [
        "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
        "december",
    ]

    private static func date(_ text: String) -> String? {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard 2...3 ~= parts.count, let month = months.firstIndex(of: parts[0].lowercased()),
            let year = Int(parts[parts.count - 1]), 1000...9999 ~= year
        else { return nil }
        func digits(_ number: Int) -> String { (number < 10 ? "0" : "") + "\(number)" }
        var date = "\(year)-\(digits(month + 1))"
        if parts.count == 3 {
            guard let day = Int(parts[1]), 1...31 ~= day else { return nil }
            date += "-\(digits(day))"
        }
        let bytes = Array(date.utf8)
        return unsafe ItemValue.isValid(bytes.span.bytes, .date) ? date : nil
    }

    /// Labels of values that are dates, by the names in lower case.
    private static let dates = [
        "expiration date": "expires", "expiration": "expires", "start date": "start date", "birthday": "born",
        "date of birth": "born", "issued date": "issued", "purchase date": "purchased", "date": "date",
    ]

    /// Labels of other values that are open, by the names in lower case. What is in none of these tables is a secret.
    private static let open: [String: String] = {
        let renamed = [
            "name on card": "holder", "bank name": "bank", "swift code": "SWIFT code", "city / town": "city",
            "zip / postal code": "postal code", "email address": "email", "ssid": "SSID", "smtp server": "SMTP server",
            "smtp port": "SMTP port",
        ]
        let same = [
            "type", "username", "name", "title", "first name", "middle name", "last name", "gender", "sex", "company",
            "address", "address 1", "address 2", "address 3", "city", "county", "state", "country", "timezone", "email",
            "phone", "evening phone", "mobile phone", "fax", "account type", "routing number", "branch address",
            "branch phone", "hostname", "server", "port", "database", "format", "bit strength", "public key",
            "nationality", "issuing authority", "license class", "policy type", "agent name", "agent phone",
            "organization", "version", "publisher", "support email", "connection type", "authentication", "encryption",
        ]
        return renamed.merging(same.map { ($0, $0) }) { old, _ in old }
    }()

    /// Labels of secrets that have another name here.
    private static let secret = [
        "Number": "number", "Security Code": "security code", "Account Number": "account number",
        "IBAN Number": "IBAN", "Pin": "PIN", "Passphrase": "passphrase", "Password": "password",
        "Private Key": "private key",
    ]
}
