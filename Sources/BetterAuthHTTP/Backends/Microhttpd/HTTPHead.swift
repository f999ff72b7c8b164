internal import BetterAuthMessages
internal import CMicrohttpd

/// The head of a request as RFC 9112 defines it. libmicrohttpd accepts more than that, and a proxy in front of the
/// server may read the same bytes as a different request: what two parsers can disagree about is refused.
struct HTTPHead {
    private var hosts = 0
    private var lengths = 0
    /// Bytes of the body, as it says; nil where it does not.
    private(set) var length: Int?
    private var codings = 0
    private var isMalformed = false
    /// The values of X-Forwarded-For, in the order in which they came.
    private(set) var forwarded: [String] = []
    /// Whether another header tells of a proxy.
    private(set) var isMarked = false
    private(set) var trace = RequestTrace.Headers()

    /// Takes a header: its name is a token (RFC 9110, section 5.6.2), its value has no control characters but the tab.
    mutating func read(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        if unsafe name.isEmpty || !name.allSatisfy(HTTPHead.isToken) { isMalformed = true }
        if unsafe !value.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) { isMalformed = true }
        switch name.count {
        case 4 where unsafe HTTPHead.isSame(name, "host"):
            hosts += 1
            if unsafe !HTTPHead.trimmed(value).allSatisfy(HTTPHead.isHost) { isMalformed = true }
        case 14 where unsafe HTTPHead.isSame(name, "content-length"):
            lengths += 1
            let digits = unsafe HTTPHead.trimmed(value)
            let isNumber = unsafe digits.allSatisfy { $0 &- UInt8(ascii: "0") < 10 }
            // The same as in RequestLengths: what the library does not hear of is refused here.
            guard isNumber, unsafe (1...18).contains(digits.count) else {
                isMalformed = true
                break
            }
            length = unsafe digits.reduce(0) { $0 * 10 + Int($1 &- UInt8(ascii: "0")) }
        case 15 where unsafe HTTPHead.isSame(name, "x-forwarded-for"):
            forwarded.append(unsafe String(decoding: value, as: UTF8.self))
        case 9 where unsafe HTTPHead.isSame(name, "forwarded") || HTTPHead.isSame(name, "x-real-ip"):
            isMarked = true
        case 12 where unsafe HTTPHead.isSame(name, "x-request-id"): unsafe trace.readID(value)
        case 11 where unsafe HTTPHead.isSame(name, "traceparent"): unsafe trace.readParent(value)
        case 10 where unsafe HTTPHead.isSame(name, "tracestate"): unsafe trace.readState(value)
        case 17 where unsafe HTTPHead.isSame(name, "transfer-encoding"): codings += 1
        default: break
        }
    }

    /// What is wrong with all of it.
    /// - Parameters:
    ///   - version: As it stood there.
    ///   - target: As it stood there; nil when it had none.
    func fault(_ version: UnsafeRawBufferPointer, _ target: HTTPTarget?) -> ErrorCode? {
        let isKnown = unsafe HTTPHead.isSame(version, "http/1.1") || HTTPHead.isSame(version, "http/1.0")
        let isUpper = unsafe version.first == UInt8(ascii: "H")
        guard isKnown, isUpper, !isMalformed, target?.isPrintable == true else { return .malformedRequest }
        // A host is required since version 1.1 (RFC 9112, section 3.2).
        let isOld = unsafe version.last == UInt8(ascii: "0")
        guard hosts == 1 || hosts == 0 && isOld, lengths <= 1 else { return .malformedRequest }
        guard codings == 0 else {
            // Both is how requests are smuggled (RFC 9112, section 6.1). Chunks alone could be read, but bodies here
            // are short, and clients know their length; a proxy that forwards them states it (RFC 9112, section 6.3).
            return lengths == 0 && !isOld ? .lengthRequired : .malformedRequest
        }
        return nil
    }

    private static func isToken(_ byte: UInt8) -> Bool {
        isLetterOrDigit(byte) || "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }

    /// What a host with a port is made of (RFC 3986, section 3.2.2), without what begins a user name or a path.
    private static func isHost(_ byte: UInt8) -> Bool {
        isLetterOrDigit(byte) || "-._~%!$&'()*+,;=:[]".utf8.contains(byte)
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        byte &- UInt8(ascii: "0") < 10 || (byte | 0x20) &- UInt8(ascii: "a") < 26
    }

    @unsafe private static func isSame(_ bytes: UnsafeRawBufferPointer, _ lower: StaticString) -> Bool {
        lower.withUTF8Buffer { lower in
            unsafe bytes.count == lower.count
                && zip(bytes, lower).allSatisfy { byte, letter in
                    byte == letter || byte &- UInt8(ascii: "A") < 26 && byte | 0x20 == letter
                }
        }
    }

    @unsafe private static func trimmed(_ bytes: UnsafeRawBufferPointer) -> Slice<UnsafeRawBufferPointer> {
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
        let start = unsafe bytes.firstIndex { !isSpace($0) } ?? bytes.endIndex
        let end = unsafe bytes.lastIndex { !isSpace($0) }.map { $0 + 1 } ?? start
        return unsafe bytes[start..<end]
    }
}

/// Where a request goes, as it stood there: the library unescapes it, ends it at a zero byte and cuts the query off.
struct HTTPTarget: Sendable {
    /// In front of the query. No route has an escape in it.
    let path: String
    /// Neither white space nor control characters, nothing outside of ASCII, and no fragment.
    let isPrintable: Bool
    let address: UInt
    let count: Int

    @unsafe init(_ bytes: UnsafeRawBufferPointer) {
        isPrintable = unsafe bytes.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") }
        path = unsafe String(decoding: bytes.prefix { $0 != UInt8(ascii: "?") }, as: UTF8.self)
        address = UInt(bitPattern: bytes.baseAddress)
        count = bytes.count
    }
}

/// Where the lines of a head lie: libmicrohttpd splits it in place, so the space between two parts is what stood
/// between them. It ends lines at a bare line feed too, lets them continue in the next one, and stops at a zero byte;
/// then the space is another one. Of this nothing is read, only compared. Versions from 0.9.77 on refuse all of that
/// themselves in their strict mode; that of earlier ones covers only what is looked at here anyway, and sends the head
/// of its refusal twice.
struct HTTPHeadLayout {
    /// Whether this library's heads are looked at like that.
    static let isKnown: Bool = {
        guard let text = unsafe MHD_get_version() else { return false }
        let numbers = unsafe String(cString: text).split(separator: ".").prefix(3).map { Int($0) ?? 0 }
        return numbers.lexicographicallyPrecedes([0, 9, 77])
    }()

    /// Behind the last part.
    private var end: UInt
    private(set) var isWhole: Bool

    /// Begins with the request line: method, target and version with one space between them.
    init(method: UnsafeRawBufferPointer, _ target: HTTPTarget, version: UnsafeRawBufferPointer) {
        let begin = UInt(bitPattern: method.baseAddress) + UInt(method.count)
        end = UInt(bitPattern: version.baseAddress) + UInt(version.count)
        isWhole =
            begin + 1 == target.address
            && target.address + UInt(target.count) + 1 == UInt(bitPattern: version.baseAddress)
    }

    /// Each line begins two bytes behind the one before.
    mutating func read(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        if UInt(bitPattern: name.baseAddress) != end + 2 { isWhole = false }
        end = UInt(bitPattern: value.baseAddress) + UInt(value.count)
    }

    /// Ends with the last line's end and an empty line.
    func isWhole(from method: UnsafeRawBufferPointer, size: Int) -> Bool {
        isWhole && UInt(bitPattern: method.baseAddress) + UInt(size) == end + 4
    }
}
