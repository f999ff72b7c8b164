package import VaultFormat

/// Why bytes that another program sent are not what they should be.
package enum ProgramProtocolError: Error, Sendable, Hashable {
    /// There is more of it than allowed; the limit in bytes or pieces.
    case tooMuch(Limit, Int)
    /// A line is not `NAME=value`.
    case invalidLine(Int)
    /// A name that no variable has, in this line.
    case invalidName(Int)
    /// A quotation mark without its other half, or text behind it, in this line.
    case openQuote(Int)
    /// A reference that is wrong, in this line.
    case reference(Int, ReferenceError)
    /// An insertion that does not end in `}}`, in this line.
    case openInsertion(Int)
    /// A zero byte, or a line that is no UTF-8.
    case invalidText(Int)

    /// What there is too much of.
    package enum Limit: String, Sendable, Hashable {
        case bytes = "bytes"
        case lines = "lines"
        case references = "references"
    }

    /// What is wrong and what to write. Nothing of the text is in it.
    package var words: String {
        switch self {
        case .tooMuch(let limit, let most): "there are more than \(most) \(limit.rawValue)"
        case .invalidLine(let line): "line \(line) is not NAME=value"
        case .invalidName(let line):
            "line \(line): a name has letters, digits and underscores, and does not begin with a digit"
        case .openQuote(let line): "line \(line): a quotation mark is missing, or something stands behind it"
        case .reference(let line, let error): "line \(line): \(error.words)"
        case .openInsertion(let line): "line \(line): an insertion that begins with {{ holdfast:// does not end in }}"
        case .invalidText(let line): "line \(line) is not valid UTF-8, or has a zero byte"
        }
    }
}
