package import BetterAuthMessages
package import Cryptography
internal import Synchronization

/// The keys of a server: those that sign its responses and those that sign access tokens.
package final class ServerKeys: Sendable {
    private struct Schedules {
        var response: KeySchedule
        var access: KeySchedule
    }

    private let schedules: Mutex<Schedules>

    package init(response: KeySchedule, access: KeySchedule) {
        schedules = Mutex(Schedules(response: response, access: access))
    }

    /// The key that signs responses now.
    package func responseKey(now: Timestamp) -> ServerKey { schedules.withLock { $0.response.current(now: now) } }

    /// The key that signs access tokens now.
    package func accessKey(now: Timestamp) -> ServerKey { schedules.withLock { $0.access.current(now: now) } }

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
    var schedulesForKeeping: (response: KeySchedule, access: KeySchedule) {
        schedules.withLock { ($0.response, $0.access) }
    }

    /// Takes another set over, as after its file was read again.
    package func adopt(_ other: ServerKeys) {
        let (response, access) = other.schedulesForKeeping
        replace(response: response, access: access)
    }

    /// Publishes a new key for each purpose, to be used after a while: verifiers have to hear of it first.
    /// - Throws: ``Cryptography/CryptographyError``.
    package func rotate(now: Timestamp, publishedSeconds: Int64) throws(CryptographyError) {
        let (response, access) = (try ServerKey.generate(), try ServerKey.generate())
        let start = now.adding(seconds: publishedSeconds)
        schedules.withLock {
            $0.response.add(response, usedFrom: start, now: now)
            $0.access.add(access, usedFrom: start, now: now)
        }
    }

    /// When the youngest key comes, or came, into use.
    package var youngest: Timestamp { schedules.withLock { $0.response.entries.last?.usedFrom ?? .never } }

    /// Replaces the schedules, after keys were added to them.
    package func replace(response: KeySchedule, access: KeySchedule) {
        schedules.withLock { $0 = Schedules(response: response, access: access) }
    }
}
