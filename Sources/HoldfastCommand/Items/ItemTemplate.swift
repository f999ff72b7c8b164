internal import Holdfast

/// What a new item of a kind is made of, and what is asked for.
struct ItemTemplate {
    /// A field that is asked for.
    struct Asked {
        let label: String
        let kind: FieldKind
        let extent: Terminal.Extent
    }

    let kind: ItemKind
    /// In the order of the questions. What is no secret is only asked for where the command line says nothing of what
    /// is in the entry.
    let asked: [Asked]

    /// The word on the command line.
    var word: String { kind.word }

    static let login = ItemTemplate(.login, [.text("username"), Asked("website", .url, .line), .secret("password")])

    // The labels are those that an import and the desktop app give.
    static let all: [ItemTemplate] = [
        login, ItemTemplate(.note, []),
        ItemTemplate(
            .card,
            [.text("holder"), .secret("number"), .date("expires"), .secret("security code"), .secret("PIN")]),
        ItemTemplate(.identity, [.text("name"), .text("email"), .text("phone"), .text("address"), .date("born")]),
        ItemTemplate(.sshKey, [.secret("passphrase"), Asked("private key", .secret, .lines)]),
        ItemTemplate(.oneTimeCode, [Asked("code", .oneTimeCode, .line)]), ItemTemplate(.file, []),
    ]

    init(_ kind: ItemKind, _ asked: [Asked]) {
        self.kind = kind
        self.asked = asked
    }

    /// All of them, as `--kind` takes them.
    static var words: [String] { all.map(\.word) }

    static func named(_ word: String) -> ItemTemplate? { all.first { $0.word == word } }
}

extension ItemTemplate.Asked {
    init(_ label: String, _ kind: FieldKind, _ extent: Terminal.Extent) {
        self.label = label
        self.kind = kind
        self.extent = extent
    }

    static func text(_ label: String) -> ItemTemplate.Asked { ItemTemplate.Asked(label, .text, .line) }

    static func date(_ label: String) -> ItemTemplate.Asked { ItemTemplate.Asked(label, .date, .line) }

    static func secret(_ label: String) -> ItemTemplate.Asked { ItemTemplate.Asked(label, .secret, .line) }
}
