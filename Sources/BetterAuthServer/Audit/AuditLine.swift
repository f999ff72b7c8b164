internal import BetterAuthMessages

/// One line of the audit log: `{"chain":"…","n":N,"time":"…",…,"tag":"…"}`. The tag covers all bytes in front of
/// `,"tag"`.
struct AuditLine {
    static let longest = 4096
    private static let front = Array(#"{"chain":""#.utf8)
    private static let number = Array(#"","n":"#.utf8)
    private static let proof = Array(#","tag":""#.utf8)
    private static let end = Array(#""}"#.utf8)

    /// What is covered.
    let text: [UInt8]
    let chain: String
    let place: UInt64
    let tag: String

    static func text(chain: String, place: UInt64, _ moment: Timestamp, _ members: String) -> [UInt8] {
        front + Array(chain.utf8) + number + Array(#"\#(place),"time":"\#(moment)"\#(members)"#.utf8)
    }

    static func whole(_ text: [UInt8], tag: String) -> [UInt8] { text + proof + Array(tag.utf8) + end + [0x0A] }

    /// Nil for what is no line of ours.
    init?(_ bytes: ArraySlice<UInt8>) {
        let tail = AuditLine.proof.count + AuditChain.digits + AuditLine.end.count
        guard bytes.count > tail, bytes.count <= AuditLine.longest, bytes.starts(with: AuditLine.front) else {
            return nil
        }
        let proof = bytes.suffix(tail)
        let tag = proof.dropFirst(AuditLine.proof.count).prefix(AuditChain.digits)
        let text = bytes.dropLast(tail)
        let afterFront = text.dropFirst(AuditLine.front.count)
        let chain = afterFront.prefix(AuditChain.digits)
        let rest = afterFront.dropFirst(AuditChain.digits)
        let digits = rest.dropFirst(AuditLine.number.count).prefix { $0 &- UInt8(ascii: "0") < 10 }
        guard proof.starts(with: AuditLine.proof), proof.suffix(AuditLine.end.count).elementsEqual(AuditLine.end),
            AuditHex.isText(tag, AuditChain.digits), AuditHex.isText(chain, AuditChain.digits),
            rest.starts(with: AuditLine.number), let place = UInt64(String(decoding: digits, as: UTF8.self)),
            rest.dropFirst(AuditLine.number.count + digits.count).first == UInt8(ascii: ",")
        else { return nil }
        self.text = Array(text)
        self.chain = String(decoding: chain, as: UTF8.self)
        self.place = place
        self.tag = String(decoding: tag, as: UTF8.self)
    }

    /// The members of the object; nil when it is none.
    var members: [String: String]? {
        let object = text + [UInt8(ascii: "}")]
        guard let found = unsafe (try? ApplicationData(json: object.span.bytes))?.members() else { return nil }
        return found.mapValues { value in
            let text = String(decoding: value.bytes, as: UTF8.self)
            return text.hasPrefix("\"") ? String(text.dropFirst().dropLast()) : text
        }
    }
}
