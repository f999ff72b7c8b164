internal import VaultFormat

/// One segment, read with the log's root key: every entry is proved, and where it is not as it was written is told.
struct LogReader {
    let vault: VaultID
    let front: LogFront
    private(set) var entries: [(index: UInt64, entry: LogEntry)] = []
    private(set) var findings: [SecurityLogFinding] = []
    /// The index behind the last entry that was found right.
    private(set) var end: UInt64
    /// Bytes behind the last entry that are no entry.
    private(set) var rest = 0
    /// Tries to find an entry at a place where none must be; somebody could make a file of nothing but false ones.
    private var budget = 20_000

    /// Reads a whole segment.
    /// - Parameters:
    ///   - bytes: The file.
    ///   - root: The keybag's log key.
    ///   - link: Which segment it must be where its front cannot be read.
    /// - Returns: Nil when there is no front, and no link to take its place.
    init?(_ bytes: [UInt8], root: RawSpan, vault: VaultID, link: LogLink? = nil) throws(VaultError) {
        var damage: SecurityLogFinding?
        if let front = LogSegment.front(of: bytes), front.vault == vault {
            self.front = front
        } else if let link {
            front = LogFront(vault: vault, chain: link.chain, first: link.first)
            damage = SecurityLogFinding(.changed, at: link.first, "the front of a segment was changed")
        } else {
            return nil
        }
        self.vault = vault
        end = front.first
        if let damage { findings.append(damage) }
        var key = try LogKey(root: root, vault: vault, chain: front.chain)
        try key.evolve(by: front.first)
        try bytes.withRawSpan { bytes throws(VaultError) in try read(bytes, &key) }
    }

    /// `key` is that of the entry ``end``.
    private mutating func read(_ bytes: RawSpan, _ key: inout LogKey) throws(VaultError) {
        var offset = LogFormat.slotSize
        while offset < bytes.byteCount {
            if let entry = open(bytes, at: offset, index: end, key) {
                try take(entry, &key)
                offset += LogFormat.slotSize
            } else if let place = try findNext(bytes, from: offset, key) {
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

    private mutating func take(_ entry: LogEntry, _ key: inout LogKey) throws(VaultError) {
        entries.append((end, entry))
        end += 1
        try key.evolve()
    }

    private func open(_ bytes: RawSpan, at offset: Int, index: UInt64, _ key: borrowing LogKey) -> LogEntry? {
        guard offset >= 0, bytes.byteCount - offset >= LogFormat.slotSize else { return nil }
        let slot = bytes.extracting(offset..<offset + LogFormat.slotSize)
        return key.open(slot, at: index, vault: vault, chain: front.chain)
    }

    /// Where an entry was found that is not the next one in its place.
    private struct Place {
        let offset: Int
        let index: UInt64
    }

    /// The next entry that proves itself, at any place behind `offset`: first at those of whole slots, then at any.
    private mutating func findNext(
        _ bytes: RawSpan, from offset: Int, _ key: borrowing LogKey
    ) throws(VaultError) -> Place? {
        for step in [LogFormat.slotSize, 1] {
            for place in stride(from: offset, to: bytes.byteCount - LogFormat.slotSize + 1, by: step) {
                guard let index = bytes.integer(at: place, as: UInt64.self), index >= end,
                    index - front.first < LogFormat.entriesPerSegment
                else { continue }
                guard budget > 0 else { return nil }
                budget -= 1
                var later = try key.copy()
                try later.evolve(by: index - end)
                if open(bytes, at: place, index: index, later) != nil { return Place(offset: place, index: index) }
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
