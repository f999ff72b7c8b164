extension [UInt8] {
    /// Lends the bytes as a parser takes them.
    package func lend<R, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R { try unsafe body(span.bytes) }

    package var text: String { String(decoding: self, as: UTF8.self) }
}

/// Lower-case digits, two a byte.
package func hexadecimal(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef")
    return String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
}

/// Bytes written as hexadecimal digits; spaces are ignored. Test data only: anything else stops the test.
package func hexBytes(_ text: String) -> [UInt8] {
    let digits = text.filter { !$0.isWhitespace }.map { digit -> UInt8 in
        guard digit.isASCII, let value = digit.hexDigitValue else { preconditionFailure("not hexadecimal: \(text)") }
        return UInt8(value)
    }
    precondition(digits.count.isMultiple(of: 2), "odd number of digits: \(text)")
    return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}

/// Repeatable bytes. Megabytes of them in a debug build, hence the plain loop.
package func pattern(_ count: Int, seed: UInt8 = 7) -> [UInt8] {
    guard count > 0 else { return [] }
    return unsafe [UInt8](unsafeUninitializedCapacity: count) { bytes, filled in
        var state = UInt32(seed) &+ 1
        while filled < count {
            state = state &* 1_664_525 &+ 1_013_904_223
            unsafe bytes[filled] = UInt8(truncatingIfNeeded: state >> 24)
            filled += 1
        }
    }
}
