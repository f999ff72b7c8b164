/// One link of the key chain that endorses the keys of servers (protocol.md 10.3). Signed by its own key.
package struct KeyEvent: MessagePayload {
    /// The digest of the event's text with this member filled with `#`; see `digestInput`.
    package let id: DigestText
    /// The id of the chain's first event, which is burnt into programs.
    package let prefix: DigestText
    package let sequenceNumber: UInt64
    /// The id of the event before; nil in the first one, and only there.
    package let previous: DigestText?
    package let createdAt: Timestamp
    /// Whether the key of the event before must no longer be trusted, for whatever it has signed.
    package let taintPrevious: Bool
    /// ``KeyEvent/authorization`` in the chains that endorse keys.
    package let purpose: String
    package let publicKey: PublicKeyText
    package let rotationHash: RotationHash

    package static let authorization = "key-authorization"

    package init?(
        id: DigestText, prefix: DigestText, sequenceNumber: UInt64, previous: DigestText?, createdAt: Timestamp,
        taintPrevious: Bool, purpose: String, publicKey: PublicKeyText, rotationHash: RotationHash
    ) {
        guard (sequenceNumber == 0) == (previous == nil), sequenceNumber < 1 << 53 else { return nil }
        guard !purpose.isEmpty, purpose.utf8.count <= 64,
            purpose.utf8.allSatisfy({ $0 == UInt8(ascii: "-") || $0 &- UInt8(ascii: "a") < 26 })
        else { return nil }
        self.id = id
        self.prefix = prefix
        self.sequenceNumber = sequenceNumber
        self.previous = previous
        self.createdAt = createdAt
        self.taintPrevious = taintPrevious
        self.purpose = purpose
        self.publicKey = publicKey
        self.rotationHash = rotationHash
    }

    static let shape = ObjectShape(
        "payload",
        [
            "id", "prefix", "sequenceNumber", "previous", "createdAt", "taintPrevious", "purpose", "publicKey",
            "rotationHash",
        ])

    package init(reading reader: inout MessageReader) throws(MessageError) {
        let start = reader.position
        var object = try reader.open(KeyEvent.shape)
        id = try reader.read(&object)
        prefix = try reader.read(&object)
        sequenceNumber = try reader.readCount(&object)
        previous = try reader.readOptional(&object)
        createdAt = try reader.read(&object)
        taintPrevious = try reader.readFlag(&object)
        purpose = try reader.readWord(&object)
        publicKey = try reader.read(&object)
        rotationHash = try reader.read(&object)
        try reader.close(object)
        guard (sequenceNumber == 0) == (previous == nil) else {
            throw MessageError(.inconsistent, "payload.previous", at: start)
        }
    }

    package func write(to writer: inout MessageWriter) {
        writer.literal(#"{"id":"#)
        writer.quoted(id)
        writer.literal(#","prefix":"#)
        writer.quoted(prefix)
        writer.literal(#","sequenceNumber":"#)
        writer.number(sequenceNumber)
        if let previous {
            writer.literal(#","previous":"#)
            writer.quoted(previous)
        }
        writer.literal(#","createdAt":"#)
        createdAt.write(to: &writer)
        if taintPrevious { writer.literal(#","taintPrevious":true"#) }
        writer.literal(#","purpose":"#)
        writer.string(purpose)
        writer.literal(#","publicKey":"#)
        writer.quoted(publicKey)
        writer.literal(#","rotationHash":"#)
        writer.quoted(rotationHash)
        writer.literal("}")
    }
}

extension SignedMessage<KeyEvent> {
    /// The text whose digest is the event's id: the text that was signed, with 44 `#` for the id and, in the first
    /// event, for the prefix.
    package var digestInput: [UInt8] {
        var text = withSignedBytes { $0.copied }
        // The members stand at fixed places in what was parsed and in what was written.
        let idStart = #"{"id":""#.utf8.count
        let prefixStart = idStart + DigestText.textSize + #"","prefix":""#.utf8.count
        let starts = payload.sequenceNumber == 0 ? [idStart, prefixStart] : [idStart]
        for start in starts {
            let range = start..<start + DigestText.textSize
            guard range.upperBound <= text.count else { return [] }
            text.replaceSubrange(range, with: repeatElement(UInt8(ascii: "#"), count: DigestText.textSize))
        }
        return text
    }
}

/// A key event as it is published: `{"payload":…,"signature":…}`.
package typealias SignedKeyEvent = SignedMessage<KeyEvent>
