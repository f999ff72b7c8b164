package import BetterAuthMessages
package import Cryptography
internal import Synchronization

/// The keys of a server: those that sign its responses and those that sign access tokens.
package final class ServerKeys: Sendable {
    private struct Schedules {
        var response: KeySchedule
        var access: KeySchedule
        var lineage: KeyLineage
        /// In the order of their use; the last one is in use.
        var audit: [AuditKey]
        /// Keys that verifiers can learn; nil where that is not known.
        var readable: Set<PublicKeyText>?

        func isReadable(_ key: PublicKeyText) -> Bool { readable?.contains(key) ?? true }
    }

    private let schedules: Mutex<Schedules>

    /// Keys of a lineage.
    package init(response: KeySchedule, access: KeySchedule, lineage: KeyLineage, audit: [AuditKey] = []) {
        schedules = Mutex(Schedules(response: response, access: access, lineage: lineage, audit: audit))
    }

    /// Keys of the audit log: those that lines were written with, in the order of their use.
    package var auditKeys: [AuditKey] { schedules.withLock { $0.audit } }

    /// Puts a new key of the audit log into use. Those before are kept, for what was written with them.
    /// - Throws: ``Cryptography/CryptographyError``.
    package func addAuditKey() throws(CryptographyError) {
        let key = try AuditKey.generate()
        schedules.withLock { $0.audit = $0.audit.suffix(KeyRoom.mostOfAudit - 1) + [key] }
    }

    /// Keys that are nobody's successors.
    package convenience init(response: KeySchedule, access: KeySchedule) {
        self.init(response: response, access: access, lineage: .fresh())
    }

    /// Whose successors they are.
    package var lineage: KeyLineage { schedules.withLock { $0.lineage } }

    /// The key that signs responses now.
    package func responseKey(now: Timestamp) -> ServerKey {
        schedules.withLock { $0.response.current(now: now, where: $0.isReadable) }
    }

    /// The key that signs access tokens now.
    package func accessKey(now: Timestamp) -> ServerKey {
        schedules.withLock { $0.access.current(now: now, where: $0.isReadable) }
    }

    /// Says which keys verifiers can learn: a new key signs when it is among them, and the one before meanwhile.
    package func limit(to readable: Set<PublicKeyText>) { schedules.withLock { $0.readable = readable } }

    /// What verifies an access key's signatures; nil when no such key is published.
    package func verifier(ofAccessKey key: PublicKeyText, now: Timestamp) -> P256PublicKey? {
        schedules.withLock { $0.access.published(key, now: now) }?.verifier
    }

    /// Every published key.
    package func published(
        now: Timestamp
    ) -> (response: [PublicKeyText], access: [PublicKeyText]) {
        schedules.withLock {
            ($0.response.published(now: now).map(\.publicKey), $0.access.published(now: now).map(\.publicKey))
        }
    }

    /// Both schedules, to be kept in a file.
    package var schedulesForKeeping: (response: KeySchedule, access: KeySchedule) {
        schedules.withLock { ($0.response, $0.access) }
    }

    /// Both schedules and the lineage that they are of.
    var ofOneMoment: (response: KeySchedule, access: KeySchedule, lineage: KeyLineage) {
        schedules.withLock { ($0.response, $0.access, $0.lineage) }
    }

    /// Takes another set over, as after its file was read again.
    package func adopt(_ other: ServerKeys) {
        let (response, access, lineage) = other.ofOneMoment
        let audit = other.auditKeys
        schedules.withLock {
            $0 = Schedules(
                response: response, access: access, lineage: lineage, audit: audit, readable: $0.readable)
        }
    }

    /// Publishes a new key for each purpose, to be used after a while: verifiers have to hear of it first.
    /// - Throws: ``Cryptography/CryptographyError``.
    package func rotate(now: Timestamp, publishedSeconds: Int64) throws(CryptographyError) {
        let (response, access) = (try ServerKey.generate(), try ServerKey.generate())
        let start = now.adding(seconds: publishedSeconds)
        schedules.withLock {
            $0.response.add(response, usedFrom: start, now: now)
            $0.access.add(access, usedFrom: start, now: now)
            $0.lineage.generation += 1
        }
    }

    /// Puts new keys in the place of all others, at once: nothing that an earlier key signed counts any more.
    /// - Throws: ``Cryptography/CryptographyError``.
    package func renounce(now: Timestamp) throws(CryptographyError) {
        let (response, access) = (try ServerKey.generate(), try ServerKey.generate())
        // Whoever has the file could write lines that look genuine, and find identities in those of later.
        if !auditKeys.isEmpty { try addAuditKey() }
        schedules.withLock {
            $0.response = KeySchedule(response, usedFrom: now, lifetime: $0.response.lifetime)
            $0.access = KeySchedule(access, usedFrom: now, lifetime: $0.access.lifetime)
            $0.lineage.generation += 1
        }
    }

    /// When the youngest key comes, or came, into use; ``BetterAuthMessages/Timestamp/never`` when that is not known.
    package var youngest: Timestamp { schedules.withLock { $0.response.entries.last?.usedFrom ?? .never } }
}
