internal import BetterAuthMessages
internal import BetterAuthServer
internal import CommandLineArguments
internal import SystemCalls

/// The chain of keys that endorses the keys of servers (protocol.md 10.3): its events and its private keys in a folder.
///
/// `keys` has the key of each event, and of the one to come, under its number; `events` is public. A new key is kept
/// before the event that commits to it is written, so that a chain never commits to a key that is lost. `endorsed` has
/// the keys of servers that the chain has endorsed, and is made before the first event. One process at a time has the
/// folder.
struct KeyChainFolder {
    private let folder: String
    private(set) var events: [SignedKeyEvent]
    /// The list of all events: what `events` has, and the answer to `GET /hsm/keys`.
    private(set) var published: [UInt8] = []
    /// Bytes that it can have: everybody who verifies the chain reads all of it.
    var largest = MessageLimits.keyList
    private var keys: KeySchedule
    private let spare: KeySchedule
    private let lineage: KeyLineage
    private let file: KeyFile
    private var endorsed: EndorsedKeys
    private var holder: Holder?

    /// Opens a folder with a chain.
    /// - Throws: ``UsageError`` where there is none: another one would be a stranger to all who trust the first.
    init(_ folder: String, _ protection: KeyProtection) throws {
        guard KeyChainFolder.hasChain(folder) else {
            guard !KeyChainFolder.has(folder, "/keys") else { throw KeyChainFolder.lostEvents(folder) }
            throw UsageError("\(folder) has no key chain; holdfast-server init-chain makes one", mayPass: true)
        }
        let file = KeyFile(folder + "/keys", protection)
        try self.init(folder, file, file.load(responseLifetime: .max / 4, accessLifetime: .max / 4))
        guard !events.isEmpty, key(events.count - 1) != nil, key(events.count) != nil else {
            throw UsageError("\(folder): the keys are not those of the events")
        }
        // Earlier programs made none before the first key that they endorsed.
        guard events.count == 1 || KeyChainFolder.has(folder, "/endorsed") else {
            throw KeyChainFolder.lostEndorsed(folder)
        }
    }

    /// Opens a folder for the process that keeps the chain, which has it until it ends.
    static func held(_ folder: String, _ protection: KeyProtection) throws -> KeyChainFolder {
        guard has(folder, "") else { return try KeyChainFolder(folder, protection) }
        // In an upgrade the one before it may be at its last request.
        let lock = try lock(folder, waits: true)
        var chain = try KeyChainFolder(folder, protection)
        chain.holder = Holder(lock)
        return chain
    }

    private final class Holder: Sendable {
        private let lock: OwnedDescriptor
        init(_ lock: consuming OwnedDescriptor) { self.lock = lock }
        deinit { flock(lock.number, LOCK_UN) }
    }

    /// Begins a chain in a folder that has none, and makes the folder where it is not there.
    /// - Returns: The chain of the folder, and whether it is new.
    static func make(
        _ folder: String, _ protection: KeyProtection, now: Timestamp
    ) throws -> (chain: KeyChainFolder, isNew: Bool) {
        guard !hasChain(folder) else { return (try KeyChainFolder(folder, protection), false) }
        let isNew = unsafe mkdir(folder, 0o700) == 0
        guard isNew || errno == EEXIST else { throw UsageError("\(folder): \(SystemError.last)", mayPass: true) }
        // Of several that begin one at the same time one does: an identity that is printed is that of the chain.
        let lock = try lock(folder, waits: false)
        defer { flock(lock.number, LOCK_UN) }
        guard !hasChain(folder) else { return (try KeyChainFolder(folder, protection), false) }
        guard !has(folder, "/keys") else { throw lostEvents(folder) }
        let hasEndorsed = has(folder, "/endorsed")
        let file = KeyFile(folder + "/keys", protection)
        // The first key has the number 0 in the place of a moment.
        do {
            let kept = try file.loadOrCreate(
                responseLifetime: .max / 4, accessLifetime: .max / 4, usedFrom: .never
            ).keys
            var chain = try KeyChainFolder(folder, file, kept)
            try chain.append(now: now)
            return (chain, true)
        } catch {
            // Keys that nothing was signed with yet.
            if !hasChain(folder) {
                if !hasEndorsed { unsafe unlink(folder + "/endorsed") }
                unsafe unlink(folder + "/keys")
                if isNew { unsafe rmdir(folder) }
            }
            throw error
        }
    }

    /// Takes the folder for this process.
    /// - Throws: ``UsageError`` when another process has it.
    static func lock(_ folder: String, waits: Bool) throws(UsageError) -> OwnedDescriptor {
        do throws(SystemError) { return try FolderLock.acquire(folder, waits: waits) } catch {
            guard error.number == EWOULDBLOCK else { throw UsageError("\(folder): \(error)", mayPass: true) }
            throw UsageError("\(folder): another process has this key chain", mayPass: true)
        }
    }

    /// Another chain would be a stranger to everyone who trusts the one that these keys are of.
    private static func lostEvents(_ folder: String) -> UsageError {
        UsageError(
            "\(folder) has the keys of a chain, but not its events. They are public: put them back into \(folder)/events "
                + "(GET /hsm/keys of the key service). If nothing trusts this chain yet, remove the folder",
            mayPass: true)
    }

    /// Keys that a tainted generation has endorsed would be endorsed again.
    private static func lostEndorsed(_ folder: String) -> UsageError {
        UsageError(
            "\(folder) has a chain, but not the keys that it has endorsed, and would endorse tainted ones again: put a copy "
                + "of \(folder)/endorsed back. If there is none, begin another chain with holdfast-server init-chain, and "
                + "have programs trust it",
            mayPass: true)
    }

    private init(_ folder: String, _ file: KeyFile, _ kept: ServerKeys) throws {
        self.folder = folder
        endorsed = try EndorsedKeys(folder + "/endorsed", isThere: KeyChainFolder.has(folder, "/endorsed"))
        self.file = file
        (keys, spare) = kept.schedulesForKeeping
        lineage = kept.lineage
        events = []
        guard KeyChainFolder.hasChain(folder) else { return }
        let text = Array(try TextFile.read(folder + "/events", most: MessageLimits.keyList).utf8)
        do {
            events = try unsafe KeyEventList(parsing: text.span.bytes).events
            published = try KeyEventList.bytes(of: events)
        } catch {
            throw UsageError(
                "\(folder)/events is damaged; put a copy of it back (GET /hsm/keys of the key service)")
        }
    }

    /// Whether its files are there still.
    var isThere: Bool { unsafe access(folder + "/events", R_OK) == 0 && access(folder + "/keys", R_OK) == 0 }

    private static func hasChain(_ folder: String) -> Bool { has(folder, "/events") }

    private static func has(_ folder: String, _ name: String) -> Bool { unsafe access(folder + name, F_OK) == 0 }

    /// What programs are told to trust.
    var identity: DigestText { events[0].payload.id }

    private func key(_ number: Int) -> ServerKey? {
        keys.entries.first { $0.usedFrom.milliseconds == Int64(number) }?.key
    }

    private mutating func keep(_ number: Int) throws -> ServerKey {
        if let known = key(number) { return known }
        let made = try ServerKey.generate()
        var changed = keys
        changed.add(made, usedFrom: Timestamp(clamping: Int64(number)), now: .never)
        // Keys of long ago sign nothing any more.
        let young = changed.entries.suffix(8)
        if let schedule = KeySchedule(Array(young), lifetime: .max / 4) { changed = schedule }
        // One that could not be written is not known: a later event must not commit to it.
        try file.save(ServerKeys(response: changed, access: spare, lineage: lineage))
        keys = changed
        return made
    }

    /// Bytes of the list that only taints use: keys that were compromised do not wait for another chain.
    private static let keptForTaints = 65_536
    /// More than an event has.
    private static let largestEvent = 1024

    private func bytesLeft(forTaint: Bool) -> Int {
        largest - published.count - (forTaint ? 0 : KeyChainFolder.keptForTaints)
    }

    /// How often the chain can be rotated still.
    var room: Int {
        let left = max(0, bytesLeft(forTaint: false) - KeyChainFolder.largestEvent)
        return left / max(1, published.count / max(1, events.count))
    }

    /// Keys of servers that it can endorse still.
    var endorsementRoom: Int { endorsed.room }

    /// Whether its newest event lies in the future, so that nobody can verify it: a clock was wrong.
    func isAhead(of now: Timestamp) -> Bool {
        events.last?.payload.createdAt.isAhead(of: now) ?? false
    }

    /// The next event: another key comes into use.
    /// - Parameter kept: Nil for a rotation. For a taint, by which what the key before has signed counts no longer, the
    ///   keys of servers that may be endorsed again.
    /// - Throws: ``UsageError`` where there is no room for it; then nothing was changed.
    mutating func append(taintingAllBut kept: Set<PublicKeyText>? = nil, now: Timestamp) throws {
        guard bytesLeft(forTaint: kept != nil) >= KeyChainFolder.largestEvent else {
            throw UsageError(
                "\(folder): the key chain is full; begin another one with holdfast-server init-chain, and have programs "
                    + "trust it")
        }
        guard !isAhead(of: now) else {
            throw UsageError(
                "\(folder): the newest event of the key chain lies in the future, and nobody verifies it: set the clock, "
                    + "or put the events from before it back into \(folder)/events (GET /hsm/keys of the key service)",
                mayPass: true)
        }
        // First: an event without it would bring them back.
        if let kept {
            try endorsed.taint(except: kept)
        } else if !KeyChainFolder.has(folder, "/endorsed") {
            try endorsed.keep()
        }
        let taintPrevious = kept != nil
        let number = events.count
        let signer = try keep(number)
        let next = try keep(number + 1)
        let previous = events.last?.payload
        // Strictly later than the one before, whatever the clock says.
        let created = max(now, previous?.createdAt.adding(milliseconds: 1) ?? now)
        func event(_ id: DigestText, _ prefix: DigestText) throws -> KeyEvent {
            let made = KeyEvent(
                id: id, prefix: prefix, sequenceNumber: UInt64(number), previous: previous?.id, createdAt: created,
                taintPrevious: taintPrevious, purpose: KeyEvent.authorization, publicKey: signer.publicKey,
                rotationHash: Derivations.server.rotationHash(of: next.publicKey))
            guard let made else { throw UsageError("\(folder): the chain is too long") }
            return made
        }
        let blank = Derivations.server.rotationHash(of: next.publicKey).digest
        let draft = try SignedMessage(event(blank, events.first?.payload.id ?? blank)) { try signer.sign($0) }
        let text = draft.digestInput
        let id = OperationKey(path: "", body: text).digest
        let final = try SignedMessage(event(id, events.first?.payload.id ?? id)) { try signer.sign($0) }
        let all = events + [final]
        let list = try KeyEventList.bytes(of: all)
        try TextFile.replace(folder + "/events", list, most: MessageLimits.keyList)
        (events, published) = (all, list)
    }

    /// Vouches for a server's key.
    /// - Returns: Nil for a key that a tainted generation has endorsed.
    mutating func endorse(
        _ key: PublicKeyText, _ purpose: Endorsement.Purpose, until expiration: Timestamp
    ) throws -> SignedEndorsement? {
        guard !endorsed.isTainted(key) else { return nil }
        try endorsed.remember(key)
        guard let last = events.last, let signer = self.key(events.count - 1) else {
            throw UsageError("\(folder): the key is missing")
        }
        let record = Endorsement(
            purpose: purpose, publicKey: key, expiration: expiration, hsm: identity, generation: last.payload.id)
        return try SignedMessage(record) { try signer.sign($0) }
    }
}
