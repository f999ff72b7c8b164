internal import BetterAuthMessages
internal import BetterAuthServer
internal import CommandLineArguments
internal import SystemCalls

/// The chain of keys that endorses the keys of servers (protocol.md 10.3): its events and its private keys in a folder.
///
/// `keys` has the key of each event, and of the one to come, under its number; `events` is public. A new key is kept
/// before the event that commits to it is written, so that a chain never commits to a key that is lost.
struct KeyChainFolder {
    private let folder: String
    private(set) var events: [SignedKeyEvent]
    private var keys: KeySchedule
    private let spare: KeySchedule
    private let lineage: KeyLineage
    private let file: KeyFile

    /// Opens a folder, and begins a chain in it where there is none; the folder is made where it is not there.
    init(_ folder: String, _ protection: KeyProtection, now: Timestamp) throws {
        self.folder = folder
        guard unsafe mkdir(folder, 0o700) == 0 || errno == EEXIST else {
            throw UsageError("\(folder): \(SystemError.last)")
        }
        file = KeyFile(folder + "/keys", protection)
        let kept = try file.loadOrCreate(responseLifetime: .max / 4, accessLifetime: .max / 4).keys
        (keys, spare) = kept.schedulesForKeeping
        lineage = kept.lineage
        events = []
        if unsafe access(folder + "/events", F_OK) == 0 {
            let text = Array(try TextFile.read(folder + "/events").utf8)
            events = try unsafe KeyEventList(parsing: text.span.bytes).events
        }
        if events.isEmpty { try append(taintPrevious: false, now: now) }
        guard key(events.count - 1) != nil, key(events.count) != nil else {
            throw UsageError("\(folder): the keys are not those of the events")
        }
    }

    /// What programs are told to trust.
    var identity: DigestText { events[0].payload.id }

    private func key(_ number: Int) -> ServerKey? {
        keys.entries.first { $0.usedFrom.milliseconds == Int64(number) }?.key
    }

    private mutating func keep(_ number: Int) throws -> ServerKey {
        if let known = key(number) { return known }
        let made = try ServerKey.generate()
        keys.add(made, usedFrom: Timestamp(clamping: Int64(number)), now: .never)
        // Keys of long ago sign nothing any more.
        let young = keys.entries.suffix(8)
        guard let schedule = KeySchedule(Array(young), lifetime: .max / 4) else { return made }
        keys = schedule
        try file.save(ServerKeys(response: keys, access: spare, lineage: lineage))
        return made
    }

    /// The next event: another key comes into use.
    /// - Parameter taintPrevious: Whether what the key before has signed counts no longer.
    mutating func append(taintPrevious: Bool, now: Timestamp) throws {
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
        try TextFile.replace(folder + "/events", KeyChainFolder.list(all))
        events = all
    }

    /// Vouches for a server's key.
    func endorse(
        _ key: PublicKeyText, _ purpose: Endorsement.Purpose, until expiration: Timestamp
    ) throws -> SignedEndorsement {
        guard let last = events.last, let signer = self.key(events.count - 1) else {
            throw UsageError("\(folder): the key is missing")
        }
        let record = Endorsement(
            purpose: purpose, publicKey: key, expiration: expiration, hsm: identity, generation: last.payload.id)
        return try SignedMessage(record) { try signer.sign($0) }
    }

    /// The answer to `GET /hsm/keys`.
    var published: [UInt8] { KeyChainFolder.list(events) }

    private static func list(_ events: [SignedKeyEvent]) -> [UInt8] {
        [UInt8(ascii: "[")] + Array(events.map(\.bytes).joined(separator: [UInt8(ascii: ",")])) + [UInt8(ascii: "]")]
    }
}
