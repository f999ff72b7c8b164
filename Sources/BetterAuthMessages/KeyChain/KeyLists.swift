// What the key service answers (protocol.md 10.5). Services written in Go end a text with a newline, which is no
// part of it.

extension SignedMessage<Endorsement> {
    /// Reads one record, as `GET /keys/<identity>` and `POST /sign` answer it.
    /// - Throws: ``MessageError``.
    package init(record bytes: RawSpan) throws(MessageError) {
        try self.init(parsing: bytes.extracting(0..<bytes.countWithoutNewline))
    }
}

/// Every endorsement that the key service has, by key: the answer to `GET /keys`.
package struct EndorsementList: Sendable, Hashable {
    package let records: [PublicKeyText: SignedEndorsement]

    /// Reads a list.
    /// - Throws: ``MessageError``; ``MessageError/Reason/inconsistent`` when a record is about another key than the one
    ///   it stands under.
    package init(parsing bytes: RawSpan) throws(MessageError) {
        let place = "keys"
        var reader = try MessageReader(
            copying: bytes.extracting(0..<bytes.countWithoutNewline), limit: MessageLimits.keyList, place)
        var records: [PublicKeyText: SignedEndorsement] = [:]
        guard reader.next == UInt8(ascii: "{") else { throw reader.failure(.wrongType, place) }
        reader.position += 1
        while reader.next != UInt8(ascii: "}") || !records.isEmpty {
            let start = reader.position
            let name = try reader.string(place)
            guard !name.hasEscapes, let key = reader.lend(name.range, PublicKeyText.init(text:)) else {
                throw MessageError(.invalidEncoding, place, at: start)
            }
            try reader.expect(UInt8(ascii: ":"), place)
            let record = try SignedEndorsement(reading: &reader, Endorsement.envelope)
            guard record.payload.publicKey == key else { throw MessageError(.inconsistent, place, at: start) }
            guard records.updateValue(record, forKey: key) == nil else {
                throw MessageError(.duplicateMember, place, at: start)
            }
            if reader.next == UInt8(ascii: "}") { break }
            try reader.expect(UInt8(ascii: ","), place)
        }
        reader.position += 1
        try reader.expectEnd(place)
        self.records = records
    }
}

/// Every event of every key chain, in the order in which they came: the answer to `GET /hsm/keys`.
package struct KeyEventList: Sendable, Hashable {
    package let events: [SignedKeyEvent]

    /// Reads a list. Whether the events form chains is for the verifier to find out.
    /// - Throws: ``MessageError``.
    package init(parsing bytes: RawSpan) throws(MessageError) {
        let place = "hsm.keys"
        var reader = try MessageReader(
            copying: bytes.extracting(0..<bytes.countWithoutNewline), limit: MessageLimits.keyList, place)
        var events: [SignedKeyEvent] = []
        guard reader.next == UInt8(ascii: "[") else { throw reader.failure(.wrongType, place) }
        reader.position += 1
        while reader.next != UInt8(ascii: "]") || !events.isEmpty {
            events.append(try SignedKeyEvent(reading: &reader, KeyEvent.envelope))
            if reader.next == UInt8(ascii: "]") { break }
            try reader.expect(UInt8(ascii: ","), place)
        }
        reader.position += 1
        try reader.expectEnd(place)
        self.events = events
    }

    /// A list, which ``init(parsing:)`` has read.
    /// - Throws: ``MessageError``; ``MessageError/Reason/tooLarge`` for one that nobody would read.
    package static func bytes(of events: [SignedKeyEvent]) throws(MessageError) -> [UInt8] {
        let inside = Array(events.map(\.bytes).joined(separator: [UInt8(ascii: ",")]))
        let bytes = [UInt8(ascii: "[")] + inside + [UInt8(ascii: "]")]
        _ = try unsafe KeyEventList(parsing: bytes.span.bytes)
        return bytes
    }
}

extension RawSpan {
    /// How many bytes there are without one newline at the end.
    fileprivate var countWithoutNewline: Int {
        guard byteCount > 0, unsafe unsafeLoad(fromByteOffset: byteCount - 1, as: UInt8.self) == 0x0A else {
            return byteCount
        }
        return byteCount - 1
    }
}
