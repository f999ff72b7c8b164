/// What an item is: a login, a note, a card. Decides which fields a new one is offered with, never how its bytes are
/// read.
///
/// A kind that a newer program wrote is kept, and shown as an item with fields.
public struct ItemKind: RawRepresentable, Sendable, Hashable {
    /// Its number in the format; zero is no kind.
    public let rawValue: UInt8

    /// A kind by its number, which this program need not know.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// A user name, a password and the addresses they are for.
    public static let login = ItemKind(rawValue: 1)
    /// A text.
    public static let note = ItemKind(rawValue: 2)
    /// A payment card.
    package static let card = ItemKind(rawValue: 3)
    /// Name, addresses and papers of a person.
    public static let identity = ItemKind(rawValue: 4)
    /// A key pair for SSH.
    package static let sshKey = ItemKind(rawValue: 5)
    /// One-time codes alone.
    package static let oneTimeCode = ItemKind(rawValue: 6)
    /// A file with what belongs to it.
    public static let file = ItemKind(rawValue: 7)
    /// A plain value that was given tags, notes or fields.
    package static let value = ItemKind(rawValue: 8)
}

/// What a field holds, and so how it is shown.
///
/// A kind that a newer program wrote is kept, and shown as a secret.
public struct FieldKind: RawRepresentable, Sendable, Hashable {
    /// Its number in the format; zero is no kind.
    public let rawValue: UInt8

    /// A kind by its number, which this program need not know.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// UTF-8 that is shown and searched.
    public static let text = FieldKind(rawValue: 1)
    /// Bytes that are shown only when they are asked for, and never searched.
    public static let secret = FieldKind(rawValue: 2)
    /// An address in UTF-8; shown and searched.
    public static let url = FieldKind(rawValue: 3)
    /// A one-time code's key and settings as an `otpauth://` text; treated as a secret.
    package static let oneTimeCode = FieldKind(rawValue: 4)
    /// A day or a month: `2031-12-24` or `2031-12`.
    package static let date = FieldKind(rawValue: 5)
    /// A file's name and content; the content is treated as a secret.
    public static let file = FieldKind(rawValue: 6)

    /// Whether the value may be shown without being asked for, and searched.
    package var isOpen: Bool { [.text, .url, .date].contains(self) }
}
