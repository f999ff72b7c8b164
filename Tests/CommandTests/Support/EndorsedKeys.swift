import BetterAuth
import BetterAuthMessages
import Testing

/// A key chain of one generation, and what it says of keys.
struct EndorsedKeys: Sendable {
    private let key: SoftwareSigningKey
    private let event: SignedKeyEvent
    /// By the name that is asked for.
    var records: [String: [UInt8]] = [:]

    init() throws {
        let (key, next) = try (SoftwareSigningKey.generate(), SoftwareSigningKey.generate())
        let born = Timestamp.now
        func event(_ id: DigestText) throws -> SignedKeyEvent {
            let payload = try #require(
                KeyEvent(
                    id: id, prefix: id, sequenceNumber: 0, previous: nil, createdAt: born, taintPrevious: false,
                    purpose: KeyEvent.authorization, publicKey: key.publicKey,
                    rotationHash: Derivations.standard.rotationHash(of: next.publicKey)))
            return try SignedMessage(payload, signedBy: key)
        }
        // Its name is the digest of its text, in which anything may stand in the name's place.
        let blank = try #require(DigestText("EGQ3s6w4RlEz_7Y7dSc6jbVIxVhGXXnbA_01nGzVvZ2F"))
        let text = try event(blank).digestInput
        self.key = key
        self.event = try event(unsafe DigestText(blake3: text.span.bytes))
    }

    /// What programs are given.
    var identity: DigestText { event.payload.id }

    /// The list that the key service publishes.
    var events: [UInt8] { Array("[".utf8) + event.bytes + Array("]".utf8) }

    /// - Parameter name: Under which the record is found; that of the key, but for a service that lies.
    mutating func endorse(_ key: PublicKeyText, as name: PublicKeyText? = nil) throws {
        let record = try Endorsement(
            purpose: .response, publicKey: key, expiration: #require(Timestamp.now.adding(milliseconds: 3_600_000)),
            hsm: identity, generation: identity)
        records["\(name ?? key)"] = try SignedMessage(record, signedBy: self.key).bytes
    }
}
