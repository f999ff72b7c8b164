/// A JSON value that belongs to the application: the body of an access exchange, or the attributes of a token.
///
/// It has been checked (compact, UTF-8, no duplicate member, no lone surrogate, within our limits), and it keeps
/// the sender's bytes, since the signature covers them (protocol.md 3.4).
public struct ApplicationData: Sendable, Hashable {
    /// The JSON text, UTF-8.
    public let bytes: [UInt8]

    init(checked bytes: [UInt8]) { self.bytes = bytes }

    /// Takes a JSON text.
    /// - Throws: ``MessageError`` with the place `application data`.
    public init(json: RawSpan) throws(MessageError) {
        try self.init(json: json, limit: MessageLimits.applicationData)
    }

    /// Takes a JSON text that is no part of a message.
    /// - Parameter limit: Bytes that it may have.
    /// - Throws: ``MessageError`` with the place `application data`.
    package init(json: RawSpan, limit: Int) throws(MessageError) {
        var reader = try MessageReader(copying: json, limit: limit, "application data")
        // Objects of the message stand around it: the envelope, its payload.
        reader.depth = 2
        try reader.value("application data")
        try reader.expectEnd("application data")
        self.init(checked: reader.bytes)
    }

    /// Takes a JSON text.
    /// - Throws: ``MessageError`` with the place `application data`.
    public init(json: String) throws(MessageError) {
        let bytes = Array(json.utf8)
        try unsafe self.init(json: bytes.span.bytes)
    }

    /// The members of an object, each with the bytes that its sender wrote; nil for anything else.
    public func members() -> [String: ApplicationData]? {  // because: names that an app looks up, and its own
        var reader = MessageReader(bytes)
        reader.depth = 2
        guard reader.next == UInt8(ascii: "{"), let found = try? reader.members("application data", spaced: false)
        else { return nil }
        var members: [String: ApplicationData] = [:]  // because: as above
        for member in found {
            guard let name = try? reader.unescaped(member.name) else { return nil }
            members[String(decoding: name, as: UTF8.self)] = ApplicationData(checked: Array(bytes[member.value]))
        }
        return members
    }

    /// Lends the JSON text.
    package func withBytes<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
        try unsafe body(bytes.span.bytes)
    }
}

extension ApplicationData {
    /// What in a text stops some published peer from verifying its signature, because that peer writes the text anew
    /// before it checks (protocol.md 3.4).
    package struct Obstacles: OptionSet, Sendable, Hashable {
        /// One bit for each.
        package let rawValue: UInt8
        /// Takes bits.
        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Characters beyond ASCII: Python escapes them.
        package static let nonASCII = Obstacles(rawValue: 1)
        /// `<`, `>`, `&`, U+2028 and U+2029: Go escapes them.
        package static let escapedByGo = Obstacles(rawValue: 2)
        /// Escapes that need not be: every peer writes the plain character.
        package static let needlessEscapes = Obstacles(rawValue: 4)
        /// Numbers that are not integers below 2^53, which come out in another spelling.
        package static let numbers = Obstacles(rawValue: 8)
        /// A member `signature` that is not the first of its object: the Swift client takes it for the end of the
        /// payload.
        package static let signatureMember = Obstacles(rawValue: 16)
    }

    /// What stops some published peer from verifying this text.
    package var obstacles: Obstacles {
        var found: Obstacles = []
        var index = 0
        var isInString = false
        while index < bytes.count {
            let byte = bytes[index]
            if byte >= 0x80 { found.insert(.nonASCII) }
            if isInString {
                switch byte {
                case UInt8(ascii: "\\"):
                    if isNeedlessEscape(at: index) { found.insert(.needlessEscapes) }
                    index += 1
                case UInt8(ascii: "\""): isInString = false
                case UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "&"): found.insert(.escapedByGo)
                case 0xE2 where stands([0xE2, 0x80, 0xA8], at: index) || stands([0xE2, 0x80, 0xA9], at: index):
                    found.insert(.escapedByGo)
                default: break
                }
            } else if byte == UInt8(ascii: "\"") {
                isInString = true
            } else if byte == UInt8(ascii: "-") || byte &- UInt8(ascii: "0") < 10 {
                let start = index
                while index < bytes.count, isNumberPart(bytes[index]) { index += 1 }
                if !isPlainInteger(bytes[start..<index]) { found.insert(.numbers) }
                continue
            } else if byte == UInt8(ascii: ","), stands(Array(#","signature":"#.utf8), at: index) {
                found.insert(.signatureMember)
            }
            index += 1
        }
        return found
    }

    private func stands(_ text: [UInt8], at index: Int) -> Bool { bytes[index...].starts(with: text) }

    private func isNumberPart(_ byte: UInt8) -> Bool {
        byte &- UInt8(ascii: "0") < 10
            || [
                UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."), UInt8(ascii: "e"),
                UInt8(ascii: "E"),
            ].contains(byte)
    }

    private func isPlainInteger(_ number: ArraySlice<UInt8>) -> Bool {
        let text = String(decoding: number, as: UTF8.self)
        guard text != "-0", let value = Int64(text) else { return false }
        return value.magnitude < 1 << 53
    }

    /// Whether the escape is one that `JSON.stringify` does not write: `\/`, or `\u` for what has a shorter form.
    private func isNeedlessEscape(at index: Int) -> Bool {
        guard index + 1 < bytes.count, bytes[index + 1] == UInt8(ascii: "u") else {
            return stands(Array(#"\/"#.utf8), at: index)
        }
        let digits = bytes[(index + 2)...].prefix(4)
        let text = String(decoding: digits, as: UTF8.self)
        guard let unit = UInt32(text, radix: 16), unit < 0x20, ![8, 9, 10, 12, 13].contains(unit) else { return true }
        return digits.contains { (UInt8(ascii: "A")...UInt8(ascii: "F")).contains($0) }
    }
}
