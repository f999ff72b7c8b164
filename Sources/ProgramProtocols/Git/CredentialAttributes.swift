/// What git tells a credential helper (git-credential(1), INPUT/OUTPUT FORMAT): lines `key=value` up to an empty line
/// or the end.
///
/// Secrets are named by where they lie. Keys that this program does not know are left out, as git asks of helpers; so
/// are those of versions of git that are newer. Of a key that comes twice the later one counts, as in git.
package struct CredentialAttributes: Sendable, Hashable {
    /// Bytes of all lines, at most.
    package static let longest = 61_440
    /// Lines, at most.
    package static let mostLines = 256
    /// Bytes of an address's part, at most.
    package static let longestPart = 512

    /// Which account of which server.
    package private(set) var address: CredentialAddress?
    package private(set) var password: Range<Int>?
    /// When the password ends: seconds since 1970.
    package private(set) var expiry: Int64?
    package private(set) var refreshToken: Range<Int>?

    /// - Throws: ``CredentialError``.
    package init(parsing bytes: RawSpan) throws(CredentialError) {
        guard bytes.byteCount <= CredentialAttributes.longest else { throw .tooLong }
        var parts: [String: String] = [:]  // because: its keys are four words of ours
        var (start, lines) = (0, 0)
        while start < bytes.byteCount {
            var end = start
            var equals: Int?
            while end < bytes.byteCount, let byte = bytes.byte(end), byte != UInt8(ascii: "\n") {
                // git refuses both in what it sends; a helper that reads them could be told of two servers at once.
                guard byte != 0, byte != UInt8(ascii: "\r") else { throw .invalidByte }
                if byte == UInt8(ascii: "="), equals == nil { equals = end }
                end += 1
            }
            if end == start { break }
            lines += 1
            guard lines <= CredentialAttributes.mostLines else { throw .tooManyLines }
            guard let equals, equals > start else { throw .invalidLine }
            try read(bytes, start..<equals, equals + 1..<end, &parts)
            start = end + 1
        }
        guard let scheme = parts["protocol"], !scheme.isEmpty, let host = parts["host"] else { return }
        let isFile = scheme == "cert"
        guard isFile ? parts["path"]?.isEmpty == false : !host.isEmpty else { return }
        guard let address = CredentialAddress(scheme: scheme, host: host, path: parts["path"], user: parts["username"])
        else { throw .invalidAddress }
        self.address = address
    }

    private mutating func read(
        _ bytes: RawSpan, _ key: Range<Int>, _ value: Range<Int>,
        _ parts: inout [String: String]  // because: as above
    ) throws(CredentialError) {
        guard key.count <= 64 else { return }
        switch bytes.characters(key) {
        case "password": password = value
        case "oauth_refresh_token": refreshToken = value
        case "password_expiry_utc":
            guard let seconds = Int64(bytes.characters(value) ?? ""), seconds >= 0 else { throw .invalidExpiry }
            expiry = seconds
        case let name? where ["protocol", "host", "path", "username"].contains(name):
            guard value.count <= CredentialAttributes.longestPart, let text = bytes.characters(value) else {
                throw .invalidAddress
            }
            // An empty user is one; an empty path is none.
            parts[name] = text
        default: break
        }
    }
}

/// Why lines are no attributes of a credential.
package enum CredentialError: Error, Sendable, Hashable {
    case tooLong
    case tooManyLines
    case invalidByte
    case invalidLine
    case invalidAddress
    case invalidExpiry

    /// What is wrong. Nothing of the lines is in it.
    package var words: String {
        switch self {
        case .tooLong: "the attributes have more than \(CredentialAttributes.longest) bytes"
        case .tooManyLines: "there are more than \(CredentialAttributes.mostLines) attributes"
        case .invalidByte: "an attribute has a zero byte or a carriage return"
        case .invalidLine: "a line is not key=value"
        case .invalidAddress: "protocol, host, path or username is not valid, or too long"
        case .invalidExpiry: "password_expiry_utc is not a number of seconds"
        }
    }
}

extension RawSpan {
    fileprivate func byte(_ offset: Int) -> UInt8? {
        offset < byteCount ? unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self) : nil
    }

    /// Nil for what is not UTF-8.
    fileprivate func characters(_ range: Range<Int>) -> String? {
        unsafe extracting(range).withUnsafeBytes { unsafe String(validating: $0, as: UTF8.self) }
    }
}
