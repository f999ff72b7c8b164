internal import FaceMessages
internal import Faces
internal import SecretMemory
internal import VaultCore
internal import VaultStorage
internal import SystemCalls

/// The agent's second socket, which speaks the protocol of ssh-agent, and what SSH programs have put there. All of that goes with
/// the vault's lock.
final class SSHFace {
    /// Clients at once.
    static let connections = 64
    /// Keys that are added, at most.
    private static let mostKeys = 64
    /// Wrong passphrases after which only the vault's lock ends a lock of `ssh-add -x`.
    private static let mostWrong = 20

    let listener: Int32
    let path: String
    /// Its name in the agent's folder; nil for one that the service manager has made.
    let socketName: String?
    var clients: [UInt64: SSHConnection] = [:]
    private var added: [Added] = []
    /// Hosts that keys were for whose time is over: an item with the same key stays held to them until the lock.
    private var outlived: [[UInt8]: [SSHDestination]] = [:]
    private var passphrase: SecretBytes?
    private var wrong = 0

    private struct Added {
        let key: SSHKey
        /// Whether each use is asked for.
        let needsConfirmation: Bool
        let destinations: [SSHDestination]
        /// ms of the agent's clock.
        let expires: UInt64?
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
        return added.filter { sessions.shows($0.destinations) }.map(\.key)
    }

    /// Public keys of those that are not. Where an item has one too, the constraint holds for both.
    func hidden(for sessions: SSHSessions) -> Set<[UInt8]> {
        Set(added.filter { !sessions.shows($0.destinations) }.map(\.key.blob))
            .union(outlived.filter { !sessions.shows($0.value) }.keys)
    }

    /// Whether a key may sign these bytes. One that was added without a constraint, or not at all, may.
    func allows(_ blob: [UInt8], to sign: RawSpan, for sessions: SSHSessions) -> Bool {
        let destinations = added.first { $0.key.blob == blob }?.destinations ?? outlived[blob] ?? []
        guard !destinations.isEmpty else { return true }
        return sessions.allows(destinations, try? SSHLogin(parsing: sign, key: blob))
    }

    /// Those whose uses are asked for.
    var confirmed: Set<[UInt8]> { Set(added.filter(\.needsConfirmation).map(\.key.blob)) }

    /// When the next one expires.
    var due: UInt64? { added.compactMap(\.expires).min() }

    func expire(now: UInt64) {
        let isOver = { (one: Added) in one.expires.map { $0 <= now } ?? false }
        for one in added where isOver(one) && !one.destinations.isEmpty { outlived[one.key.blob] = one.destinations }
        added.removeAll(where: isOver)
    }

    /// - Returns: False when there are too many, and for a key that is there and not for the place that asks.
    func add(_ key: SSHKey, _ constraints: SSHAgentRequest.Constraints, for sessions: SSHSessions, now: UInt64) -> Bool
    {
        expire(now: now)
        guard !hidden(for: sessions).contains(key.blob) else { return false }
        added.removeAll { $0.key.blob == key.blob }
        guard added.count < SSHFace.mostKeys, outlived.count < SSHFace.mostKeys else { return false }
        outlived[key.blob] = nil
        added.append(
            Added(
                key: key, needsConfirmation: constraints.needsConfirmation, destinations: constraints.destinations,
                expires: constraints.lifetime.map { now + UInt64($0) * 1000 }))
        return true
    }

    /// - Parameter isForwarded: A host asks. It could otherwise end what holds an item with the same key.
    /// - Returns: Whether it was there, and is gone.
    func remove(_ blob: [UInt8], isForwarded: Bool) -> Bool {
        let before = added.count
        added.removeAll { $0.key.blob == blob && !(isForwarded && !$0.destinations.isEmpty) }
        if !isForwarded { outlived[blob] = nil }
        return added.count < before
    }

    /// As ``remove(_:isForwarded:)``.
    func removeAll(isForwarded: Bool) {
        added.removeAll { !(isForwarded && !$0.destinations.isEmpty) }
        if !isForwarded { outlived = [:] }
    }

    /// `ssh-add -x`. - Returns: False when it is locked already.
    func lock(_ passphrase: consuming SecretBytes) -> Bool {
        guard self.passphrase == nil else { return false }
        self.passphrase = consume passphrase
        wrong = 0
        return true
    }

    /// `ssh-add -X`.
    func unlock(_ given: RawSpan) -> Bool {
        guard wrong < SSHFace.mostWrong, let kept = passphrase.take() else { return false }
        if kept.isEqual(to: given) { return true }
        wrong += 1
        passphrase = consume kept
        return false
    }

    /// Everything that SSH programs have put here.
    func forget() {
        added = []
        outlived = [:]
        passphrase = nil
        wrong = 0
    }
}
