/// What stands in braces in a value and means something else, as KeePass and KeePassXC write it. Looked at where it
/// lies: a password may have braces.
enum KeePassPlaceholder {
    /// A value that every entry has, by the letter that references name it with.
    enum Field: UInt8, CaseIterable {
        case title = 0x54, user = 0x55, password = 0x50, address = 0x41, notes = 0x4E, number = 0x49, other = 0x4F
    }

    /// A part of an entry's address.
    enum AddressPart: CaseIterable {
        case withoutScheme, scheme, host, port, path, query, fragment, userInfo, user, password

        /// Whether a password or a token may be in it, in an address that has one.
        var mayHaveSecret: Bool { ![.scheme, .host, .port].contains(self) }
    }

    /// The same entry's value.
    case own(Field)
    /// The value of a string of the same entry, whose name stands here.
    case string(Range<Int>)
    case part(AddressPart)
    /// A value of the entry that has this text in one of its fields.
    case reference(Field, by: Field, Range<Int>)
    /// What is another text each time, or that of a reference in a form that nobody writes.
    case unknown

    private static let words: [(StaticString, KeePassPlaceholder)] = [
        ("TITLE", .own(.title)), ("USERNAME", .own(.user)), ("PASSWORD", .own(.password)), ("URL", .own(.address)),
        ("NOTES", .own(.notes)), ("URL:RMVSCM", .part(.withoutScheme)), ("URL:WITHOUTSCHEME", .part(.withoutScheme)),
        ("URL:SCM", .part(.scheme)), ("URL:SCHEME", .part(.scheme)), ("URL:HOST", .part(.host)),
        ("URL:PORT", .part(.port)), ("URL:PATH", .part(.path)), ("URL:QUERY", .part(.query)),
        ("URL:FRAGMENT", .part(.fragment)), ("URL:USERINFO", .part(.userInfo)), ("URL:USERNAME", .part(.user)),
        ("URL:PASSWORD", .part(.password)), ("TOTP", .unknown), ("TIMEOTP", .unknown), ("HMACOTP", .unknown),
        ("NEWPASSWORD", .unknown),
    ]
    /// What other texts begin with that are another one each time.
    private static let beginnings: [StaticString] = ["DT_", "CMD:", "T-CONV:", "T-REPLACE-RX:", "PICKCHARS"]

    /// What begins at an opening brace.
    /// - Returns: It, and where it ends; nil for text.
    static func at(_ start: Int, in text: RawSpan) -> (KeePassPlaceholder, end: Int)? {
        // No other brace is within it, so that many of them are not looked through again and again.
        var end = start + 1
        while end < text.byteCount, text[end] != UInt8(ascii: "}"), text[end] != UInt8(ascii: "{") { end += 1 }
        guard end < text.byteCount, text[end] == UInt8(ascii: "}") else { return nil }
        let inside = start + 1..<end
        if text.begins("REF:", inside) {
            return (reference(inside, in: text) ?? .unknown, end + 1)
        }
        if text.begins("S:", inside) { return (.string(inside.lowerBound + 2..<end), end + 1) }
        for (word, meaning) in words where inside.count == word.utf8CodeUnitCount && text.begins(word, inside) {
            return (meaning, end + 1)
        }
        for word in beginnings where text.begins(word, inside) { return (.unknown, end + 1) }
        return nil
    }

    /// `REF:P@I:` and a number or text.
    private static func reference(_ inside: Range<Int>, in text: RawSpan) -> KeePassPlaceholder? {
        let start = inside.lowerBound + 4
        guard start + 4 < inside.upperBound, text[start + 1] == UInt8(ascii: "@"), text[start + 3] == UInt8(ascii: ":"),
            let wanted = Field(rawValue: text[start] & 0xDF), wanted != .other,
            let field = Field(rawValue: text[start + 2] & 0xDF)
        else { return nil }
        return .reference(wanted, by: field, start + 4..<inside.upperBound)
    }

    /// Whether a text has one.
    static func isThere(in text: RawSpan) -> Bool {
        (0..<text.byteCount).contains { text[$0] == UInt8(ascii: "{") && at($0, in: text) != nil }
    }

    /// The part of an address; nil where the address has none.
    static func part(_ part: AddressPart, of address: RawSpan) -> Range<Int>? {
        let count = address.byteCount
        func first(_ bytes: [UInt8], _ range: Range<Int>) -> Int? { range.first { bytes.contains(address[$0]) } }
        guard let colon = first([0x3A, 0x2F, 0x3F, 0x23], 0..<count), address[colon] == 0x3A else { return nil }
        let isHierarchical = colon + 2 < count && address[colon + 1] == 0x2F && address[colon + 2] == 0x2F
        let front = isHierarchical ? colon + 3 : colon + 1
        let authority = front..<(isHierarchical ? first([0x2F, 0x3F, 0x23], front..<count) ?? count : front)
        let hash = first([0x23], authority.upperBound..<count) ?? count
        let mark = first([0x3F], authority.upperBound..<hash) ?? hash
        let at = authority.last { address[$0] == 0x40 }
        let host = (at.map { $0 + 1 } ?? authority.lowerBound)..<authority.upperBound
        let bracket = host.last { address[$0] == 0x5D } ?? host.lowerBound
        let port = (bracket..<host.upperBound).last { address[$0] == 0x3A }
        let user = at.map { authority.lowerBound..<$0 }
        let split = user.flatMap { first([0x3A], $0) }
        return switch part {
        case .withoutScheme: colon + 1..<count
        case .scheme: 0..<colon
        case .host: host.lowerBound..<(port ?? host.upperBound)
        case .port: port.map { $0 + 1..<host.upperBound }
        case .path: authority.upperBound..<mark
        case .query: mark < hash ? mark + 1..<hash : nil
        case .fragment: hash < count ? hash + 1..<count : nil
        case .userInfo: user
        case .user: user.map { $0.lowerBound..<(split ?? $0.upperBound) }
        case .password: user.flatMap { user in split.map { $0 + 1..<user.upperBound } }
        }
    }
}

extension RawSpan {
    /// Whether a part begins with an ASCII text in capital letters, in any case.
    fileprivate func begins(_ word: StaticString, _ range: Range<Int>) -> Bool {
        guard range.count >= word.utf8CodeUnitCount else { return false }
        return (0..<word.utf8CodeUnitCount).allSatisfy { offset in
            let byte = self[range.lowerBound + offset]
            let capital = (0x61...0x7A).contains(byte) ? byte & 0xDF : byte
            return unsafe capital == word.utf8Start[offset]
        }
    }
}
