internal import CommandLineArguments
internal import Holdfast

extension Item {
    /// The field that a text on the command line names: by its label in any case, or by the beginning of one label alone.
    /// - Throws: `fieldNotFound`, which says what the item has.
    borrowing func named(_ text: String) throws(CommandError) -> Field {
        if let field = field(text) { return field }
        let folded = text.lowercased()
        let all = fields
        let found = all.filter { $0.label.lowercased().hasPrefix(folded) }
        if found.count == 1 { return found[0] }
        let labels = all.map { ShellWord.always($0.label) }.joined(separator: ", ")
        let near = Suggestion.nearest(to: folded, among: all.map { $0.label.lowercased() })
        let index = near.flatMap { near in all.firstIndex { $0.label.lowercased() == near } }
        throw CommandError(
            .notFound, code: .fieldNotFound, "no field '\(Escaping.name(text))' in this entry",
            advice: index.map { "did you mean \(ShellWord.always(all[$0].label))?" }
                ?? (labels.isEmpty ? "it has no fields" : "it has \(labels)"))
    }
}
