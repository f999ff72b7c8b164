internal import Cryptography
package import BetterAuthMessages

/// The chain that endorses a deployment's keys, verified in full (protocol.md 10.4): every event of it, not only
/// those that are still of use, and also at the first load.
///
/// A value: how events come here is the business of ``EndorsedServerKeys``.
package struct KeyChain: Sendable {
    /// How long a generation's endorsements outlive it, in milliseconds: from the birth of its successor on.
    package enum Window {
        /// For verifying responses: 12 hours and a minute.
        package static let client: Int64 = (12 * 3600 + 60) * 1000
        /// For verifying access tokens: 12 hours and a quarter.
        package static let appServer: Int64 = (12 * 3600 + 900) * 1000
        /// For refreshing sessions: 24 hours.
        package static let authServer: Int64 = 24 * 3600 * 1000
    }

    private struct Generation {
        let key: VerificationKey
        /// The last moment of its endorsements; nil for the newest one.
        let expiry: Timestamp?
    }

    /// The id of the first event, which programs are given.
    package let identity: DigestText
    /// Those that may be used; a tainted one is not among them.
    private let generations: [DigestText: Generation]

    /// Verifies a chain. Chains of others in the list are passed over: what is wrong with them is not our business.
    /// - Parameters:
    ///   - list: What the key service answered.
    ///   - identity: The chain that the program trusts.
    ///   - window: See ``Window``.
    ///   - tolerance: Milliseconds that the clock of an event's author may be ahead.
    /// - Throws: ``KeyChainError/unknownChain``, ``KeyChainError/broken(sequenceNumber:_:)``.
    package init(
        _ list: KeyEventList, identity: DigestText, window: Int64, now: Timestamp,
        tolerance: Int64 = Timestamp.tolerance
    ) throws(KeyChainError) {
        let events = list.events.filter { $0.payload.prefix == identity }
            .sorted { $0.payload.sequenceNumber < $1.payload.sequenceNumber }
        guard !events.isEmpty else { throw .unknownChain }
        var keys: [VerificationKey] = []
        var previous: KeyEvent?
        for (number, event) in events.enumerated() {
            let number = UInt64(number)
            if let flaw = KeyChain.flaw(event.payload, behind: previous, number, identity, now, tolerance) {
                throw .broken(sequenceNumber: number, flaw)
            }
            let text = event.digestInput
            guard unsafe DigestText(blake3: text.span.bytes) == event.payload.id else {
                throw .broken(sequenceNumber: number, .id)
            }
            guard let key = try? VerificationKey(event.payload.publicKey), key.isValid(event) else {
                throw .broken(sequenceNumber: number, .signature)
            }
            keys.append(key)
            previous = event.payload
        }
        self.identity = identity
        generations = KeyChain.usable(events.map(\.payload), keys, window, now)
    }

    /// What is wrong with an event among its neighbours; nil when nothing is.
    private static func flaw(
        _ event: KeyEvent, behind previous: KeyEvent?, _ number: UInt64, _ identity: DigestText, _ now: Timestamp,
        _ tolerance: Int64
    ) -> KeyChainError.Flaw? {
        guard event.sequenceNumber == number else { return .sequence }
        guard event.purpose == KeyEvent.authorization else { return .purpose }
        guard event.createdAt.milliseconds <= now.milliseconds + tolerance else { return .time }
        guard let previous else { return event.id == identity ? nil : .id }
        guard event.previous == previous.id else { return .previous }
        guard Derivations.standard.rotationHash(of: event.publicKey) == previous.rotationHash else {
            return .commitment
        }
        return event.createdAt > previous.createdAt ? nil : .time
    }

    /// From the newest to the oldest: each but the newest ends a window after its successor was born, and none counts
    /// that its successor has tainted.
    private static func usable(
        _ events: [KeyEvent], _ keys: [VerificationKey], _ window: Int64, _ now: Timestamp
    ) -> [DigestText: Generation] {
        var usable: [DigestText: Generation] = [:]
        var expiry: Timestamp?
        var isTainted = false
        for (event, key) in zip(events, keys).reversed() {
            if let expiry, expiry < now { break }
            if !isTainted { usable[event.id] = Generation(key: key, expiry: expiry) }
            isTainted = event.taintPrevious
            expiry = event.createdAt.adding(milliseconds: window)
        }
        return usable
    }

    /// Whether this generation's endorsements may be believed at all.
    package func knows(_ generation: DigestText) -> Bool { generations[generation] != nil }

    /// Verifies the chain's word for a key.
    /// - Parameters:
    ///   - name: The key that was asked for; the record must be about this one.
    /// - Returns: The last moment at which it holds.
    /// - Throws: ``KeyChainError``.
    package func check(
        _ record: SignedEndorsement, of name: PublicKeyText, for purpose: Endorsement.Purpose, now: Timestamp
    ) throws(KeyChainError) -> Timestamp {
        let endorsement = record.payload
        guard endorsement.hsm == identity else { throw .otherChain }
        guard endorsement.publicKey == name else { throw .otherKey }
        guard let generation = generations[endorsement.generation], generation.expiry.map({ now <= $0 }) ?? true
        else { throw .invalidGeneration(endorsement.generation) }
        guard generation.key.isValid(record) else { throw .wrongSignature }
        guard endorsement.purpose == purpose else { throw .wrongPurpose }
        guard now <= endorsement.expiration else { throw .expired(endorsement.expiration) }
        return min(endorsement.expiration, generation.expiry ?? endorsement.expiration)
    }
}
