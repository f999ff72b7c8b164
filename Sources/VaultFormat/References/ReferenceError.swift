/// Why a text is no reference to a value.
package enum ReferenceError: Error, Sendable, Hashable {
    /// It does not begin with `holdfast://`.
    case otherScheme
    /// It is longer than any reference.
    case tooLong
    /// Nothing stands where a part belongs.
    case missing(Part)
    /// There is a slash more than a reference has.
    case tooManyParts
    /// A part is longer than a record has it.
    case partTooLong(Part)
    /// A part is not UTF-8, or has a zero byte.
    case invalidText(Part)
    /// A `%` without two hexadecimal digits.
    case invalidEscape
    /// A character that has to be escaped.
    case invalidCharacter
    /// Something else than `attribute=otp` behind a question mark.
    case unknownAttribute

    /// A part of a reference.
    package enum Part: String, Sendable, Hashable {
        case collection = "collection"
        case item = "item"
        case field = "field"

        /// Bytes that it has at most.
        package var longest: Int {
            switch self {
            case .collection: RecordName.maximumCollectionSize
            case .item: RecordName.maximumNameSize
            case .field: ItemLimits.label
            }
        }
    }

    /// What is wrong and what to write. Nothing of the text is in it.
    package var words: String {
        switch self {
        case .otherScheme: "a reference begins with \(SecretReference.scheme)"
        case .tooLong: "a reference has at most \(SecretReference.longest) bytes"
        case .missing(let part):
            "the \(part.rawValue) is missing; a reference looks like holdfast://collection/item/field"
        case .tooManyParts:
            "a reference has at most a collection, an item and a field; write a slash inside of a name as %2F"
        case .partTooLong(let part): "the \(part.rawValue) has more than \(part.longest) bytes"
        case .invalidText(let part): "the \(part.rawValue) is not valid UTF-8, or has a zero byte"
        case .invalidEscape: "a percent sign needs two hexadecimal digits behind it; write the sign itself as %25"
        case .invalidCharacter:
            "it has a space or another character that must be escaped; write a space as %20 and a quotation mark as %22"
        case .unknownAttribute: "behind a question mark stands attribute=otp; write a question mark in a name as %3F"
        }
    }
}
