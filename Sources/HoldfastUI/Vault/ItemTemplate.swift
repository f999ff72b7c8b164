package import Holdfast

/// What a new item of a kind is made of. The labels are those of `holdfast add`, and every program finds fields by
/// them.
package struct ItemTemplate: Sendable, Hashable {
    /// A field that is asked for.
    package struct Field: Sendable, Hashable {
        /// What it is called where it is stored; a user interface translates it.
        package let label: String
        /// What it holds.
        package let kind: FieldKind
    }

    /// What it is.
    package let kind: ItemKind
    /// Fields of one line, in the order in which they are asked for.
    package let fields: [Field]
    /// The field of several lines; nil where these are the notes.
    package let lines: Field?

    /// Kinds that are made by filling a form, in the order in which they are offered.
    package static let all: [ItemTemplate] = [
        ItemTemplate(
            .login,
            [("username", .text), ("password", .secret), ("website", .url), ("code", .oneTimeCode)]),
        ItemTemplate(.note, []),
        ItemTemplate(
            .card,
            [
                ("holder", .text), ("number", .secret), ("expires", .date), ("security code", .secret),
                ("PIN", .secret),
            ]),
        ItemTemplate(
            .identity, [("name", .text), ("email", .text), ("phone", .text), ("address", .text), ("born", .date)]),
        ItemTemplate(
            .sshKey, [("passphrase", .secret), ("public key", .text)],
            lines: Field(label: "private key", kind: .secret)),
        ItemTemplate(.oneTimeCode, [("code", .oneTimeCode)]),
    ]

    private init(_ kind: ItemKind, _ fields: [(String, FieldKind)], lines: Field? = nil) {
        self.kind = kind
        self.fields = fields.map { Field(label: $0.0, kind: $0.1) }
        self.lines = lines
    }
}
