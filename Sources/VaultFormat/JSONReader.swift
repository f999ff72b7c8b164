/// Reads one JSON text: nothing before or after it but white space, no key twice, no more than ``maximumDepth`` levels.
package struct JSONReader {
    /// Why bytes are not a JSON text that we take.
    package struct Failure: Error, Sendable, Hashable {
        /// The byte's offset.
        package let offset: Int
        /// Set when the text is well-formed but for a key that stands twice in one object.
        package var doubledKey: String?
    }

    package static let maximumSize = 65_536
    package static let maximumDepth = 16

    private let bytes: [UInt8]
    private var position = 0
    private var depth = 0

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    package static func parse(_ bytes: [UInt8]) throws(Failure) -> JSONValue {
        guard bytes.count <= maximumSize else { throw Failure(offset: maximumSize) }
        var reader = JSONReader(bytes)
        let value = try reader.value()
        reader.skipSpace()
        guard reader.position == bytes.count else { throw Failure(offset: reader.position) }
        return value
    }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }
    private var failure: Failure { Failure(offset: position) }

    private mutating func skipSpace() {
        while let byte = next, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { position += 1 }
    }

    private mutating func consume(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        position += 1
        return true
    }

    private mutating func value() throws(Failure) -> JSONValue {
        skipSpace()
        switch next {
        case UInt8(ascii: "{"): return try object()
        case UInt8(ascii: "["): return try list()
        case UInt8(ascii: "\""): return .text(try text())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return try number()
        }
    }

    private mutating func word(_ word: StaticString, _ value: JSONValue) throws(Failure) -> JSONValue {
        for byte in word.description.utf8 { guard consume(byte) else { throw failure } }
        return value
    }

    private mutating func object() throws(Failure) -> JSONValue {
        try enter()
        var members: [JSONValue.Member] = []
        var keys: Set<[UInt8]> = []
        skipSpace()
        while !consume(UInt8(ascii: "}")) {
            if !members.isEmpty {
                guard consume(UInt8(ascii: ",")) else { throw failure }
                skipSpace()
            }
            let start = position
            let key = try text()
            guard keys.insert(Array(key.utf8)).inserted else { throw Failure(offset: start, doubledKey: key) }
            skipSpace()
            guard consume(UInt8(ascii: ":")) else { throw failure }
            members.append(JSONValue.Member(key, try value()))
            skipSpace()
        }
        depth -= 1
        return .object(members)
    }

    private mutating func list() throws(Failure) -> JSONValue {
        try enter()
        var values: [JSONValue] = []
        skipSpace()
        while !consume(UInt8(ascii: "]")) {
            if !values.isEmpty { guard consume(UInt8(ascii: ",")) else { throw failure } }
            values.append(try value())
            skipSpace()
        }
        depth -= 1
        return .list(values)
    }

    private mutating func enter() throws(Failure) {
        position += 1
        depth += 1
        guard depth <= JSONReader.maximumDepth else { throw failure }
    }

    private mutating func number() throws(Failure) -> JSONValue {
        let start = position
        _ = consume(UInt8(ascii: "-"))
        let leadingZero = next == UInt8(ascii: "0")
        guard let count = digits(), !leadingZero || count == 1 else { throw failure }
        var isWhole = true
        if consume(UInt8(ascii: ".")) {
            isWhole = false
            guard digits() != nil else { throw failure }
        }
        if consume(UInt8(ascii: "e")) || consume(UInt8(ascii: "E")) {
            isWhole = false
            if !consume(UInt8(ascii: "+")) { _ = consume(UInt8(ascii: "-")) }
            guard digits() != nil else { throw failure }
        }
        guard isWhole, let integer = Int(String(decoding: bytes[start..<position], as: UTF8.self)) else {
            return .otherNumber
        }
        return .integer(integer)
    }

    /// - Returns: How many; nil for none.
    private mutating func digits() -> Int? {
        let start = position
        while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
        return position > start ? position - start : nil
    }
}

extension JSONReader {
    private mutating func text() throws(Failure) -> String {
        let start = position
        guard consume(UInt8(ascii: "\"")) else { throw failure }
        var content: [UInt8] = []
        while !consume(UInt8(ascii: "\"")) {
            guard let byte = next, byte >= 0x20 else { throw failure }
            position += 1
            if byte == UInt8(ascii: "\\") { content += try escaped() } else { content.append(byte) }
        }
        guard let text = String(validating: content, as: UTF8.self) else { throw Failure(offset: start) }
        return text
    }

    private mutating func escaped() throws(Failure) -> [UInt8] {
        guard let byte = next else { throw failure }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0C]
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "r"): return [0x0D]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "u"): return try unicode()
        default: throw failure
        }
    }

    /// `\u` and four digits, twice for what lies beyond the basic plane.
    private mutating func unicode() throws(Failure) -> [UInt8] {
        var value = try fourDigits()
        if (0xD800...0xDBFF).contains(value) {
            guard consume(UInt8(ascii: "\\")), consume(UInt8(ascii: "u")) else { throw failure }
            let low = try fourDigits()
            guard (0xDC00...0xDFFF).contains(low) else { throw failure }
            value = 0x10000 + (value - 0xD800) << 10 + (low - 0xDC00)
        }
        guard let scalar = Unicode.Scalar(value) else { throw failure }
        return Array(String(scalar).utf8)
    }

    private mutating func fourDigits() throws(Failure) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = next, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { throw failure }
            value = value << 4 | UInt32(digit)
            position += 1
        }
        return value
    }
}
