internal import SecretMemory

/// Where the parts of an `otpauth://` text are.
struct OneTimeAddress {
    private enum Name: String, CaseIterable {
        case secret = "secret", issuer = "issuer", algorithm = "algorithm", digits = "digits", period = "period"
        case counter = "counter"
    }

    private let isCounter: Bool
    private let label: Range<Int>
    private var values: [Name: Range<Int>] = [:]

    /// Parameters, at most: of those that mean something here there are six.
    private static let mostParameters = 32

    init(_ text: RawSpan) throws(OneTimeCodeError) {
        guard let kind = text.end(ofPrefix: "otpauth://") else { throw .invalid(.scheme) }
        if let label = text.end(ofPrefix: "totp/", from: kind) {
            isCounter = false
            self.label = label..<(text.first("?", in: label..<text.byteCount) ?? text.byteCount)
        } else if let label = text.end(ofPrefix: "hotp/", from: kind) {
            isCounter = true
            self.label = label..<(text.first("?", in: label..<text.byteCount) ?? text.byteCount)
        } else {
            throw .invalid(.kind)
        }
        // A fragment is no part of such a text; what reads it otherwise would compute other codes.
        guard text.first("#", in: kind..<text.byteCount) == nil else { throw .invalid(.parameters) }
        var start = label.upperBound + 1
        var count = 0
        while start < text.byteCount {
            let end = text.first("&", in: start..<text.byteCount) ?? text.byteCount
            try add(start..<end, of: text)
            start = end + 1
            count += 1
            guard count <= OneTimeAddress.mostParameters else { throw .invalid(.parameters) }
        }
    }

    private mutating func add(_ parameter: Range<Int>, of text: RawSpan) throws(OneTimeCodeError) {
        guard !parameter.isEmpty else { return }
        guard let equals = text.first("=", in: parameter) else { throw .invalid(.parameters) }
        // KeePassXC writes codes of other alphabets so; digits would be wrong.
        guard !text.isSame(parameter.lowerBound..<equals, as: "encoder") else { throw .invalid(.parameters) }
        let name = Name.allCases.first { text.isSame(parameter.lowerBound..<equals, as: $0.rawValue) }
        guard let name else { return }
        guard values.updateValue(equals + 1..<parameter.upperBound, forKey: name) == nil else {
            throw .invalid(.parameters)
        }
    }

    /// The key as it is written, percent signs decoded.
    func secret(of text: RawSpan) throws(OneTimeCodeError) -> SecretBytes {
        guard let range = values[.secret], !range.isEmpty else { throw .invalid(.secret) }
        return try PercentCoding.decode(text.extracting(range), or: .secret)
    }

    /// Issuer and account. The parameter's issuer goes before the label's, as Google's description has it.
    func names(of text: RawSpan) throws(OneTimeCodeError) -> (issuer: String, account: String) {
        let label = try PercentCoding.text(text.extracting(label), or: .label)
        let issuer = try values[.issuer].map { (range) throws(OneTimeCodeError) in
            try PercentCoding.text(text.extracting(range), or: .label)
        }
        guard let colon = label.firstIndex(of: ":") else { return (issuer ?? "", label) }
        let account = label[label.index(after: colon)...].drop { $0 == " " }
        return (issuer ?? String(label[..<colon]), String(account))
    }

    func hash(of text: RawSpan) throws(OneTimeCodeError) -> OneTimeCode.Hash {
        guard let range = values[.algorithm] else { return .sha1 }
        for hash in OneTimeCode.Hash.allCases where text.isSame(range, as: hash.rawValue) { return hash }
        throw .invalid(.algorithm)
    }

    func moment(of text: RawSpan) throws(OneTimeCodeError) -> OneTimeCode.Moment {
        guard isCounter else { return .time(period: try number(.period, of: text) ?? 30) }
        guard let counter: UInt64 = try number(.counter, of: text) else { throw .invalid(.counter) }
        return .counter(counter)
    }

    /// A decimal number; nil when it is not there.
    func number<T: FixedWidthInteger>(_ part: OneTimeCodeError.Part, of text: RawSpan) throws(OneTimeCodeError) -> T? {
        guard let name = Name(rawValue: part.rawValue), let range = values[name] else { return nil }
        var number: T = 0
        for offset in range {
            let byte = unsafe text.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { throw .invalid(part) }
            let (product, isLarge) = number.multipliedReportingOverflow(by: 10)
            let (sum, isTooLarge) = product.addingReportingOverflow(T(byte - UInt8(ascii: "0")))
            guard !isLarge, !isTooLarge else { throw .invalid(part) }
            number = sum
        }
        guard !range.isEmpty else { throw .invalid(part) }
        return number
    }
}

/// Percent-encoding (RFC 3986, section 2.1).
enum PercentCoding {
    static func decode(
        _ text: RawSpan, or part: OneTimeCodeError.Part
    ) throws(OneTimeCodeError) -> SecretBytes {
        var output = try memory { () throws(SecretMemoryError) in try SecretBytes(zeroed: text.byteCount) }
        let size: Int = try output.withMutableBytes { output throws(OneTimeCodeError) in
            var (offset, end) = (0, 0)
            while offset < text.byteCount {
                var byte = unsafe text.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
                offset += 1
                if byte == UInt8(ascii: "%") {
                    guard offset + 2 <= text.byteCount, let high = digit(text, offset),
                        let low = digit(text, offset + 1)
                    else { throw .invalid(part) }
                    byte = high << 4 | low
                    offset += 2
                }
                output.storeBytes(of: byte, toByteOffset: end, as: UInt8.self)
                end += 1
            }
            return end
        }
        return try memory { () throws(SecretMemoryError) in try output.copy(0..<size) }
    }

    private static func digit(_ text: RawSpan, _ offset: Int) -> UInt8? {
        switch unsafe text.unsafeLoad(fromByteOffset: offset, as: UInt8.self) {
        case let byte where (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte): byte - UInt8(ascii: "0")
        case let byte where (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20):
            (byte | 0x20) - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    /// What is no secret, as a text: UTF-8 without control characters.
    static func text(_ text: RawSpan, or part: OneTimeCodeError.Part) throws(OneTimeCodeError) -> String {
        let bytes = try decode(text, or: part)
        let text = bytes.withBytes { bytes in
            unsafe bytes.withUnsafeBytes { unsafe String(validating: $0, as: UTF8.self) }
        }
        guard let text, !text.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) else {
            throw .invalid(part)
        }
        return text
    }

    static func encode(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var output: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."),
                UInt8(ascii: "~"), UInt8(ascii: "@"):
                output.append(byte)
            default: output += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: output, as: UTF8.self)
    }
}

extension RawSpan {
    /// The offset behind an ASCII text in any case; nil where the bytes do not continue with it.
    func end(ofPrefix text: String, from offset: Int = 0) -> Int? {
        let end = offset + text.utf8.count
        return end <= byteCount && isSame(offset..<end, as: text) ? end : nil
    }

    /// Whether a part is an ASCII text in any case.
    func isSame(_ range: Range<Int>, as text: String) -> Bool {
        guard range.count == text.utf8.count else { return false }
        for (offset, byte) in zip(range, text.utf8) {
            let own = unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self)
            if OneTimeAddress.lower(own) != OneTimeAddress.lower(byte) { return false }
        }
        return true
    }

    /// Where a character is first.
    func first(_ character: Unicode.Scalar, in range: Range<Int>) -> Int? {
        range.first { unsafe unsafeLoad(fromByteOffset: $0, as: UInt8.self) == UInt8(ascii: character) }
    }
}

extension OneTimeAddress {
    fileprivate static func lower(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}
