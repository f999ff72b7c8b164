internal import BetterAuthHTTP
internal import BetterAuthMessages
internal import BetterAuthServer
internal import CommandLineArguments
internal import Cryptography
internal import KeyStores
internal import SecretMemory
internal import Synchronization
internal import SystemCalls

/// The keys of a server, the file that they are in, and what the database knows of them: accounts are never served with
/// keys that clients have not learned.
final class KeyCustody: Sendable {
    let keys: ServerKeys
    private let file: KeyFile
    private let store: any ServerStore
    private let lifetimes: Lifetimes
    /// Of the file whose keys are in use.
    private let version: Mutex<[Int]?>
    /// Since when this process has had them, whatever the clock says.
    private let begun = MonotonicClock.seconds

    /// Why the keys are not those of the database.
    enum Problem: Error, CustomStringConvertible {
        case lost(String)
        case foreign(String)
        case older(String)

        var description: String {
            switch self {
            case .lost(let path): "\(path) does not exist, but the database has been served with keys before"
            case .foreign(let path): "\(path) has other keys than those the database has been served with"
            case .older(let path): "\(path) is an earlier copy: the keys have been rotated since"
            }
        }

        /// Why keys that stand so are not those of a mark; nil when they are.
        init?(_ standing: KeyStanding, _ path: String) {
            switch standing {
            case .same, .later: return nil
            case .earlier: self = .older(path)
            case .foreign: self = .foreign(path)
            }
        }
    }

    /// - Parameters:
    ///   - takesNewKeys: Whether keys that the database does not know are taken, and made where there are none.
    ///   - onNew: Called with the name of a file of keys that was made.
    init(
        _ file: KeyFile, of store: any ServerStore, _ lifetimes: Lifetimes, takesNewKeys: Bool,
        _ log: ServerLog, clock: any ServerClock = SystemClock(), onNew: (String) -> Void = { _ in }
    ) throws {
        self.file = file
        self.store = store
        self.lifetimes = lifetimes
        // Before it is read: what changes meanwhile is read again.
        let before = file.version
        let mark = try store.keyMark()
        keys = try KeyCustody.first(file, mark, store, lifetimes, takesNewKeys, log, clock.now, onNew)
        version = Mutex(before)
        try claim(over: mark, takesNewKeys, file)
    }

    /// The keys to begin with. New ones are made for a database that has never been served, or when that is wanted.
    private static func first(
        _ file: KeyFile, _ mark: KeyMark?, _ store: any ServerStore, _ lifetimes: Lifetimes, _ takesNewKeys: Bool,
        _ log: ServerLog, _ now: Timestamp, _ onNew: (String) -> Void
    ) throws -> ServerKeys {
        let isUsed = try mark != nil || !store.accounts(after: [], most: 1).isEmpty
        if isUsed && !takesNewKeys {
            do throws(KeyFile.Failure) { return try load(file, lifetimes) } catch {
                if case .missing(let path) = error { throw Problem.lost(path) }
                throw error
            }
        }
        let made = try file.loadOrCreate(
            responseLifetime: Serve.responseLifetime, accessLifetime: lifetimes.refresh * 1000,
            usedFrom: now)
        if made.isNew {
            log.write(.notice, "created", ["keys": .text(file.path)])
            onNew(file.path)
        }
        return made.keys
    }

    /// Has the database remember the keys.
    ///
    /// Who rotates writes the file first and the mark second. So the mark is read first and the file second: what the
    /// file does not have then, it has never had, or lost. The other way round, a rotation between the two reads would
    /// make the file look like an earlier copy.
    private func claim(over known: KeyMark?, _ takesNewKeys: Bool, _ file: KeyFile) throws {
        var known = known
        while known != keys.mark {
            let own = keys.mark
            if let known, !takesNewKeys, let problem = Problem(keys.standing(to: known), file.path) { throw problem }
            if try store.setKeyMark(own, over: known) { return }
            known = try store.keyMark()
            try adopt(file)
        }
    }

    /// Reads the file again when it has changed.
    /// - Returns: False when it is gone.
    @discardableResult
    private func adopt(_ file: KeyFile) throws -> Bool {
        guard let found = file.version else { return false }
        // A chip is not asked again for what has not changed.
        guard version.withLock({ $0 != found }) else { return true }
        let read = try KeyCustody.load(file, lifetimes)
        if let problem = Problem(read.standing(to: keys.mark), file.path) { throw problem }
        keys.adopt(read)
        version.withLock { $0 = found }
        return true
    }

    private static func load(_ file: KeyFile, _ lifetimes: Lifetimes) throws(KeyFile.Failure) -> ServerKeys {
        try file.load(responseLifetime: Serve.responseLifetime, accessLifetime: lifetimes.refresh * 1000)
    }

    /// Takes over how the file has changed, and compares it with the database.
    /// - Returns: What is wrong; nil when all is well.
    func examine() -> String? {
        do {
            // In the order of `claim`.
            let mark = try store.keyMark()
            guard try adopt(file) else { return "\(file.path) is gone" }
            guard let mark else { throw Problem.foreign(file.path) }
            let standing = keys.standing(to: mark)
            if let problem = Problem(standing, file.path) { throw problem }
            if standing == .later { _ = try store.setKeyMark(keys.mark, over: mark) }
            return nil
        } catch {
            return OperatorAdvice.line(for: error)
        }
    }

    /// The key that the audit log is written with. The first one is made, once for all processes with this file.
    func auditKey() throws -> AuditKey {
        if let known = keys.auditKeys.last { return known }
        let updated = try file.update(
            responseLifetime: Serve.responseLifetime, accessLifetime: lifetimes.refresh * 1000
        ) { found throws(CryptographyError) in
            guard found.auditKeys.isEmpty else { return false }
            try found.addAuditKey()
            return true
        }
        keys.adopt(updated)
        guard let made = keys.auditKeys.last else { throw KeyFile.Failure.damaged(file.path) }
        return made
    }

    /// The families of keys.
    func write(to text: inout MetricsText) {
        let mark = keys.mark
        text.family("holdfast_key_info", .gauge, "The keys: rotations since they were made, and which they are.")
        // Two copies of one file that were rotated apart have one generation, and different keys.
        let digest = mark.keys.map { String($0.description.prefix(12)) } ?? ""
        text.sample("holdfast_key_info", ["generation": "\(mark.generation)", "keys": digest], 1)
        if let youngest {
            text.gauge(
                "holdfast_key_timestamp_seconds", Double(youngest.milliseconds) / 1000,
                "When the youngest key comes, or came, into use, in seconds since 1970.")
        }
    }

    /// When the youngest key comes, or came, into use. Files made before that was written down have the moment at which
    /// they were last written.
    private var youngest: Timestamp? {
        let known = keys.youngest
        return known > .never ? known : file.changed
    }

    /// Whether the youngest key has been in use for so long. One from the future says nothing of its age, since a clock
    /// was wrong: it is as old as this process.
    private func isOld(_ seconds: Int64, _ publishedSeconds: Int64, _ now: Timestamp) -> Bool {
        guard let youngest else { return false }
        guard youngest > now.adding(seconds: max(publishedSeconds, KeyCustody.longestPublication)) else {
            return now > youngest.adding(seconds: seconds)
        }
        return MonotonicClock.seconds - begun > Double(seconds)
    }

    /// Seconds for which a key is published at the most before it signs.
    static let longestPublication: Int64 = 86_400

    /// Makes new keys when the youngest has been in use for so long. Of several servers with one file one does it.
    /// - Returns: Whether it was done here.
    func rotate(after seconds: Int64, publishedSeconds: Int64, now: Timestamp) throws(KeyFile.Failure) -> Bool {
        guard seconds > 0, isOld(seconds, publishedSeconds, now) else { return false }
        var isDone = false
        let updated = try file.update(
            responseLifetime: Serve.responseLifetime, accessLifetime: lifetimes.refresh * 1000
        ) { found throws(CryptographyError) in
            guard found.mark == keys.mark else { return false }
            try found.rotate(now: now, publishedSeconds: publishedSeconds)
            isDone = true
            return true
        }
        if isDone { keys.adopt(updated) }
        return isDone
    }
}

/// Where the private keys of a server rest: `--keys-in file|tpm`.
enum KeyPlace: String, CaseIterable {
    case file = "file", tpm = "tpm"

    /// What was asked for on the command line.
    /// - Parameter sealing: Whether to seal keys that are not sealed yet.
    static func protection(_ arguments: Arguments, sealing: Bool = false) throws(UsageError) -> KeyProtection {
        switch arguments[ServerOptions.keysIn].flatMap(KeyPlace.init) {
        case .file, nil: return .file
        case .tpm:
            guard let location = TPMLocation.standard else {
                throw UsageError("--keys-in tpm: this machine has no TPM 2.0; $HOLDFAST_TPM can name one")
            }
            let seal = ChipSeal(chip: TPMSealing(at: location))
            return sealing ? .toBeSealed(seal) : .sealed(seal)
        }
    }
}

/// Has the machine's TPM seal.
private struct ChipSeal: KeySeal {
    let chip: TPMSealing

    func seal(_ key: borrowing SecretBytes) throws -> [UInt8] { try chip.seal(key) }

    func unseal(_ object: [UInt8]) throws -> SecretBytes { try chip.unseal(object) }
}
