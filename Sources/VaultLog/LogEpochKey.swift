internal import Cryptography
package import SecretMemory
package import VaultFormat
package import VaultStorage

/// The keybag's log key of one epoch: chains begin with it, and what entries say is sealed to its public half.
package final class LogEpochKey: Sendable {
    let epoch: UInt32
    let root: SecretBytes
    private let vault: VaultID
    private let privateKey: P256PrivateKey

    package init(_ root: consuming SecretBytes, epoch: UInt32, vault: VaultID) throws(VaultError) {
        privateKey = try SeededKey.make(from: root, vault: vault, label: "holdfast/1/log-scalar")
        self.root = root
        self.epoch = epoch
        self.vault = vault
    }

    /// What the state has of it.
    var recipient: LogState.Recipient { LogState.Recipient(epoch: epoch, point: privateKey.publicKey.compressed) }

    /// The key of a chain's first entry.
    func first(of chain: LogChain) throws(VaultError) -> LogKey {
        try root.withBytes { root throws(VaultError) in try LogKey(root: root, vault: vault, chain: chain) }
    }

    /// What an entry says; nil where it was not sealed to this key, or not for this place.
    func open(_ slot: RawSpan, at index: UInt64, chain: LogChain) -> LogEntry? {
        guard slot.byteCount == LogFormat.slotSize else { return nil }
        let associated = LogFormat.associatedData(vault: vault, chain: chain, index: index)
        let context = vault.bytes
        let opened = try? unsafe P256SealedBox.open(
            slot.extracting(LogFormat.boxRange), with: privateKey, context: context.span.bytes,
            authenticating: associated.span.bytes)
        switch opened {
        case .some(let plaintext):
            return plaintext.withBytes { bytes in
                try? LogEntry(parsing: bytes.copied(0..<bytes.byteCount))
            }
        case nil: return nil
        }
    }
}

/// Log keys by epoch, newest first.
package struct LogKeys: Sendable {
    private let all: [LogEpochKey]
    /// Whether the log may not have gone over to the newest key yet: a rekey is unfinished, and nothing says that it
    /// has.
    let areChanging: Bool

    /// - Parameters:
    ///   - all: Of each epoch that has one, the newest first.
    ///   - areChanging: As the property says.
    package init(_ all: [LogEpochKey], areChanging: Bool) throws(VaultError) {
        guard !all.isEmpty else { throw .damaged("the keybag has no key for the security log") }
        self.all = all
        self.areChanging = areChanging
    }

    /// What new entries are written with.
    var newest: LogEpochKey { all[0] }

    subscript(epoch: UInt32) -> LogEpochKey? { all.first { $0.epoch == epoch } }

    /// The key whose chain a state continues; nil if there is none.
    func epoch(of session: borrowing LogSession) throws(VaultError) -> UInt32? {
        for key in all where try session.isOf(key) { return key.epoch }
        return nil
    }

    /// Each key behind its epoch (32 bit, little endian), newest first. A key that the log has not come to is left out:
    /// whoever has it would miss the part that it begins.
    /// - Parameter inUse: Which epochs the log's files name.
    package func exported(_ inUse: Set<UInt32>) throws(VaultError) -> SecretBytes {
        let size = 4 + KeybagLayout.keySize
        let reached = areChanging ? inUse.max() : nil
        let all = all.filter { $0.epoch <= reached ?? .max }
        var text = try secretMemory(SecretBytes(zeroed: all.count * size))
        text.withMutableBytes { text in
            for (number, key) in all.enumerated() {
                text.storeBytes(of: key.epoch.littleEndian, toByteOffset: number * size, as: UInt32.self)
                key.root.withBytes { text.store(copying: $0, at: number * size + 4) }
            }
        }
        return text
    }
}
