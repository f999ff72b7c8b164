/// What a server says when it does not answer: any JSON object without `payload` (protocol.md 9.4).
///
/// It is not signed, so it proves nothing; it is shown, and never decides what happens to keys. Peers differ in
/// everything here, so whitespace, any order and unknown members are taken.
public struct ServerFailure: Error, Sendable, Hashable {
    /// The code, when it is one of the catalogue.
    package let code: ErrorCode?
    /// The code as it was sent; at most 16 letters and digits.
    public let codeText: String?
    /// The server's words, without control characters and at most 256 characters long.
    public let message: String?

    /// Reads a reply; nil when it is no JSON object, or one with a member `payload`.
    package init?(parsing bytes: RawSpan) {
        guard var reader = try? MessageReader(copying: bytes, limit: MessageLimits.message, "failure") else {
            return nil
        }
        reader.skipSpace(true)
        guard let object = try? reader.outerMembers() else { return nil }
        reader.skipSpace(true)
        guard reader.position == reader.end, object["payload"] == nil else { return nil }
        guard let error = object["error"] else {
            (code, codeText, message) = (nil, nil, nil)
            return
        }
        if let text = reader.text(at: error) {
            (code, codeText, message) = (nil, nil, ServerFailure.shown(text))
            return
        }
        let members = reader.members(at: error)
        let sent = members["code"].flatMap { reader.text(at: $0) }
        codeText = sent.flatMap(ServerFailure.plainCode)
        code = codeText.flatMap(ErrorCode.init(rawValue:))
        message = members["message"].flatMap { reader.text(at: $0) }.flatMap(ServerFailure.shown)
    }

    private static func plainCode(_ text: String) -> String? {
        let isPlain = text.utf8.allSatisfy { byte in
            byte &- UInt8(ascii: "0") < 10 || byte &- UInt8(ascii: "A") < 26 || byte &- UInt8(ascii: "a") < 26
        }
        return isPlain && (1...16).contains(text.utf8.count) ? text : nil
    }

    /// Terminals obey control characters, and displays the marks that turn the direction of writing.
    private static func shown(_ text: String) -> String? {
        let scalars = text.unicodeScalars.lazy.filter { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned: false
            default: true
            }
        }
        var words = String.UnicodeScalarView()
        words.append(contentsOf: scalars.prefix(256))
        return words.isEmpty ? nil : String(words)
    }
}

extension MessageReader {
    /// The members of the object that begins here, with names as they are meant.
    fileprivate mutating func outerMembers() throws(MessageError) -> [String: Range<Int>] {  // because: our words
        guard next == UInt8(ascii: "{") else { throw failure(.wrongType, "failure") }
        var named: [String: Range<Int>] = [:]  // because: as above
        for member in try members("failure", spaced: true) {
            named[String(decoding: try unescaped(member.name), as: UTF8.self)] = member.value
        }
        return named
    }

    fileprivate func members(at range: Range<Int>) -> [String: Range<Int>] {  // because: as above
        var reader = self
        reader.position = range.lowerBound
        return (try? reader.outerMembers()) ?? [:]
    }

    fileprivate func text(at range: Range<Int>) -> String? {
        var reader = self
        reader.position = range.lowerBound
        guard reader.next == UInt8(ascii: "\""), let string = try? reader.string("failure"),
            let text = try? unescaped(string)
        else { return nil }
        return String(decoding: text, as: UTF8.self)
    }
}
