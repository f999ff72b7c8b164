/// A positional argument.
package struct Place: Sendable, Hashable {
    /// Its word in help.
    package let name: String
    package let kind: ValueKind
    package let help: String
    /// Whether it takes all remaining arguments, possibly none.
    package let isRest: Bool
    /// Whether it can be omitted.
    package let isOptional: Bool

    package init(name: String, kind: ValueKind, help: String, isRest: Bool = false, isOptional: Bool = false) {
        self.name = name
        self.kind = kind
        self.help = help
        self.isRest = isRest
        self.isOptional = isOptional
    }

    /// Whether a word that stands where a command's own word belongs is probably meant for this place: a name, a file or a setting.
    func isLike(_ word: String) -> Bool {
        switch kind {
        case .item, .plainValue, .file: true
        case .text, .inFolder: name == "NAME"
        case .setting(let keys): keys.contains(where: word.hasPrefix)
        default: false
        }
    }
}
