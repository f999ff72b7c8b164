internal import VaultFormat

extension TableImport {
    /// A program that writes tables. It is known by some of its columns: the others come and go with its versions.
    struct Program: Sendable {
        let name: String
        /// Columns that its tables always have, in lower case.
        let required: Set<String>
        /// What its columns are, by their names in lower case.
        let columns: [String: Role]
        /// What is between the groups of a path.
        var separator: Character = "/"
        /// Whether every path begins with the name of the whole database.
        var hasRoot = false
        /// Whether what is in the trash is in the table, and in which group.
        var trash: String?
        /// What stands in place of an address where the entry is a note.
        var noteAddress: String?
        /// What it calls a row that is a folder and no entry.
        var folderKind: String?
        /// What its entries are, if no column says it.
        var kind: ItemKind = .login

        /// The program that writes a table with these columns: the one that is known by most of them.
        static func writing(_ titles: [String]) -> Program? {
            let titles = Set(titles)
            return all.filter { $0.required.isSubset(of: titles) }.max { $0.required.count < $1.required.count }
        }
    }
}

extension TableImport.Program {
    /// What the message about columns that are not known lists.
    static var names: String {
        var names: [String] = []
        for program in all where !names.contains(program.name) { names.append(program.name) }
        return names.joined(separator: ", ")
    }

    private static let all: [TableImport.Program] =
        [
            TableImport.Program(
                name: "Firefox", required: ["url", "username", "password", "httprealm"],
                columns: [
                    "url": .url, "username": .username, "password": .password, "httprealm": .text("realm"),
                    "formactionorigin": .nothing, "guid": .nothing, "timecreated": .created, "timelastused": .nothing,
                    "timepasswordchanged": .modified,
                ]),
            TableImport.Program(
                name: "Chrome", required: ["name", "url", "username", "password"],
                columns: ["name": .title, "url": .url, "username": .username, "password": .password, "note": .notes]),
            TableImport.Program(
                name: "Safari", required: ["title", "url", "username", "password", "notes", "otpauth"],
                columns: [
                    "title": .title, "url": .url, "username": .username, "password": .password, "notes": .notes,
                    "otpauth": .code,
                ]),
            TableImport.Program(
                name: "KeePassXC", required: ["group", "title", "username", "password", "url", "notes"],
                columns: [
                    "group": .group, "title": .title, "username": .username, "password": .password, "url": .url,
                    "notes": .notes, "totp": .code, "icon": .nothing, "last modified": .modified, "created": .created,
                ], hasRoot: true, trash: "Recycle Bin"),
            bitwarden, bitwardenOrganisation, lastPass, onePassword, protonPass, nordPass,
        ] + dashlane

    private static let bitwardenColumns: [String: TableImport.Role] = [
        "favorite": .favourite, "type": .kind, "name": .title, "notes": .notes, "fields": .fields,
        "reprompt": .reprompt, "archiveddate": .archived, "login_uri": .addresses, "login_username": .username,
        "login_password": .password, "login_totp": .code,
    ]
    private static let bitwarden = TableImport.Program(
        name: "Bitwarden", required: ["folder", "type", "name", "login_uri", "login_username", "login_password"],
        columns: bitwardenColumns.merging(["folder": .group]) { $1 })
    private static let bitwardenOrganisation = TableImport.Program(
        name: "Bitwarden", required: ["collections", "type", "name", "login_uri", "login_username", "login_password"],
        columns: bitwardenColumns.merging(["collections": .groups]) { $1 })

    private static let lastPass = TableImport.Program(
        name: "LastPass", required: ["url", "username", "password", "extra", "name", "grouping"],
        columns: [
            "url": .url, "username": .username, "password": .password, "totp": .code, "extra": .typedNotes,
            "name": .title, "grouping": .group, "fav": .favourite,
        ], separator: "\\", noteAddress: "http://sn")

    private static let onePassword = TableImport.Program(
        name: "1Password", required: ["title", "url", "username", "password", "otpauth", "favorite", "archived"],
        columns: [
            "title": .title, "url": .url, "username": .username, "password": .password, "otpauth": .code,
            "favorite": .favourite, "archived": .archived, "tags": .tags, "notes": .notes,
        ])

    private static let protonPass = TableImport.Program(
        name: "Proton Pass", required: ["type", "name", "url", "username", "password", "note", "totp", "vault"],
        columns: [
            "type": .kind, "name": .title, "url": .addresses, "email": .text("email"), "username": .username,
            "password": .password, "note": .notesOrContent, "totp": .code, "createtime": .created,
            "modifytime": .modified, "vault": .group,
        ])

    private static let nordPass = TableImport.Program(
        name: "NordPass",
        required: ["name", "url", "username", "password", "note", "cardholdername", "cardnumber", "folder"],
        columns: [
            "name": .title, "url": .url, "additional_urls": .addresses, "username": .username,
            "password": .password, "note": .notes, "cardholdername": .text("holder"), "cardnumber": .secret("number"),
            "cvc": .secret("security code"), "pin": .secret("PIN"), "expirydate": .text("expires"),
            "zipcode": .text("postal code"), "folder": .group, "full_name": .text("name"),
            "phone_number": .text("phone"), "email": .text("email"), "address1": .text("address 1"),
            "address2": .text("address 2"), "city": .text("city"), "country": .text("country"),
            "state": .text("state"), "type": .kind, "totp": .code,
        ], folderKind: "folder")

    /// A table for each kind of entry.
    private static let dashlane: [TableImport.Program] = [
        TableImport.Program(
            name: "Dashlane", required: ["username", "username2", "title", "password", "note", "url", "category"],
            columns: [
                "username": .username, "username2": .text("username 2"), "username3": .text("username 3"),
                "title": .title, "password": .password, "note": .notes, "url": .url, "category": .group,
                "otpsecret": .code, "otpurl": .code,
            ]),
        TableImport.Program(
            name: "Dashlane", required: ["account_name", "account_holder", "cc_number", "code", "account_number"],
            columns: [
                "type": .text("type"), "account_name": .title, "account_holder": .text("holder"), "name": .text("name"),
                "cc_number": .secret("number"), "code": .secret("security code"), "expiration_month": .expiryMonth,
                "expiration_year": .expiryYear, "routing_number": .text("routing number"),
                "account_number": .secret("account number"), "country": .text("country"),
                "issuing_bank": .text("bank"), "note": .notes,
            ], kind: .card),
        TableImport.Program(
            name: "Dashlane", required: ["type", "number", "name", "issue_date", "expiration_date", "place_of_issue"],
            columns: [
                "type": .text("type"), "number": .secret("number"), "name": .title, "issue_date": .date("issued"),
                "expiration_date": .date("expires"), "place_of_issue": .text("place of issue"),
                "state": .text("state"),
            ], kind: .identity),
        TableImport.Program(
            name: "Dashlane", required: ["type", "first_name", "last_name", "date_of_birth", "email", "item_name"],
            columns: [
                "type": .text("type"), "title": .text("title"), "first_name": .text("first name"),
                "middle_name": .text("middle name"), "last_name": .text("last name"), "login": .username,
                "date_of_birth": .date("born"), "place_of_birth": .text("place of birth"), "email": .text("email"),
                "email_type": .text("email type"), "item_name": .title, "phone_number": .text("phone"),
                "address": .text("address"), "country": .text("country"), "state": .text("state"),
                "city": .text("city"), "zip": .text("postal code"), "address_recipient": .text("recipient"),
                "address_building": .text("building"), "address_apartment": .text("apartment"),
                "address_floor": .text("floor"), "address_door_code": .secret("door code"),
                "job_title": .text("job title"), "url": .url,
            ], kind: .identity),
        TableImport.Program(
            name: "Dashlane", required: ["title", "note"],
            columns: ["title": .title, "note": .notes, "category": .group], kind: .note),
    ]

    /// What the column for the kind of an entry says, in lower case.
    static let kinds: [String: ItemKind] = [
        "login": .login, "password": .login, "alias": .login, "note": .note, "card": .card, "creditcard": .card,
        "credit_card": .card, "identity": .identity, "sshkey": .sshKey,
    ]
}
