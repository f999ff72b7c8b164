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

    /// Replaces the schedules, after keys were added to them.
    package func replace(response: KeySchedule, access: KeySchedule) {
        schedules.withLock { $0 = Schedules(response: response, access: access) }
    }
}
