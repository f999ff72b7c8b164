package import VaultFormat

// What commands and exports call the kinds. The words stay: files have them.
extension ItemKind {
    private static let words: [(kind: ItemKind, word: String)] = [
        (.login, "login"), (.note, "note"), (.card, "card"), (.identity, "identity"), (.sshKey, "ssh-key"),
        (.oneTimeCode, "otp"), (.file, "file"), (.value, "value"),
    ]

    /// What people call it; `value` for a plain one, and `item` for a kind of a newer program.
    package var word: String { ItemKind.words.first { $0.kind == self }?.word ?? "item" }

    /// Nil for a word that names no kind.
    package init?(word: String) {
        guard let kind = ItemKind.words.first(where: { $0.word == word })?.kind else { return nil }
        self = kind
    }
}

extension FieldKind {
    /// The kinds that have a word.
    package static let words: [(FieldKind, String)] = [
        (.text, "text"), (.secret, "secret"), (.url, "url"), (.oneTimeCode, "otp"), (.date, "date"), (.file, "file"),
    ]

    /// The word for it; nil for a kind of a newer program.
    package var word: String? { FieldKind.words.first { $0.0 == self }?.1 }

    /// Nil for a word that names no kind.
    package init?(word: String) {
        guard let kind = FieldKind.words.first(where: { $0.1 == word })?.0 else { return nil }
        self = kind
    }
}
