/// Why bytes are not a valid part of a vault. Names the place, never the contents.
package enum FormatError: Error, Sendable, Hashable {
    /// Not the kind of file that was expected: the magic bytes differ.
    case wrongMagic
    /// Written by a newer Holdfast, which must be used to open it.
    case newerVersion(UInt32)
    /// Written by a build from before the first release, whose layout was another one.
    case unreleased
    /// The checksum does not match: the bytes were changed or only partly written.
    case checksumMismatch
    /// Shorter or longer than it must be.
    case wrongSize
    /// A field holds what no writer writes; the text names the field.
    case invalid(field: StaticField)
    /// Costs below the compiled-in floor, or above the ceiling; refused before any work is done.
    case derivationCostOutOfRange
    /// More slots, keys or settings than the fixed-size header holds.
    case headerFull
}

/// The name of a field in a format; a fixed set, so that no content can slip into an error.
package struct StaticField: Sendable, Hashable, CustomStringConvertible, ExpressibleByStringLiteral {
    package let description: String
    package init(stringLiteral value: StaticString) { description = value.description }
}
