// Application data is any JSON value (RFC 8259). It is not rebuilt: its bytes are kept, since the signature covers
// them, and these rules only make sure that every reader understands them alike.
extension MessageReader {
    /// Moves past one value.
    /// - Parameter spaced: Whether whitespace may stand between its parts; never inside a signed message.
    mutating func value(_ place: String, spaced: Bool = false) throws(MessageError) {
        guard let first = next else { throw failure(.truncated, place) }
        switch first {
        case UInt8(ascii: "{"): try object(place, spaced: spaced)
        case UInt8(ascii: "["): try array(place, spaced: spaced)
        case UInt8(ascii: "\""): _ = try string(place)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try number(place)
        case UInt8(ascii: "t"): try word("true", place)
        case UInt8(ascii: "f"): try word("false", place)
        case UInt8(ascii: "n"): try word("null", place)
        default: throw failure(.unexpectedByte, place)
        }
    }

    mutating func word(_ word: StaticString, _ place: String) throws(MessageError) {
        if skip(word) { return }
        // Up to the first byte that differs, or the end: the two are different errors.
        let expected = unsafe UnsafeBufferPointer(word)
        var index = 0
        while index < expected.count, let byte = next, unsafe expected[index] == byte {
            position += 1
            index += 1
        }
        throw failure(.unexpectedByte, place)
    }

    mutating func skipSpace(_ spaced: Bool) {
        guard spaced else { return }
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    private mutating func enter(_ place: String) throws(MessageError) {
        guard depth < MessageLimits.depth else { throw failure(.nestedTooDeep, place) }
        position += 1
        depth += 1
    }

    private mutating func array(_ place: String, spaced: Bool) throws(MessageError) {
        try enter(place)
        skipSpace(spaced)
        if next == UInt8(ascii: "]") { return leave() }
        while true {
            skipSpace(spaced)
            try value(place, spaced: spaced)
            skipSpace(spaced)
            if next == UInt8(ascii: "]") { return leave() }
            try expect(UInt8(ascii: ","), place)
        }
    }

    private mutating func leave() {
        position += 1
        depth -= 1
    }

    private mutating func object(_ place: String, spaced: Bool) throws(MessageError) {
        _ = try members(place, spaced: spaced)
    }

    /// Moves past an object and tells its members.
    mutating func members(_ place: String, spaced: Bool) throws(MessageError) -> [JSONMember] {
        try enter(place)
        var members: [JSONMember] = []
        skipSpace(spaced)
        if next == UInt8(ascii: "}") {
            leave()
            return members
        }
        while true {
            skipSpace(spaced)
            guard next == UInt8(ascii: "\"") else { throw failure(.unexpectedByte, place) }
            guard members.count < MessageLimits.members else { throw failure(.tooManyMembers, place) }
            let start = position
            let name = try string(place)
            skipSpace(spaced)
            try expect(UInt8(ascii: ":"), place)
            skipSpace(spaced)
            let valueStart = position
            try value(place, spaced: spaced)
            members.append(JSONMember(start: start, name: name, value: valueStart..<position))
            skipSpace(spaced)
            if next == UInt8(ascii: "}") { break }
            try expect(UInt8(ascii: ","), place)
        }
        try refuseDuplicates(members, place)
        leave()
        return members
    }

    private mutating func number(_ place: String) throws(MessageError) {
        if next == UInt8(ascii: "-") { position += 1 }
        if next == UInt8(ascii: "0") { position += 1 } else { try digits(place) }
        if next == UInt8(ascii: ".") {
            position += 1
            try digits(place)
        }
        if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
            position += 1
            if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { position += 1 }
            try digits(place)
        }
        if let byte = next, isDigit(byte) { throw failure(.invalidNumber, place) }
    }

    private mutating func digits(_ place: String) throws(MessageError) {
        guard let first = next, isDigit(first) else { throw failure(.invalidNumber, place) }
        while let byte = next, isDigit(byte) { position += 1 }
    }

    private func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }
}

/// One member of an object of application data.
struct JSONMember {
    /// Where the name's quotation mark stands.
    let start: Int
    let name: JSONString
    let value: Range<Int>
}

extension MessageReader {
    /// Equal names are found exactly, whatever escapes they are written with.
    private func refuseDuplicates(_ members: [JSONMember], _ place: String) throws(MessageError) {
        guard members.count > 1 else { return }
        if members.count <= 8, !members.contains(where: \.name.hasEscapes) {
            for later in 1..<members.count {
                for earlier in 0..<later
                where bytes[members[earlier].name.range].elementsEqual(bytes[members[later].name.range]) {
                    throw MessageError(.duplicateMember, place, at: members[later].start)
                }
            }
            return
        }
        var names: [(text: [UInt8], start: Int)] = []
        names.reserveCapacity(members.count)
        for member in members { names.append((try unescaped(member.name), member.start)) }
        names.sort { $0.text.lexicographicallyPrecedes($1.text) || ($0.text == $1.text && $0.start < $1.start) }
        for index in 1..<names.count where names[index].text == names[index - 1].text {
            throw MessageError(.duplicateMember, place, at: names[index].start)
        }
    }
}
