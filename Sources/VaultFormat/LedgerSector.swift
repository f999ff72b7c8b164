/// One sector of the attempt ledger (constructions.md 4.3). Two lie in the file and are written in turn.
///
/// It has counts and times only: nothing that follows from a secret that was tried may be on a disk.
package struct LedgerSector: Sendable, Hashable {
    package static let size = 4096
    package static let fileSize = 2 * size
    static let magic = Array("HFLEDGER".utf8)
    static let version: UInt32 = 1

    package var vault: VaultID
    /// Counts the writes; the higher of two valid sectors holds.
    package var sequence: UInt64
    /// Attempts burned since the last success.
    package var spent: UInt32
    /// Attempts checked and found wrong since the last success.
    package var refused: UInt32
    /// The delay that runs, in milliseconds; 0 for none.
    package var delay: UInt64
    /// When the delay began: milliseconds since boot, sleep included.
    package var delayStart: UInt64
    /// 16 bytes that name the boot which ``delayStart`` belongs to.
    package var bootID: [UInt8]

    package init(
        vault: VaultID, sequence: UInt64, spent: UInt32, refused: UInt32, delay: UInt64, delayStart: UInt64,
        bootID: [UInt8]
    ) {
        self.vault = vault
        self.sequence = sequence
        self.spent = spent
        self.refused = refused
        self.delay = delay
        self.delayStart = delayStart
        self.bootID = bootID
    }

    package func encoded(checksum: (RawSpan) -> [UInt8]) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(LedgerSector.magic)
        writer.integer(LedgerSector.version)
        writer.append(vault.bytes)
        writer.integer(sequence)
        writer.integer(spent)
        writer.integer(refused)
        writer.integer(delay)
        writer.integer(delayStart)
        writer.append(bootID)
        return writer.checked(to: LedgerSector.size, checksum)
    }

    /// Reads one sector; anything else than what a writer writes is damage, a newer version included: the ledger then
    /// counts as damaged, which never gives an attempt back.
    package init(parsing bytes: [UInt8], checksum: (RawSpan) -> [UInt8]) throws(FormatError) {
        guard bytes.count == LedgerSector.size else { throw .wrongSize }
        var reader = try ByteReader(checking: bytes, checksum)
        guard try reader.bytes(8) == LedgerSector.magic else { throw .wrongMagic }
        let version = try reader.integer(UInt32.self)
        guard version == LedgerSector.version else { throw .newerVersion(version) }
        vault = try reader.vaultID()
        sequence = try reader.integer(UInt64.self)
        spent = try reader.integer(UInt32.self)
        refused = try reader.integer(UInt32.self)
        delay = try reader.integer(UInt64.self)
        delayStart = try reader.integer(UInt64.self)
        bootID = try reader.bytes(16)
        try reader.expectZeros("ledger padding")
        // Counts that no use reaches come from elsewhere; they must not overflow ours.
        guard refused <= spent, spent < 1 << 20, sequence < 1 << 62, delay <= 3_600_000 else {
            throw .invalid(field: "ledger counts")
        }
    }
}
