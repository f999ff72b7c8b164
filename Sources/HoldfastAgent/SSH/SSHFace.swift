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
    let socketName: String
    var clients: [UInt64: SSHConnection] = [:]
    private var added: [Added] = []
    private var passphrase: SecretBytes?
    private var wrong = 0

    private struct Added {
        let key: SSHKey
        /// Whether each use is asked for.
        let needsConfirmation: Bool
        /// ms of the agent's clock.
        let expires: UInt64?
    }

    init(listener: Int32, path: String, socketName: String) {
        self.listener = listener
        self.path = path
        self.socketName = socketName
    }

    deinit { close(listener) }

    var isLocked: Bool { passphrase != nil }

    /// Keys that were added and have not expired.
    func keys(now: UInt64) -> [SSHKey] {
        expire(now: now)
        return added.map(\.key)
    }

    /// Those whose uses are asked for.
    var confirmed: Set<[UInt8]> { Set(added.filter(\.needsConfirmation).map(\.key.blob)) }

    /// When the next one expires.
    var due: UInt64? { added.compactMap(\.expires).min() }

    func expire(now: UInt64) { added.removeAll { $0.expires.map { $0 <= now } ?? false } }

    /// - Returns: False when there are too many.
    func add(_ key: SSHKey, lifetime: UInt32?, needsConfirmation: Bool, now: UInt64) -> Bool {
        expire(now: now)
        added.removeAll { $0.key.blob == key.blob }
        guard added.count < SSHFace.mostKeys else { return false }
        added.append(
            Added(
                key: key, needsConfirmation: needsConfirmation, expires: lifetime.map { now + UInt64($0) * 1000 }))
        return true
    }

    /// - Returns: Whether it was there.
    func remove(_ blob: [UInt8]) -> Bool {
        let before = added.count
        added.removeAll { $0.key.blob == blob }
        return added.count < before
    }

    func removeAll() { added = [] }

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
        passphrase = nil
        wrong = 0
    }
}
