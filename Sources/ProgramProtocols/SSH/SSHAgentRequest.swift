/// What an SSH program asks of an agent (draft-miller-ssh-agent; OpenSSH, PROTOCOL.agent). Strings are named by where
/// they lie in the message; nothing of a private key is copied.
package enum SSHAgentRequest: Sendable, Hashable {
    /// Tell the public keys.
    case identities
    /// The flags say with which hash RSA signs.
    case sign(key: Range<Int>, data: Range<Int>, flags: UInt32)
    case add(SSHPrivateLayout, Constraints)
    case remove(key: Range<Int>)
    case removeAll
    case lock(passphrase: Range<Int>)
    case unlock(passphrase: Range<Int>)
    /// The connection is for a session with a host; nil where it cannot be read with which.
    case bind(SSHBinding?)
    /// Something that this agent does not do.
    case unknown

    /// What a key that is added may be used for.
    package struct Constraints: Sendable, Hashable {
        /// Seconds after which it is forgotten.
        package var lifetime: UInt32?
        /// Each use is asked for.
        package var needsConfirmation = false
        /// Where alone it may be used; empty for everywhere.
        package var destinations: [SSHDestination] = []

        package init() {}
    }

    /// Bytes of a message, at most. OpenSSH allows 262,144, for keys of kinds that are not kept here.
    package static let longest = 16_384

    /// Reads the message behind its length, all of it.
    /// - Throws: ``SSHError``. A message of another kind is ``unknown``.
    package init(parsing bytes: RawSpan) throws(SSHError) {
        guard bytes.byteCount <= SSHAgentRequest.longest else { throw .invalid }
        var reader = SSHReader(0..<bytes.byteCount)
        let number = try reader.byte(bytes)
        switch number {
        case 11: self = .identities
        case 13:
            self = .sign(
                key: try reader.string(bytes), data: try reader.string(bytes), flags: try reader.number(bytes))
        case 17, 25:
            let key = try SSHPrivateLayout(&reader, bytes)
            self = .add(key, number == 25 ? try SSHAgentRequest.constraints(&reader, bytes) : Constraints())
        case 18: self = .remove(key: try reader.string(bytes))
        case 19: self = .removeAll
        case 22: self = .lock(passphrase: try reader.string(bytes))
        case 23: self = .unlock(passphrase: try reader.string(bytes))
        case 27:
            guard try reader.text(bytes) == "session-bind@openssh.com" else {
                self = .unknown
                return
            }
            // Not an error: a step that is not understood must not be as if it had not been taken.
            let binding = try? SSHBinding(&reader, bytes)
            self = .bind(reader.isAtEnd ? binding : nil)
            return
        default:
            self = .unknown
            return
        }
        try reader.expectEnd()
    }

    /// A constraint that is not understood cannot be kept, so the key is refused.
    private static func constraints(_ reader: inout SSHReader, _ bytes: RawSpan) throws(SSHError) -> Constraints {
        var constraints = Constraints()
        while !reader.isAtEnd {
            switch try reader.byte(bytes) {
            case 1:
                guard constraints.lifetime == nil else { throw .invalid }
                constraints.lifetime = try reader.number(bytes)
            case 2: constraints.needsConfirmation = true
            case 255:
                guard try reader.text(bytes) == "restrict-destination-v00@openssh.com",
                    constraints.destinations.isEmpty
                else { throw .invalid }
                constraints.destinations = try SSHDestination.list(try reader.string(bytes), bytes)
            default: throw .invalid
            }
        }
        return constraints
    }
}

/// What an agent answers, without its length.
package enum SSHAgentReply {
    package static let failure: [UInt8] = [5]
    package static let success: [UInt8] = [6]

    /// The public keys and what they are called.
    package static func identities(_ keys: [(blob: [UInt8], comment: String)]) -> [UInt8] {
        var writer = SSHWriter()
        writer.byte(12)
        writer.number(UInt32(clamping: keys.count))
        for key in keys {
            writer.string(key.blob)
            writer.string(key.comment)
        }
        return writer.bytes
    }

    /// A signature: of ECDSA r and s, each as long as a scalar; of the other kinds its bytes.
    package static func signature(_ name: SSHSignatureName, _ signature: [UInt8]) -> [UInt8] {
        var inner = SSHWriter()
        inner.string(name.rawValue)
        switch name {
        case .ed25519, .rsaSHA256, .rsaSHA512: inner.string(signature)
        case .p256, .p384, .p521:
            var numbers = SSHWriter()
            numbers.magnitude(Array(signature.prefix(signature.count / 2)))
            numbers.magnitude(Array(signature.dropFirst(signature.count / 2)))
            inner.string(numbers.bytes)
        }
        var writer = SSHWriter()
        writer.byte(14)
        writer.string(inner.bytes)
        return writer.bytes
    }
}
