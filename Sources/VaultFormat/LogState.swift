/// One sector of `log.state`: which entry comes next, the key that will prove it, and the public key that it will be
/// sealed to.
///
/// The fields lie within 512 bytes, which a disk writes as a whole, in pages of their own. The key's place is left to
/// the caller, so that it never leaves locked memory.
package struct LogState: Sendable, Hashable {
    package static let size = 512
    /// Where the two sectors begin.
    package static let offsets: [UInt64] = [0, 4096]
    package static let keyRange = 64..<96
    /// The front and the checksum lie around what is covered.
    package static let coveredSize = size - LogFormat.checksumSize
    static let magic = Array("HFLOGKEY".utf8)
    private static let recipientOffset = 204

    package enum Kind: UInt8, Sendable, Hashable {
        /// The log continues with this key.
        case live = 1
        /// A backup: its log belongs to the vault it was copied from, and the key was left there.
        case backup = 2
        /// A home restored from a backup.
        case restored = 3
    }

    package var kind: Kind
    package var vault: VaultID
    package var chain: LogChain
    /// Index of the current segment's first entry.
    package var first: UInt64
    /// Index of the entry that is written next.
    package var next: UInt64
    /// Tag of the entry before, zeros when the segment has none yet.
    package var tail: [UInt8]
    /// The boot in which this was written.
    package var bootID: [UInt8]
    /// The current run, with its last event.
    package var run: Run?
    /// The public key that entries are sealed to; nil in a copy.
    package var recipient: Recipient?

    /// The public half of a log key. Nothing proves it while the vault is locked.
    package struct Recipient: Sendable, Hashable {
        /// Of the log key in the keybag.
        package let epoch: UInt32
        /// Compressed, ``LogFormat/pointSize`` bytes.
        package let point: [UInt8]

        package init(epoch: UInt32, point: [UInt8]) {
            self.epoch = epoch
            self.point = point
        }
    }

    /// Events that an entry is still owed for, at the latest when something else is written.
    package struct Run: Sendable, Hashable {
        package var run: LogRun
        package var kind: UnprovenEvent
        package var last: LogMoment

        package init(run: LogRun, kind: UnprovenEvent, last: LogMoment) {
            self.run = run
            self.kind = kind
            self.last = last
        }
    }

    package init(
        kind: Kind, vault: VaultID, chain: LogChain, first: UInt64, next: UInt64, bootID: [UInt8],
        recipient: Recipient? = nil
    ) {
        self.kind = kind
        self.vault = vault
        self.chain = chain
        self.first = first
        self.next = next
        self.bootID = bootID
        self.recipient = recipient
        tail = [UInt8](repeating: 0, count: LogFormat.tagSize)
    }

    /// Where the next entry goes in the current segment.
    package var offset: UInt64 { LogFormat.offset(of: next, first: first) }

    /// Writes all but the key (already in its place) and then the checksum over the whole.
    package func write(into bytes: inout MutableRawSpan, checksum: (RawSpan) -> [UInt8]) {
        var front = ByteWriter()
        front.append(LogState.magic)
        front.integer(LogFormat.version)
        front.integer(UInt32(kind.rawValue))
        front.append(vault.bytes)
        front.append(chain.bytes)
        front.integer(first)
        front.integer(next)
        LogState.store(front.bytes, at: 0, into: &bytes)
        var back = ByteWriter()
        back.append(tail)
        back.append(bootID)
        back.integer(UInt32(run == nil ? 0 : 1))
        if let run {
            back.integer(UInt32(run.kind.rawValue))
            run.run.write(to: &back)
            run.last.write(to: &back)
        }
        back.pad(to: LogState.recipientOffset - LogState.keyRange.upperBound)
        if let recipient {
            back.integer(recipient.epoch)
            back.append(recipient.point)
        }
        back.pad(to: LogState.coveredSize - LogState.keyRange.upperBound)
        LogState.store(back.bytes, at: LogState.keyRange.upperBound, into: &bytes)
        let sum = checksum(bytes.bytes.extracting(0..<LogState.coveredSize))
        LogState.store(sum, at: LogState.coveredSize, into: &bytes)
    }

    private static func store(_ source: [UInt8], at offset: Int, into bytes: inout MutableRawSpan) {
        for (index, byte) in source.enumerated() { bytes.store(byte, at: offset + index) }
    }

    /// Reads all but the key.
    /// - Throws: `wrongSize`, `checksumMismatch`, `wrongMagic`, `newerVersion`, `invalid`.
    package init(parsing bytes: RawSpan, checksum: (RawSpan) -> [UInt8]) throws(FormatError) {
        guard bytes.byteCount == LogState.size else { throw .wrongSize }
        let sum = LogState.array(bytes, LogState.coveredSize..<LogState.size)
        guard checksum(bytes.extracting(0..<LogState.coveredSize)) == sum else { throw .checksumMismatch }
        var front = ByteReader(LogState.array(bytes, 0..<LogState.keyRange.lowerBound))
        guard try front.bytes(8) == LogState.magic else { throw .wrongMagic }
        let version = try front.integer(UInt32.self)
        guard version == LogFormat.version else { throw .newerVersion(version) }
        guard let kind = Kind(rawValue: UInt8(clamping: try front.integer(UInt32.self))) else {
            throw .invalid(field: "log state kind")
        }
        vault = try front.vaultID()
        guard let chain = LogChain(bytes: try front.bytes(16)) else { throw .wrongSize }
        self.kind = kind
        self.chain = chain
        first = try front.integer(UInt64.self)
        next = try front.integer(UInt64.self)
        guard first <= next, next <= LogFormat.mostEntries, next - first <= LogFormat.entriesPerSegment else {
            throw .invalid(field: "log state index")
        }
        var back = ByteReader(LogState.array(bytes, LogState.keyRange.upperBound..<LogState.coveredSize))
        tail = try back.bytes(LogFormat.tagSize)
        bootID = try back.bytes(16)
        run = try LogState.readRun(&back)
        if run == nil, try back.bytes(LogState.runSize).contains(where: { $0 != 0 }) {
            throw .invalid(field: "log state padding")
        }
        recipient = try LogState.readRecipient(&back)
        try back.expectZeros("log state padding")
        let hasKey = LogState.keyRange.contains { bytes.integer(at: $0, as: UInt8.self) != 0 }
        guard kind == .live ? recipient != nil : recipient == nil && run == nil && !hasKey else {
            throw .invalid(field: "log state key")
        }
    }

    /// Of a run behind its flag.
    private static let runSize = recipientOffset - keyRange.upperBound - LogFormat.tagSize - 16 - 4

    /// Nil for zeros.
    private static func readRecipient(_ reader: inout ByteReader) throws(FormatError) -> Recipient? {
        let found = Recipient(epoch: try reader.integer(UInt32.self), point: try reader.bytes(LogFormat.pointSize))
        if found.epoch == 0 && found.point.allSatisfy({ $0 == 0 }) { return nil }
        guard found.epoch > 0, [2, 3].contains(found.point[0]) else { throw .invalid(field: "log state key") }
        return found
    }

    private static func readRun(_ reader: inout ByteReader) throws(FormatError) -> Run? {
        switch try reader.integer(UInt32.self) {
        case 0: return nil
        case 1:
            guard let kind = UnprovenEvent(rawValue: UInt8(clamping: try reader.integer(UInt32.self))) else {
                throw .invalid(field: "log run")
            }
            let run = try LogRun(reading: &reader)
            guard run[kind] > 0 else { throw .invalid(field: "log run") }
            return Run(run: run, kind: kind, last: try LogMoment(reading: &reader))
        default: throw .invalid(field: "log run")
        }
    }

    /// Never asked for the key's place.
    private static func array(_ bytes: RawSpan, _ range: Range<Int>) -> [UInt8] {
        range.map { bytes.present(at: $0, as: UInt8.self) }
    }
}
