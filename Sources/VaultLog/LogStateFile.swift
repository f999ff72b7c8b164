internal import Cryptography
internal import SecretMemory
internal import VaultFormat
internal import VaultStorage
internal import SystemCalls

/// `log.state` under its lock. Only the holder of this value appends. It waits for nothing else meanwhile, so it may be
/// acquired with or without the header's lock.
package final class LogStateFile {
    package static let name = "log.state"
    /// Milliseconds that another writer is waited for. An entry that is not written for it is counted as missed.
    static let patience = 5_000

    private let file: DurableFile
    /// Nil where no sector is valid.
    let state: LogState?
    /// The key of a live state.
    private(set) var key: LogKey?
    /// One of two sectors was not written whole; the next write mends it.
    let hasBadSector: Bool

    enum Access {
        case reading
        case appending
        /// Also makes the file where it is missing.
        case creating

        fileprivate var flags: Int32 {
            switch self {
            case .reading: O_RDONLY
            case .appending: O_RDWR
            case .creating: O_RDWR | O_CREAT
            }
        }
    }

    /// - Returns: Nil when there is no such file.
    /// - Throws: `busy`, `readOnly`, `permissionDenied`, `damaged` (not a file), `inputOutput`.
    static func open(
        _ access: Access, in home: HomeDirectory, vault: VaultID, patience: Int = LogStateFile.patience
    ) throws(VaultError) -> LogStateFile? {
        while true {
            let isNew = access == .creating && !home.exists(name)
            guard let file = try home.openFile(name, access.flags) else { return nil }
            try file.lock(
                exclusive: access != .reading, patience: patience,
                orBusy: "another process has been writing to the security log for a long time")
            // The file may have been replaced while we waited: the lock must be on what the name means now.
            guard let current = try home.openFile(name, O_RDONLY), try current.status().isSameFile(as: file.status())
            else { continue }
            if isNew { try home.synchronize() }
            return try LogStateFile(file, vault: vault)
        }
    }

    private init(_ file: consuming DurableFile, vault: VaultID) throws(VaultError) {
        var best: LogState?
        var key: LogKey?
        var valid = 0
        for offset in LogState.offsets {
            var sector = try secretMemory(SecretBytes(zeroed: LogState.size))
            let size = try sector.withMutableBytes { bytes throws(VaultError) in
                try file.read(into: &bytes, at: offset)
            }
            guard size == LogState.size,
                let found = sector.withBytes({ try? LogState(parsing: $0, checksum: FileChecksum.of) }),
                found.vault == vault, found.recipient.map(LogStateFile.isKey) ?? true
            else { continue }
            valid += 1
            guard best.map({ $0.next < found.next }) ?? true else { continue }
            best = found
            key =
                found.kind == .live
                ? try sector.withBytes { bytes throws(VaultError) in
                    try LogKey(copying: bytes.extracting(LogState.keyRange))
                } : nil
        }
        state = best
        hasBadSector = valid == 1
        self.key = key
        self.file = file
    }

    /// A point that is not on the curve is not a valid key.
    private static func isKey(_ recipient: LogState.Recipient) -> Bool {
        (try? unsafe P256PublicKey(compressed: recipient.point.span.bytes)) != nil
    }

    /// Whether this is the live state's key.
    func hasKey(_ other: borrowing LogKey) -> Bool {
        switch key {
        case .some(let key): key.isEqual(to: other)
        case nil: false
        }
    }

    /// The key of a live state, handed over.
    func takeKey() -> LogKey? { key.take() }

    /// Overwrites both sectors, so that no older key is left.
    /// - Parameter waits: Whether to return only when they are on the disk. A state that a power cut takes back is no
    ///   harm: the entries behind it prove themselves and it is brought up to them.
    func write(_ state: LogState, key: borrowing LogKey, waits: Bool = true) throws(VaultError) {
        try write(state, waits: waits) { bytes in
            key.withBytes { bytes.store(copying: $0, at: LogState.keyRange.lowerBound) }
        }
    }

    /// As ``write(_:key:waits:)``, for a copy, which has no key.
    func writeWithoutKey(_ state: LogState) throws(VaultError) { try write(state, waits: true) { _ in } }

    private func write(
        _ state: LogState, waits: Bool, _ fillKey: (inout MutableRawSpan) -> Void
    ) throws(VaultError) {
        var sector = try secretMemory(SecretBytes(zeroed: LogState.size))
        sector.withMutableBytes { bytes in
            fillKey(&bytes)
            state.write(into: &bytes, checksum: FileChecksum.of)
        }
        for offset in LogState.offsets {
            try sector.withBytes { bytes throws(VaultError) in try file.write(bytes, at: offset) }
        }
        if waits { try file.synchronize() }
    }
}
