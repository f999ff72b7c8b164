/// The key chain's word for a server's key (protocol.md 10.2).
public struct Endorsement: MessagePayload {
    /// What the key signs.
    package let purpose: Purpose
    package let publicKey: PublicKeyText
    package let expiration: Timestamp
    /// The chain: the id of its first event.
    package let hsm: DigestText
    /// The event whose key signed this.
    package let generation: DigestText

    /// What a server's key may be used for.
    public enum Purpose: String, Sendable, Hashable, CaseIterable { case access = "access", response = "response" }

    package init(
        purpose: Purpose, publicKey: PublicKeyText, expiration: Timestamp, hsm: DigestText, generation: DigestText
    ) {
        self.purpose = purpose
        self.publicKey = publicKey
        self.expiration = expiration
        self.hsm = hsm
        self.generation = generation
    }

    package static var envelope: ObjectShape { envelopeShape }

    private static let envelopeShape = ObjectShape("", ["body", "signature"])
    static let shape = ObjectShape("body", ["payload", "hsm"])
    static let payloadShape = ObjectShape("body.payload", ["purpose", "publicKey", "expiration"])
    static let hsmShape = ObjectShape("body.hsm", ["identity", "generationId"])

    package init(reading reader: inout MessageReader) throws(MessageError) {
        var body = try reader.open(Endorsement.shape)
        try reader.member(&body)
        var payload = try reader.open(Endorsement.payloadShape)
        let start = reader.position
        guard let purpose = Purpose(rawValue: try reader.readWord(&payload)) else {
            throw MessageError(.invalidEncoding, payload.path, at: start)
        }
        self.purpose = purpose
        publicKey = try reader.read(&payload)
        expiration = try reader.read(&payload)
        try reader.close(payload)
        (hsm, generation) = try reader.object(Endorsement.hsmShape, in: &body)
        try reader.close(body)
    }

    package func write(to writer: inout MessageWriter) {
        writer.literal(#"{"payload":{"purpose":"#)
        writer.string(purpose.rawValue)
        writer.literal(#","publicKey":"#)
        writer.quoted(publicKey)
        writer.literal(#","expiration":"#)
        expiration.write(to: &writer)
        writer.literal(#"},"hsm":"#)
        writer.object(Endorsement.hsmShape, hsm, generation)
        writer.literal("}")
    }
}

/// An endorsement as it is published: `{"body":…,"signature":…}`.
package typealias SignedEndorsement = SignedMessage<Endorsement>
