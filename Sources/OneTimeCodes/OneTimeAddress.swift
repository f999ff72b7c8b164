package import SecretMemory

/// Where the parts of an `otpauth://` text are.
struct OneTimeAddress {
    private enum Name: String, CaseIterable {
        case secret = "secret", issuer = "issuer", algorithm = "algorithm", digits = "digits", period = "period"
        case counter = "counter", encoder = "encoder"
    }

    private enum Kind: String, CaseIterable { case totp = "totp/", hotp = "hotp/", steam = "steam/" }

    private let kind: Kind
    private let label: Range<Int>
    private var values: [Name: Range<Int>] = [:]

    /// Parameters, at most: of those that mean something here there are seven.
    private static let mostParameters = 32

    init(_ text: RawSpan) throws(OneTimeCodeError) {
        guard let host = text.end(ofPrefix: "otpauth://") else { throw .invalid(.scheme) }
        let kind = Kind.allCases.first { text.end(ofPrefix: $0.rawValue, from: host) != nil }
        guard let kind else { throw .invalid(.kind) }
        self.kind = kind
        let start = host + kind.rawValue.utf8.count
        label = start..<(text.first("?", in: start..<text.byteCount) ?? text.byteCount)
        // A fragment is no part of such a text; what reads it otherwise would compute other codes.
        guard text.first("#", in: host..<text.byteCount) == nil else { throw .invalid(.parameters) }
        try addParameters(of: text)
    }

    private mutating func addParameters(of text: RawSpan) throws(OneTimeCodeError) {
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
        // Programs write settings that nobody chose as `digits=`.
        guard equals + 1 < parameter.upperBound else { return }
        let name = Name.allCases.first { text.isSame(parameter.lowerBound..<equals, as: $0.rawValue) }
        guard let name else { return }
        guard values.updateValue(equals + 1..<parameter.upperBound, forKey: name) == nil else {
            throw .invalid(.parameters)
        }
    }

    /// The key as it is written, percent signs decoded.
    func secret(of text: RawSpan) throws(OneTimeCodeError) -> SecretBytes {
        guard let range = values[.secret] else { throw .invalid(.secret) }
        return try PercentCoding.decode(text.extracting(range), or: .secret)
    }

    /// Issuer and account. The parameter's issuer goes before the label's, as Google's description has it.
    func names(of text: RawSpan) throws(OneTimeCodeError) -> (issuer: String, account: String) {
        let whole = try PercentCoding.text(text.extracting(label), or: .label)
        let issuer = try values[.issuer].map { (range) throws(OneTimeCodeError) in
            try PercentCoding.text(text.extracting(range), or: .label)
        }
        // An issuer may have a colon itself; the parameter says where it ends. Java programs write its spaces as `+`.
        for issuer in [issuer, issuer?.replacing("+", with: " ")].compactMap(\.self)
        where whole.utf8.starts(with: "\(issuer):".utf8) {
            return (issuer, String(whole.utf8.dropFirst(issuer.utf8.count + 1)) ?? "")
        }
        guard let colon = colon(in: text) else { return (issuer ?? "", whole) }
        let account = try PercentCoding.text(text.extracting(colon.upperBound..<label.upperBound), or: .label)
        if let issuer { return (issuer, account) }
        return (try PercentCoding.text(text.extracting(label.lowerBound..<colon.lowerBound), or: .label), account)
    }

    /// The colon between issuer and account. A literal one is preferred to `%3A`: a program that writes it encodes the
    /// colons of the names.
    private func colon(in text: RawSpan) -> Range<Int>? {
        if let place = text.first(":", in: label) { return place..<place + 1 }
        let label = text.extracting(0..<label.upperBound)
        let place = self.label.first { label.end(ofPrefix: "%3A", from: $0) != nil }
        return place.map { $0..<$0 + 3 }
    }

    func hash(of text: RawSpan) throws(OneTimeCodeError) -> OneTimeCode.Hash {
        guard let range = values[.algorithm] else { return .sha1 }
        let name = try PercentCoding.text(text.extracting(range), or: .algorithm)
        guard let hash = OneTimeCode.Hash(named: name) else { throw .invalid(.algorithm) }
        return hash
    }

    /// Steam codes have five characters, whether or not the text says so.
    func characters(of text: RawSpan) throws(OneTimeCodeError) -> OneTimeCode.Characters {
        let encoder = values[.encoder]
        if let encoder, !text.isSame(encoder, as: "steam") { throw .invalid(.encoder) }
        let count: Int? = try number(.digits, of: text)
        guard encoder != nil || kind == .steam else { return .digits(count ?? 6) }
        guard count ?? 5 == 5 else { throw .invalid(.digits) }
        return .steam
    }

    func moment(of text: RawSpan) throws(OneTimeCodeError) -> OneTimeCode.Moment {
        guard kind == .hotp else { return .time(period: try number(.period, of: text) ?? 30) }
        // Google's description demands a counter, and other authenticators begin with 0 without one.
        return .counter(try number(.counter, of: text) ?? 0)
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
        return number
    }
}

/// Percent-encoding (RFC 3986, section 2.1).
package enum PercentCoding {
    /// What a text stands for; a plus sign is one.
    /// - Throws: ``OneTimeCodeError/invalid(_:)`` with the part, ``OneTimeCodeError/memory(_:)``.
    package static func decode(
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

    /// What is no secret, as a text.
    /// - Throws: As ``decode(_:or:)``, also for what is not UTF-8.
    package static func text(_ text: RawSpan, or part: OneTimeCodeError.Part) throws(OneTimeCodeError) -> String {
        let bytes = try decode(text, or: part)
        let text = bytes.withBytes { bytes in
            unsafe bytes.withUnsafeBytes { unsafe String(validating: $0, as: UTF8.self) }
        }
        guard let text else { throw .invalid(part) }
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
