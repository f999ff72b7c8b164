/// Why bytes of a peer are not a message of the protocol: what is wrong and where, never the contents (BA101).
public struct MessageError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong.
    package enum Reason: String, Sendable, Hashable, CaseIterable {
        /// More bytes than a message may have (65,536); nothing was read.
        case tooLarge = "tooLarge"
        /// The bytes end inside the message.
        case truncated = "truncated"
        /// Bytes after the end of the message.
        case trailingBytes = "trailingBytes"
        /// Not JSON, or JSON in another spelling than the compact one that is signed.
        case unexpectedByte = "unexpectedByte"
        /// A member has another type, `null` included.
        case wrongType = "wrongType"
        /// A member is absent, or stands after one that it must precede.
        case missingMember = "missingMember"
        /// A member occurs twice in one object.
        case duplicateMember = "duplicateMember"
        /// A member that the protocol does not define.
        case unknownMember = "unknownMember"
        /// More members in one object than 1,024.
        case tooManyMembers = "tooManyMembers"
        /// Deeper than 16 objects and arrays inside each other.
        case nestedTooDeep = "nestedTooDeep"
        /// Not UTF-8 (RFC 3629, section 3): overlong, out of range, a surrogate, or cut off.
        case invalidUTF8 = "invalidUTF8"
        /// A control character inside a string (RFC 8259, section 7).
        case controlCharacter = "controlCharacter"
        /// An escape that JSON does not know, or any escape where the protocol has only plain text.
        case invalidEscape = "invalidEscape"
        /// Half of a surrogate pair, which no text contains.
        case loneSurrogate = "loneSurrogate"
        /// Not a number in JSON's grammar, or out of the range of its member.
        case invalidNumber = "invalidNumber"
        /// Not the one spelling of a key, signature, digest or nonce (CESR), or a value that no such thing has.
        case invalidEncoding = "invalidEncoding"
        /// Not a time in one of the two accepted forms.
        case invalidTimestamp = "invalidTimestamp"
        /// A token that is no signature followed by unpadded base64url.
        case invalidToken = "invalidToken"
        /// The compressed part of a token is not one whole gzip member.
        case invalidGzip = "invalidGzip"
        /// A token that would grow beyond 16,384 bytes.
        case tokenTooLarge = "tokenTooLarge"
        /// Members that contradict each other.
        case inconsistent = "inconsistent"
    }

    /// What is wrong.
    package let reason: Reason
    /// The member, as a path of names that the protocol defines: `request.authentication.device`.
    public let place: String
    /// Bytes from the start of what was parsed.
    package let offset: Int

    init(_ reason: Reason, _ place: String, at offset: Int) {
        self.reason = reason
        self.place = place
        self.offset = offset
    }

    /// What is wrong and where.
    public var description: String {
        "\(reason.rawValue)\(place.isEmpty ? "" : " in \(place)") at byte \(offset)"
    }
}

/// What is refused before any work is done (protocol.md 12.18 and 12.19).
package enum MessageLimits {
    /// Bytes of a request or response.
    package static let message = 65_536
    /// Bytes of application data that we send, so that it fits into a message beside the largest token.
    package static let applicationData = 60_000
    /// Objects and arrays inside each other, the outermost included.
    package static let depth = 16
    /// Members of one object of application data.
    package static let members = 1024
    /// Characters of an access token.
    package static let token = 4096
    /// Bytes of an access token's decompressed text.
    package static let claims = 16_384
    /// Bytes of a list of keys or key events, which grows for as long as a deployment lives: 34,000 events, which are
    /// 3.9 years with one an hour.
    package static let keyList = 16 << 20
}
