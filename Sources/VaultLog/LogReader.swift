internal import VaultFormat
internal import VaultStorage

/// One segment, read with the log's keys: every entry is proved, and where it is not as it was written is told.
struct LogReader {
    let vault: VaultID
    let front: LogFront
    private let keys: LogEpochKey
    private(set) var entries: [(index: UInt64, entry: LogEntry)] = []
    private(set) var findings: [SecurityLogFinding] = []
    /// The index behind the last entry that was found right.
    private(set) var end: UInt64
    /// Bytes behind the last entry that are no entry.
    private(set) var rest = 0
    /// How often to look for an entry at a place where none should be; an attacker could craft a file of false ones
    /// only.
    private var budget = 20_000

    /// Reads a whole segment.
    /// - Parameters:
    ///   - bytes: The file.
    ///   - keys: Log keys of the keybag.
    ///   - link: Which segment it must be where its front cannot be read.
    ///   - epoch: Of the key that it must be written with where its front cannot be read; the newest is taken for nil.
    ///   - mayGoOn: Throws where the work is to end: a crafted file makes it long, and a lock does not wait for it.
    /// - Returns: Nil when there is no front and no link to take its place, and for an epoch whose key was forgotten.
    init?(
        _ bytes: [UInt8], keys: LogKeys, vault: VaultID, link: LogLink? = nil, epoch: UInt32? = nil,
        mayGoOn: () throws(VaultError) -> Void = {}
    ) throws(VaultError) {
        var damage: SecurityLogFinding?
        if let front = LogSegment.front(of: bytes), front.vault == vault, link == nil || keys[front.epoch] != nil {
            self.front = front
        } else if let link {
            front = LogFront(
                vault: vault, chain: link.chain, first: link.first, epoch: epoch ?? keys.newest.epoch)
            damage = SecurityLogFinding(.changed, at: link.first, "the front of a segment was changed")
        } else {
            return nil
        }
        guard let epochKey = keys[front.epoch] else { return nil }
        self.keys = epochKey
        self.vault = vault
        end = front.first
        if let damage { findings.append(damage) }
        var key = try epochKey.first(of: front.chain)
        try key.evolve(by: front.first)
        try bytes.withRawSpan { bytes throws(VaultError) in try read(bytes, &key, mayGoOn) }
    }

    /// `key` is that of the entry ``end``.
    private mutating func read(
        _ bytes: RawSpan, _ key: inout LogKey, _ mayGoOn: () throws(VaultError) -> Void
    ) throws(VaultError) {
        var offset = LogFormat.slotSize
        while offset < bytes.byteCount {
            try mayGoOn()
            if proves(bytes, at: offset, index: end, key) {
                try read(bytes.extracting(offset..<offset + LogFormat.slotSize), &key)
                offset += LogFormat.slotSize
            } else if let place = try findNext(bytes, from: offset, key, mayGoOn) {
                report(place, from: offset)
                try key.evolve(by: place.index - end)
                end = place.index
                offset = place.offset
            } else {
                rest = bytes.byteCount - offset
                return
            }
        }
    }

    private mutating func read(_ slot: RawSpan, _ key: inout LogKey) throws(VaultError) {
        if let entry = keys.open(slot, at: end, chain: front.chain) {
            entries.append((end, entry))
        } else {
            findings.append(
                SecurityLogFinding(.unreadable, at: end, "entry \(end) was not sealed to this vault's key"))
        }
        end += 1
        try key.evolve()
    }

    /// Whether the slot at this place was written for it.
    private func proves(_ bytes: RawSpan, at offset: Int, index: UInt64, _ key: borrowing LogKey) -> Bool {
        guard offset >= 0, bytes.byteCount - offset >= LogFormat.slotSize else { return false }
        let slot = bytes.extracting(offset..<offset + LogFormat.slotSize)
        return key.proves(slot, at: index, vault: vault, chain: front.chain)
    }

    /// Where an entry was found that is not the next one in its place.
    private struct Place {
        let offset: Int
        let index: UInt64
    }

    /// The next entry that proves itself, at any place behind `offset`: first at those of whole slots, then at any.
    private mutating func findNext(
        _ bytes: RawSpan, from offset: Int, _ key: borrowing LogKey, _ mayGoOn: () throws(VaultError) -> Void
    ) throws(VaultError) -> Place? {
        for step in [LogFormat.slotSize, 1] {
            for place in stride(from: offset, to: bytes.byteCount - LogFormat.slotSize + 1, by: step) {
                guard let index = bytes.integer(at: place, as: UInt64.self), index >= end,
                    index - front.first < LogFormat.entriesPerSegment
                else { continue }
                guard budget > 0 else { return nil }
                try mayGoOn()
                budget -= 1
                var later = try key.copy()
                try later.evolve(by: index - end)
                if proves(bytes, at: place, index: index, later) { return Place(offset: place, index: index) }
            }
        }
        return nil
    }

    private mutating func report(_ place: Place, from offset: Int) {
        let bytes = place.offset - offset
        let lost = place.index - end
        if bytes == 0 {
            findings.append(.missing(end, lost))
        } else if lost == 0 {
            findings.append(SecurityLogFinding(.inserted, at: end, "\(bytes) bytes were added before entry \(end)"))
        } else {
            findings.append(.changed(end, lost))
        }
    }
}
