// Texts of any length: what stands behind the signature in an access token.
extension Base64URL {
    /// The bytes of a text; nil for a foreign character, padding, an impossible length or bits set behind the end.
    static func decode(_ text: RawSpan) -> [UInt8]? {
        let count = text.byteCount
        let rest = count % 4
        guard rest != 1 else { return nil }
        let size = count / 4 * 3 + (rest == 0 ? 0 : rest - 1)
        let blocks = (count + 15) / 16
        // Filled up with the character of six zero bits, so that stray bits show up behind the end.
        var buffer = [UInt8](repeating: UInt8(ascii: "A"), count: 16 * blocks)
        let isValid = unsafe buffer.withUnsafeMutableBytes { target in
            unsafe text.withUnsafeBytes { unsafe target.copyMemory(from: $0) }
            guard let base = target.baseAddress else { return true }
            return unsafe decode(blocks: blocks, in: base)
        }
        guard isValid, rest == 0 || buffer[size] == 0 else { return nil }
        buffer.removeLast(buffer.count - size)
        return buffer
    }

    /// The text of some bytes.
    static func encode(_ bytes: RawSpan) -> [UInt8] {
        let count = bytes.byteCount
        let blocks = (count + 11) / 12
        guard blocks > 0 else { return [] }
        var source = [UInt8](repeating: 0, count: 12 * blocks + 1)
        unsafe source.withUnsafeMutableBytes { target in
            unsafe bytes.withUnsafeBytes { unsafe target.copyMemory(from: $0) }
        }
        var text = [UInt8](repeating: 0, count: 16 * blocks)
        unsafe text.withUnsafeMutableBytes { target in
            unsafe source.withUnsafeBytes { source in
                guard let from = source.baseAddress, let to = target.baseAddress else { return }
                unsafe encode(blocks: blocks, from, into: to)
            }
        }
        text.removeLast(text.count - (count * 4 + 2) / 3)
        return text
    }

    /// Whether a text is one that ``decode(_:)-swift.type.method`` takes, without decoding it.
    static func isValid(_ text: RawSpan) -> Bool { decode(text) != nil }
}
