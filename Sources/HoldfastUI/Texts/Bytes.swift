internal import SecretMemory

extension RawSpan {
    /// The byte at a place inside the span.
    func byte(at offset: Int) -> UInt8 { unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self) }

    /// Whether these bytes are UTF-8 without control characters other than tab and line feed: fit to be shown.
    var isReadableText: Bool {
        for offset in 0..<byteCount {
            let byte = byte(at: offset)
            if byte < 0x20, byte != 0x09, byte != 0x0A { return false }
            if byte == 0x7F { return false }
        }
        return unsafe withUnsafeBytes { bytes in
            // Validated where it lies: a decoder that makes no string.
            var decoder = Unicode.UTF8.ForwardParser()
            var iterator = unsafe bytes.makeIterator()
            while true {
                switch unsafe decoder.parseScalar(from: &iterator) {
                case .valid: continue
                case .emptyInput: return true
                case .error: return false
                }
            }
        }
    }

    /// How many lines the text has.
    var lineCount: Int {
        var lines = 1
        for offset in 0..<byteCount where byte(at: offset) == 0x0A { lines += 1 }
        return lines
    }
}
