internal import Holdfast

/// What a new item of a kind is made of, and what is asked for.
struct ItemTemplate {
    /// A secret that is asked for.
    struct Asked {
        let label: String
        let kind: FieldKind
        let extent: Terminal.Extent
    }

    let kind: ItemKind
    let asked: [Asked]

    /// The word on the command line.
    var word: String { kind.word }

    static let login = ItemTemplate(.login, [.secret("password")])

    static let all: [ItemTemplate] = [
        login, ItemTemplate(.note, []),
        ItemTemplate(.card, [.secret("number"), .secret("security code"), .secret("PIN")]),
        ItemTemplate(.identity, []),
        ItemTemplate(.sshKey, [.secret("passphrase"), Asked("private key", .secret, .lines)]),
        ItemTemplate(.oneTimeCode, [Asked("code", .oneTimeCode, .line)]), ItemTemplate(.file, []),
    ]

    init(_ kind: ItemKind, _ asked: [Asked]) {
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
