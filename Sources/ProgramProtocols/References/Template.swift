package import VaultFormat

/// Where the insertions of a template are. The text stays with the caller.
///
/// An insertion is `{{`, blanks or none, a reference, blanks or none, and `}}`, all in one line. `{{` before anything
/// else is text like any other, so that templates of other programs go through.
package struct Template: Sendable, Hashable {
    /// A part of the text.
    package enum Part: Sendable, Hashable {
        case text(Range<Int>)
        /// The value of the reference with this number stands here.
        case insertion(Int)
    }

    /// Bytes of a template, at most.
    package static let longest = 1 << 20
    /// Different references in a template, at most.
    package static let mostReferences = 256
    /// Bytes of what it becomes, at most.
    package static let longestResult = 16 << 20

    /// From the beginning to the end.
    package private(set) var parts: [Part] = []
    /// Each once, in the order in which they first come.
    package private(set) var references: [SecretReference] = []

    /// - Throws: ``ProgramProtocolError``.
    package init(parsing bytes: RawSpan) throws(ProgramProtocolError) {
        guard bytes.byteCount <= Template.longest else { throw .tooMuch(.bytes, Template.longest) }
        var numbers: [SecretReference: Int] = [:]
        var (offset, start, line) = (0, 0, 1)
        while let byte = bytes.integer(at: offset, as: UInt8.self) {
            if byte == UInt8(ascii: "\n") { line += 1 }
            guard byte == UInt8(ascii: "{"), let reference = Template.opening(bytes, at: offset) else {
                offset += 1
                continue
            }
            let (range, end) = try Template.insertion(bytes, from: reference, line)
            let parsed: SecretReference
            do throws(ReferenceError) { parsed = try SecretReference(parsing: bytes.extracting(range)) } catch {
                throw .reference(line, error)
            }
            if numbers[parsed] == nil {
                guard references.count < Template.mostReferences else {
                    throw .tooMuch(.references, Template.mostReferences)
                }
                numbers[parsed] = references.count
                references.append(parsed)
            }
            if start < offset { parts.append(.text(start..<offset)) }
            parts.append(.insertion(numbers[parsed] ?? 0))
            offset = end
            start = end
        }
        if start < offset { parts.append(.text(start..<offset)) }
    }

    /// Where the reference of an insertion begins; nil where none does.
    private static func opening(_ bytes: RawSpan, at offset: Int) -> Int? {
        guard bytes.integer(at: offset + 1, as: UInt8.self) == UInt8(ascii: "{") else { return nil }
        let start = afterBlanks(bytes, offset + 2)
        return SecretReference.begins(bytes.extracting(start..<bytes.byteCount)) ? start : nil
    }

    /// The reference, and where the text continues.
    private static func insertion(
        _ bytes: RawSpan, from start: Int, _ line: Int
    ) throws(ProgramProtocolError) -> (Range<Int>, Int) {
        var end = start
        while let byte = bytes.integer(at: end, as: UInt8.self), byte > 0x20, byte != UInt8(ascii: "}"),
            end - start <= SecretReference.longest
        { end += 1 }
        let close = afterBlanks(bytes, end)
        guard bytes.integer(at: close, as: UInt16.self) == 0x7D7D else { throw .openInsertion(line) }
        return (start..<end, close + 2)
    }

    private static func afterBlanks(_ bytes: RawSpan, _ start: Int) -> Int {
        var offset = start
        while let byte = bytes.integer(at: offset, as: UInt8.self), byte == 0x20 || byte == 0x09,
            offset - start < 256
        { offset += 1 }
        return offset
    }
}
