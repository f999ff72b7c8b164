internal import Cryptography
internal import ProgramProtocols
internal import ProgramAccess
internal import SecretMemory
internal import VaultCore
internal import VaultStorage
internal import SystemCalls

/// The agent's second socket, which speaks the protocol of ssh-agent, and what SSH programs have put there. Keys go
/// with the vault's lock; what guards them goes with a lock that only the user opens again.
final class SSHEndpoint {
    /// Clients at once.
    static let connections = 64
    /// Keys that are added, at most, and public keys with a constraint.
    private static let mostKeys = 64
    /// Of these, those that forwarded hosts may bring.
    private static let mostOfHosts = 16
    /// Wrong passphrases after which only the vault's lock ends a lock of `ssh-add -x`.
    private static let mostWrong = 20

    let listener: Int32
    let path: String
    /// Its name in the agent's folder; nil for one that the service manager has made.
    let socketName: String?
    var clients: [UInt64: SSHConnection] = [:]
    private var added: [Added] = []
    /// What public keys were added with. It holds for whatever has the key, an item too, also when what was added is
    /// gone.
    private var bound: [[UInt8]: Bound] = [:]
    private var passphrase: Passphrase?
    private var wrong = 0

    private struct Added {
        let key: SSHKey
        /// ms of the agent's clock.
        let expires: UInt64?
        /// Whether a forwarded host brought it.
        let isOfHost: Bool
    }

    private struct Bound {
        /// Whether each use is asked for.
        var needsConfirmation: Bool
        let destinations: [SSHDestination]
        /// Whether a forwarded host brought it, and the user nothing of this key.
        let isOfHost: Bool

        var isFree: Bool { !needsConfirmation && destinations.isEmpty }
    }

    /// A passphrase that can be recognised, and not read: it may be kept over a lock.
    private struct Passphrase: ~Copyable {
        private let key: SecretBytes
        private let digest: Digest

        init(_ text: RawSpan) throws(CryptographyError) {
            let made = try SecureRandom.secret(32, lifetime: .longLived)
            digest = try HMACSHA256.authenticate(text, key: made)
            key = made
        }

        borrowing func matches(_ text: RawSpan) -> Bool {
            digest.withBytes { HMACSHA256.isValid($0, for: text, key: key) }
        }
    }

    init(listener: Int32, path: String, socketName: String?) {
        self.listener = listener
        self.path = path
        self.socketName = socketName
    }

    deinit { close(listener) }

    var isPassed: Bool { socketName == nil }

    var isLocked: Bool { passphrase != nil }

    /// Keys that were added, have not expired, and are for the place that asks.
    func keys(now: UInt64, for sessions: SSHSessions) -> [SSHKey] {
        expire(now: now)
        return added.filter { sessions.shows(bound[$0.key.blob]?.destinations ?? []) }.map(\.key)
    }

    /// Public keys that are not for the place that asks, whatever has them.
    func hidden(for sessions: SSHSessions) -> Set<[UInt8]> {
        Set(bound.filter { !sessions.shows($0.value.destinations) }.keys)
    }

    /// Whether a key may sign these bytes. One without a constraint may.
    /// - Parameter name: The key or the certificate that the request names.
    func allows(_ blob: [UInt8], named name: [UInt8], to sign: RawSpan, for sessions: SSHSessions) -> Bool {
        guard let destinations = bound[blob]?.destinations, !destinations.isEmpty else { return true }
        return sessions.allows(destinations, try? SSHLogin(parsing: sign, key: name))
    }

    /// Whether each use of a key is asked for.
    func needsConfirmation(_ blob: [UInt8]) -> Bool { bound[blob]?.needsConfirmation ?? false }

    /// When the next one expires.
    var due: UInt64? { added.compactMap(\.expires).min() }

    func expire(now: UInt64) { added.removeAll { one in one.expires.map { $0 <= now } ?? false } }

    /// - Parameter isForwarded: A host asks. It may take from what the key can be used for, and give nothing.
    /// - Returns: False when there are too many, and for a key that is there and not for the place that asks; then
    ///   nothing has changed.
    func add(
        _ key: SSHKey, _ constraints: SSHAgentRequest.Constraints, for sessions: SSHSessions, isForwarded: Bool,
        now: UInt64
    ) -> Bool {
        expire(now: now)
        guard !hidden(for: sessions).contains(key.blob) else { return false }
        var expires = constraints.lifetime.map { now + UInt64($0) * 1000 }
        let (old, before) = (added.first { $0.key.listed == key.listed }, bound[key.blob])
        var next = Bound(
            needsConfirmation: constraints.needsConfirmation, destinations: constraints.destinations,
            isOfHost: isForwarded && before?.isOfHost ?? true)
        if isForwarded {
            // Two lists of hosts cannot be made one that is no longer than each.
            guard before.map({ $0.destinations.isEmpty || $0.destinations == next.destinations }) ?? true else {
                return false
            }
            next.needsConfirmation = next.needsConfirmation || before?.needsConfirmation ?? false
            expires = [expires, old?.expires].compactMap(\.self).min()
        }
        guard old != nil || hasRoom(added.map(\.isOfHost), isForwarded),
            next.isFree || before != nil || hasRoom(bound.values.map(\.isOfHost), isForwarded)
        else { return false }
        bound[key.blob] = next.isFree ? nil : next
        added.removeAll { $0.key.listed == key.listed }
        added.append(Added(key: key, expires: expires, isOfHost: isForwarded && old?.isOfHost ?? true))
        return true
    }

    /// What hosts bring leaves room for what the user adds.
    private func hasRoom(_ areOfHosts: [Bool], _ isForwarded: Bool) -> Bool {
        areOfHosts.count < SSHEndpoint.mostKeys
            && !(isForwarded && areOfHosts.count(where: \.self) >= SSHEndpoint.mostOfHosts)
    }

    /// Removes an added key or certificate, and the constraints of its key if the user asks and nothing else that was
    /// added has it.
    ///
    /// - Parameter isForwarded: Whether the request comes from a forwarded host. Such a host removes no constraint, and
    ///   no key that is for certain hosts.
    /// - Returns: Whether something was removed.
    func remove(_ listed: [UInt8], isForwarded: Bool) -> Bool {
        let before = added.count
        added.removeAll { $0.key.listed == listed && !(isForwarded && isForHosts($0)) }
        let plain = SSHPublicKey.plain(listed)
        let isUsed = added.contains { $0.key.blob == plain }
        let isFreed = !isForwarded && !isUsed && bound.removeValue(forKey: plain) != nil
        return isFreed || added.count < before
    }

    /// As ``remove(_:isForwarded:)``.
    func removeAll(isForwarded: Bool) {
        added.removeAll { !(isForwarded && isForHosts($0)) }
        if !isForwarded { bound = [:] }
    }

    private func isForHosts(_ one: Added) -> Bool { !(bound[one.key.blob]?.destinations ?? []).isEmpty }

    /// `ssh-add -x`. - Returns: False when it is locked already.
    func lock(_ given: RawSpan) -> Bool {
        guard passphrase == nil, let next = try? Passphrase(given) else { return false }
        passphrase = consume next
        wrong = 0
        return true
    }

    /// `ssh-add -X`.
    func unlock(_ given: RawSpan) -> Bool {
        guard wrong < SSHEndpoint.mostWrong, let kept = passphrase.take() else { return false }
        if kept.matches(given) { return true }
        wrong += 1
        passphrase = consume kept
        return false
    }

    /// The vault locks: the keys that SSH programs have put here go.
    /// - Parameter keepingGuards: Whether what they may be used for stays, and the lock of `ssh-add -x`. No secret is
    ///   in either.
    func forget(keepingGuards: Bool) {
        added = []
        guard !keepingGuards else { return }
        bound = [:]
        passphrase = nil
        wrong = 0
    }
}
