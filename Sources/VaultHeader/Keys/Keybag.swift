internal import Cryptography
package import SecretMemory
package import VaultFormat
package import VaultStorage

/// The decrypted keybag: every random key of the vault, in pages of its own.
package struct Keybag: ~Copyable, Sendable {
    private var bytes: SecretBytes
    package let layout: KeybagLayout

    package init(opened bytes: consuming SecretBytes) throws(VaultError) {
        layout = try bytes.withBytes { bytes throws(VaultError) in
            try format(HeaderFile.name, KeybagLayout(parsing: bytes))
        }
        self.bytes = bytes
    }

    /// The keys of a new vault.
    package init(firstEpoch epoch: UInt32) throws(VaultError) {
        try self.init(random: KeybagLayout.Kind.ofEachEpoch.map { ($0, epoch) })
    }

    /// New keys for `epoch`, beside those of `earlier`, which are still needed to read.
    package init(epoch: UInt32, keeping earlier: borrowing Keybag) throws(VaultError) {
        let new = KeybagLayout.Kind.ofEachEpoch.map { (kind: $0, epoch: epoch) }
        try self.init(random: new + earlier.layout.entries.map { (kind: $0.kind, epoch: $0.epoch) })
        for entry in earlier.layout.entries {
            guard let range = layout.range(of: entry.kind, epoch: entry.epoch) else { continue }
            bytes.withMutableBytes { Keybag.copy(earlier.bytes, entry.range, &$0, range) }
        }
    }

    private init(random keys: [(kind: KeybagLayout.Kind, epoch: UInt32)]) throws(VaultError) {
        var bytes = try Keybag.allocate(keys.count)
        let layout = try Keybag.writeLayout(keys, &bytes)
        for entry in layout.entries {
            try bytes.withMutableBytes { all throws(VaultError) in try Keybag.fill(&all, entry.range) }
        }
        self.bytes = bytes
        self.layout = layout
    }

    /// All keys of `earlier` and a new one of a kind that it lacks.
    package init(adding kind: KeybagLayout.Kind, epoch: UInt32, to earlier: borrowing Keybag) throws(VaultError) {
        try self.init(random: earlier.layout.entries.map { (kind: $0.kind, epoch: $0.epoch) } + [(kind, epoch)])
        for entry in earlier.layout.entries {
            guard let range = layout.range(of: entry.kind, epoch: entry.epoch) else { continue }
            bytes.withMutableBytes { Keybag.copy(earlier.bytes, entry.range, &$0, range) }
        }
    }

    /// Only what is still needed; the other keys are forgotten.
    package init(of all: borrowing Keybag, keeping isNeeded: (KeybagLayout.Entry) -> Bool) throws(VaultError) {
        let keys = all.layout.entries.filter(isNeeded).map { (kind: $0.kind, epoch: $0.epoch) }
        var bytes = try Keybag.allocate(keys.count)
        layout = try Keybag.writeLayout(keys, &bytes)
        for entry in layout.entries {
            guard let old = all.layout.range(of: entry.kind, epoch: entry.epoch) else { continue }
            bytes.withMutableBytes { Keybag.copy(all.bytes, old, &$0, entry.range) }
        }
        self.bytes = bytes
    }

    /// Lends one key, 32 bytes.
    /// - Throws: `keysChanged` when the keybag has no such key.
    package borrowing func withKey<R: ~Copyable>(
        _ kind: KeybagLayout.Kind, epoch: UInt32, _ body: (RawSpan) throws(VaultError) -> R
    ) throws(VaultError) -> R {
        guard let range = layout.range(of: kind, epoch: epoch) else { throw .keysChanged }
        return try bytes.withBytes { bytes throws(VaultError) in try body(bytes.extracting(range)) }
    }

    /// A key in memory of its own.
    package borrowing func key(_ kind: KeybagLayout.Kind, epoch: UInt32) throws(VaultError) -> SecretBytes {
        try withKey(kind, epoch: epoch) { key throws(VaultError) in
            try secretMemory(SecretBytes(copying: key))
        }
    }

    /// Epochs that have keys, newest first.
    package var epochs: [UInt32] { epochs(of: .records) }

    /// Epochs that have a key for what is sealed to the vault while it is locked, newest first.
    package var inboxEpochs: [UInt32] { epochs(of: .inbox) }

    /// Epochs that have a key for the security log, newest first: the present one's, and those of segments that are
    /// kept.
    package var logEpochs: [UInt32] { epochs(of: .log) }

    /// Epochs that have a key of a kind, newest first.
    package func epochs(of kind: KeybagLayout.Kind) -> [UInt32] {
        layout.entries.filter { $0.kind == kind }.map(\.epoch).sorted(by: >)
    }

    /// Whether the security log may still be under an older key than the newest: a rekey is unfinished, and the log has
    /// not gone over yet.
    package var mayLogBeOlder: Bool {
        guard epochs.count > 1, let newest = logEpochs.first else { return false }
        return layout.range(of: .logReached, epoch: newest) == nil
    }

    /// Nil in vaults of earlier versions whose keys were not written since.
    package var newestInboxEpoch: UInt32? { inboxEpochs.first }

    package borrowing func sealed(by keys: borrowing HeaderKeys, vault: VaultID, epoch: UInt32) throws(VaultError)
        -> [UInt8]
    {
        try keys.seal(keybag: bytes, vault: vault, epoch: epoch)
    }

    private static func allocate(_ count: Int) throws(VaultError) -> SecretBytes {
        try secretMemory(SecretBytes(zeroed: KeybagLayout.size(entries: count), lifetime: .longLived))
    }

    private static func writeLayout(
        _ keys: [(kind: KeybagLayout.Kind, epoch: UInt32)], _ bytes: inout SecretBytes
    ) throws(VaultError) -> KeybagLayout {
        try bytes.withMutableBytes { bytes throws(VaultError) in
            try format(HeaderFile.name, KeybagLayout(writing: keys, into: &bytes))
        }
    }

    private static func copy(
        _ source: borrowing SecretBytes, _ from: Range<Int>, _ target: inout MutableRawSpan, _ to: Range<Int>
    ) {
        source.withBytes { target.store(copying: $0.extracting(from), at: to.lowerBound) }
    }

    private static func fill(_ target: inout MutableRawSpan, _ range: Range<Int>) throws(VaultError) {
        let random = try crypto(SecureRandom.secret(range.count))
        copy(random, 0..<range.count, &target, range)
    }
}
