internal import VaultFormat

extension BitwardenImport {
    /// The groups of members that the kinds of entries have, but for logins and SSH keys: each with the label and the
    /// kind that it gets.
    static let groups: [(String, [(String, String, FieldKind)])] = [
        (
            "card",
            [
                ("cardholderName", "holder", .text), ("brand", "brand", .text), ("number", "number", .secret),
                ("code", "security code", .secret),
            ]
        ),
        (
            "identity",
            [
                ("title", "title", .text), ("firstName", "first name", .text), ("middleName", "middle name", .text),
                ("lastName", "last name", .text), ("company", "company", .text), ("email", "email", .text),
                ("phone", "phone", .text), ("username", "username", .text), ("address1", "address 1", .text),
                ("address2", "address 2", .text), ("address3", "address 3", .text), ("city", "city", .text),
                ("state", "state", .text), ("postalCode", "postal code", .text), ("country", "country", .text),
                ("ssn", "social security number", .secret), ("passportNumber", "passport number", .secret),
                ("licenseNumber", "license number", .secret),
            ]
        ),
        (
            "bankAccount",
            [
                ("bankName", "bank", .text), ("nameOnAccount", "holder", .text), ("accountType", "type", .text),
                ("accountNumber", "account number", .secret), ("routingNumber", "routing number", .text),
                ("branchNumber", "branch number", .text), ("pin", "PIN", .secret), ("swiftCode", "SWIFT code", .text),
                ("iban", "IBAN", .secret), ("bankContactPhone", "phone", .text),
            ]
        ),
        (
            "driversLicense",
            [
                ("firstName", "first name", .text), ("middleName", "middle name", .text),
                ("lastName", "last name", .text), ("dateOfBirth", "born", .date),
                ("licenseNumber", "license number", .secret), ("issuingCountry", "country", .text),
                ("issuingState", "state", .text), ("issueDate", "issued", .date), ("expirationDate", "expires", .date),
                ("issuingAuthority", "authority", .text), ("licenseClass", "class", .text),
            ]
        ),
        (
            "passport",
            [
                ("surname", "last name", .text), ("givenName", "first name", .text), ("dateOfBirth", "born", .date),
                ("sex", "sex", .text), ("birthPlace", "place of birth", .text), ("nationality", "nationality", .text),
                ("passportNumber", "passport number", .secret), ("passportType", "type", .text),
                ("nationalIdentificationNumber", "national identification number", .secret),
                ("issuingCountry", "country", .text), ("issuingAuthority", "authority", .text),
                ("issueDate", "issued", .date), ("expirationDate", "expires", .date),
            ]
        ),
    ]

    /// Names of folders and collections, by the numbers that entries give for them.
    struct Folders {
        /// A name, or its front: nothing is needed behind what an item can be called.
        private struct Name {
            let text: String
            let isCut: Bool

            init(_ name: String) {
                isCut = name.utf8.count > Folders.longestName
                // A character has four bytes at most: one of four ends is between two.
                text =
                    isCut
                    ? (0..<4).lazy.compactMap { String(name.utf8.prefix(Folders.longestName - $0)) }.first ?? "" : name
            }
        }

        /// What is said of an entry.
        struct Place {
            /// The path of the first folder or collection that it names.
            var path: [String] = []
            /// What the others are called.
            var others: [String] = []
            /// Whether the file has no name for one.
            var isMissing = false
            /// Whether a name is longer than an item can be called.
            var isCut = false
            /// Whether there are more others than ``mostOthers``.
            var hasMore = false
        }

        /// Bytes of a name, at most.
        static let longestName = 1000
        /// Folders and collections of an entry, at most, beside the first.
        static let mostOthers = 64

        private var names: [String: Name] = [:]
        private var ids: [String] = []
        private var used: Set<String> = []

        init(_ document: borrowing JSONDocument) throws(ImportError) {
            for list in ["folders", "collections"] {
                for folder in document.root[list]?.elements ?? [] {
                    guard let id = try document.text(folder["id"]), let name = try document.text(folder["name"])
                    else { continue }
                    if names.updateValue(Name(name), forKey: id) == nil { ids.append(id) }
                }
            }
        }

        /// Of folders that no entry is in.
        var unused: [String] { ids.filter { !used.contains($0) }.compactMap { names[$0]?.text } }

        /// Where an entry is; its folders are used then.
        mutating func place(of node: JSONNode, _ document: borrowing JSONDocument) throws(ImportError) -> Place {
            let wanted = try Folders.wanted(node, document)
            used.formUnion(wanted)
            let found = wanted.compactMap { names[$0] }
            let kept = found.prefix(Folders.mostOthers + 1)
            return Place(
                path: kept.first?.text.pieces { $0 == "/" } ?? [], others: kept.dropFirst().map(\.text),
                isMissing: found.count < wanted.count, isCut: kept.contains { $0.isCut },
                hasMore: kept.count < found.count)
        }

        /// Takes the folders of an entry for used.
        mutating func use(_ node: JSONNode, _ document: borrowing JSONDocument) {
            used.formUnion((try? Folders.wanted(node, document)) ?? [])
        }

        /// The numbers that an entry gives, each once.
        private static func wanted(
            _ node: JSONNode, _ document: borrowing JSONDocument
        ) throws(ImportError) -> [String] {
            var wanted: [String] = []
            var known: Set<String> = []
            if let folder = try document.text(node["folderId"]), !folder.isEmpty {
                known.insert(folder)
                wanted.append(folder)
            }
            for id in node["collectionIds"]?.elements ?? [] {
                if let id = try document.text(id), known.insert(id).inserted { wanted.append(id) }
            }
            return wanted
        }
    }

    /// The attachments of the archive: each is `attachments/`, the number of its entry, and its name.
    struct Files {
        private var files: [String: [(name: String, path: String)]] = [:]

        /// None.
        init() {}

        init(_ archive: borrowing ZipArchive) {
            for path in archive.entries.keys.sorted() where path != BitwardenImport.data {
                let parts = path.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
                let isAttached = parts.count == 3 && parts[0] == "attachments"
                files[isAttached ? parts[1] : "", default: []].append((parts[parts.count - 1], path))
            }
        }

        /// Those of an entry, which no other one gets.
        mutating func take(of id: String) -> [(name: String, path: String)] {
            id.isEmpty ? [] : files.removeValue(forKey: id) ?? []
        }

        /// Paths of those that no entry has.
        var left: [String] { files.values.flatMap { $0.map(\.path) }.sorted() }
    }
}
