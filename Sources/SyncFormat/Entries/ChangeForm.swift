package import VaultFormat

/// How an item's state is in a change of an entry: what the change's first byte says.
package enum ChangeForm: UInt8, Sendable, CaseIterable {
    /// It follows.
    case state = 1
    /// A list of pieces follows, whose content it is (``PieceList``).
    case pieces = 2

    /// - Returns: The form, and the place of what follows in the change.
    /// - Throws: ``FormatError/wrongSize``, ``FormatError/invalid(field:)``.
    package static func parse(_ change: RawSpan) throws(FormatError) -> (form: ChangeForm, rest: Range<Int>) {
        guard let first = change.integer(at: 0, as: UInt8.self) else { throw .wrongSize }
        guard let form = ChangeForm(rawValue: first) else { throw .invalid(field: "change form") }
        let rest = 1..<change.byteCount
        guard !rest.isEmpty else { throw .wrongSize }
        if form == .pieces { _ = try PieceList(parsing: change.extracting(rest)) }
        return (form, rest)
    }
}
