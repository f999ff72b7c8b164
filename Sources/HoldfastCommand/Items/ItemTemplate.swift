internal import Holdfast

/// What a new item of a kind is made of, and what is asked for.
struct ItemTemplate {
    /// A secret that is asked for.
    struct Asked {
        let label: String
        let kind: FieldKind
        let extent: Terminal.Extent
    }

    /// The word on the command line.
    let word: String
    let kind: ItemKind
    let asked: [Asked]

    static let login = ItemTemplate("login", .login, [.secret("password")])

    static let all: [ItemTemplate] = [
        login, ItemTemplate("note", .note, []),
        ItemTemplate("card", .card, [.secret("number"), .secret("security code"), .secret("PIN")]),
        ItemTemplate("identity", .identity, []),
        ItemTemplate("ssh-key", .sshKey, [.secret("passphrase"), Asked("private key", .secret, .lines)]),
        ItemTemplate("otp", .oneTimeCode, [Asked("code", .oneTimeCode, .line)]), ItemTemplate("file", .file, []),
    ]

    init(_ word: String, _ kind: ItemKind, _ asked: [Asked]) {
        self.word = word
        self.kind = kind
        self.asked = asked
    }

    static func named(_ word: String) -> ItemTemplate? { all.first { $0.word == word } }
}

extension ItemTemplate.Asked {
    init(_ label: String, _ kind: FieldKind, _ extent: Terminal.Extent) {
        self.label = label
        self.kind = kind
        self.extent = extent
    }

    static func secret(_ label: String) -> ItemTemplate.Asked { ItemTemplate.Asked(label, .secret, .line) }
}

extension ItemKind {
    /// What people call it; `value` for a plain one, and `item` for a kind of a newer program.
    var word: String {
        if self == .value { return "value" }
        return ItemTemplate.all.first { $0.kind == self }?.word ?? "item"
    }
}

extension FieldKind {
    static let words: [(FieldKind, String)] = [
        (.text, "text"), (.secret, "secret"), (.url, "url"), (.oneTimeCode, "otp"), (.date, "date"), (.file, "file"),
    ]

    /// The word for it; nil for a kind of a newer program.
    var word: String? { FieldKind.words.first { $0.0 == self }?.1 }
}
