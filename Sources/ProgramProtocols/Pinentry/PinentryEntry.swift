/// The answer to GETPIN, which has a secret in it: the bytes stay where they were read to, and this only says where in
/// them it is.
package enum PinentryEntry: Sendable, Hashable {
    /// The program has not said all of it.
    case wait
    /// The secret, escaped, in these pieces; none for an empty one.
    case entered([Range<Int>])
    case ended(PinentryDialog.Outcome)

    /// Bytes of a whole answer, at most.
    package static let longest = 8192

    /// Looks at all that the program wrote since it was asked.
    package init(_ bytes: RawSpan) {
        var (pieces, start, position): ([Range<Int>], Int, Int) = ([], 0, 0)
        while position < bytes.byteCount {
            defer { position += 1 }
            guard bytes[position] == UInt8(ascii: "\n") else { continue }
            var line = start..<position
            start = position + 1
            if !line.isEmpty, bytes[line.upperBound - 1] == UInt8(ascii: "\r") { line.removeLast() }
            guard line.count < PinentryDialog.longestLine else { break }
            if bytes.begins("D ", line) {
                pieces.append((line.lowerBound + 2)..<line.upperBound)
            } else if bytes.begins("OK", line) {
                // What it says behind the end answers nothing.
                self = start == bytes.byteCount ? .entered(pieces) : .ended(.hostile)
                return
            } else if bytes.begins("ERR ", line) {
                self = .ended(PinentryDialog.outcome(line.dropFirst(4).prefix(10).map { bytes[$0] }))
                return
            } else if !bytes.begins("#", line), !bytes.begins("S ", line) {
                self = .ended(.hostile)
                return
            }
        }
        self = position < bytes.byteCount || bytes.byteCount >= PinentryEntry.longest ? .ended(.hostile) : .wait
    }

    /// The bytes of a piece without escapes.
    /// - Returns: False where an escape is none; the bytes before it were given.
    package static func decode(
        _ bytes: RawSpan, _ piece: Range<Int>, _ take: (UInt8) -> Bool
    ) -> Bool {
        var rest = piece
        while let index = rest.popFirst() {
            guard bytes[index] == UInt8(ascii: "%") else {
                guard take(bytes[index]) else { return false }
                continue
            }
            guard let high = rest.popFirst().flatMap({ digit(bytes[$0]) }),
                let low = rest.popFirst().flatMap({ digit(bytes[$0]) }), take(high << 4 | low)
            else { return false }
        }
        return true
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}

extension RawSpan {
    fileprivate subscript(offset: Int) -> UInt8 {
        precondition(offset >= 0 && offset < byteCount, "offset outside of a span")
        return unsafe unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)
    }

    fileprivate func begins(_ text: StaticString, _ line: Range<Int>) -> Bool {
        guard line.count >= text.utf8CodeUnitCount else { return false }
        return (0..<text.utf8CodeUnitCount).allSatisfy { unsafe self[line.lowerBound + $0] == text.utf8Start[$0] }
    }
}

extension Range<Int> {
    fileprivate mutating func popFirst() -> Int? {
        guard !isEmpty else { return nil }
        defer { self = (lowerBound + 1)..<upperBound }
        return lowerBound
    }

    fileprivate mutating func removeLast() { self = lowerBound..<(upperBound - 1) }
}
