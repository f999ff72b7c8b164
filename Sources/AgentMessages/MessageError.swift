/// Why bytes from the other side of the socket are no message. The connection ends then: nothing behind them has a meaning.
package enum MessageError: Error, Sendable, Hashable {
    /// The other side speaks a version that this one does not know.
    case otherVersion(UInt8)
    /// The length is more than a message of this kind may have.
    case tooLong(Int)
    /// No message has this number.
    case unknownKind(UInt8)
    /// The message ends before its fields do.
    case truncated
    /// There are bytes behind the last field.
    case trailingBytes
    /// A field holds what it may not.
    case invalid(field: StaticString)

    /// Compares what is wrong, not where the text of a field lies.
    package static func == (left: MessageError, right: MessageError) -> Bool { left.words == right.words }

    package func hash(into hasher: inout Hasher) { hasher.combine(words) }

    /// For people; nothing of the message is in it.
    package var words: String {
        switch self {
        case .otherVersion(let version): "the message has version \(version), not \(Frame.version)"
        case .tooLong(let count): "a message of \(count) bytes is too long"
        case .unknownKind(let kind): "there is no message \(kind)"
        case .truncated: "the message ends early"
        case .trailingBytes: "there are bytes behind the message"
        case .invalid(let field): "the message's \(field) is not valid"
        }
    }
}
