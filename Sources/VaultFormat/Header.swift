/// The header of a vault: everything needed to open it, authenticated as a whole.
///
/// One copy is ``copySize`` bytes. The last 32 are an unkeyed BLAKE3 checksum over all before it (damage is found
/// before an attempt is spent), the 32 before that a MAC under a key from the master key. Pure: the caller brings the
/// hash.
package struct Header: Sendable, Hashable {
    package static let magic = Array("HOLDFAST".utf8)
    package static let formatVersion: UInt32 = 1
    /// Of the layout within version 1. Builds from before the first release wrote 0.
    static let revision: UInt16 = 1
    package static let copySize = 8192
    package static let fileSize = 2 * copySize
    package static let macSize = 32
    static let checksumSize = 32
    /// What stands for the home, and the sealed key that it comes from: right before the MAC.
    package static let homeSize = 32
    package static let sealedWipeKeySize = 60
    static let tailSize = homeSize + sealedWipeKeySize
    static let maximumSlots = 16
    static let maximumKeybag = 4096

    /// Header-wide facts.
    package struct Flags: OptionSet, Sendable, Hashable {
        package let rawValue: UInt16
        package init(rawValue: UInt16) { self.rawValue = rawValue }
        /// The generation is also held by a key store; a lower or absent one there means this home was rolled back.
        package static let generationAnchored = Flags(rawValue: 1)
        static let known: Flags = [.generationAnchored]
    }

    package var vault: VaultID
    /// Counts the writes of this header.
    package var generation: UInt64
    /// Milliseconds since 1970; for display.
    package var created: UInt64
    /// The epoch whose keys seal what is written now.
    package var epoch: UInt32
    package var flags: Flags
    package var policy: VaultPolicy
    /// Nonce (12 bytes), encrypted keybag and tag.
    package var sealedKeybag: [UInt8]
    package var slots: [Slot]
    /// A digest of the home's wipe key; hardware deletes what was made for this home only with that key. Zeros where
    /// there is none yet.
    package var home: [UInt8] = [UInt8](repeating: 0, count: homeSize)
    /// Nonce (12 bytes), the encrypted wipe key and tag, for a home that has lost the file. Zeros where there is none
    /// yet.
    package var sealedWipeKey: [UInt8] = [UInt8](repeating: 0, count: sealedWipeKeySize)
    package var mac: [UInt8] = [UInt8](repeating: 0, count: macSize)

    package init(
        vault: VaultID, generation: UInt64, created: UInt64, epoch: UInt32, policy: VaultPolicy,
        sealedKeybag: [UInt8], slots: [Slot]
    ) {
        self.vault = vault
        self.generation = generation
        self.created = created
        self.epoch = epoch
        self.flags = []
        self.policy = policy
        self.sealedKeybag = sealedKeybag
        self.slots = slots
    }

    /// The one passcode slot, if there is one.
    package var passcodeSlot: Slot? { slots.first { $0.kind == .passcode } }
    /// The recovery slot, if there is one.
    package var recoverySlot: Slot? { slots.first { $0.kind == .recoveryPhrase } }
    /// The slot of a PIN under a chip, if there is one.
    package var pinSlot: Slot? { slots.first { $0.kind == .pin } }

    /// Replaces the slot with the same id, or adds it.
    package mutating func set(_ slot: Slot) {
        slots.removeAll { $0.id == slot.id }
        slots.append(slot)
        slots.sort { $0.id < $1.id }
    }
}

extension Header {
    /// The bytes that the MAC covers: the whole copy before it.
    /// - Throws: ``FormatError/headerFull`` when the parts do not fit, or what the policy's encoding throws.
    package func authenticatedBytes() throws(FormatError) -> [UInt8] {
        guard slots.count <= Header.maximumSlots, sealedKeybag.count <= Header.maximumKeybag,
            slots.allSatisfy(\.fits), home.count == Header.homeSize, sealedWipeKey.count == Header.sealedWipeKeySize
        else { throw .headerFull }
        var writer = ByteWriter()
        writer.append(Header.magic)
        writer.integer(Header.formatVersion)
        writer.integer(flags.rawValue)
        writer.integer(Header.revision)
        writer.append(vault.bytes)
        writer.integer(generation)
        writer.integer(created)
        writer.integer(epoch)
        writer.counted(try policy.encoded())
        writer.counted(sealedKeybag)
        writer.integer(UInt8(slots.count))
        for slot in slots { writer.counted(slot.encoded()) }
        let end = Header.copySize - Header.macSize - Header.checksumSize - Header.tailSize
        guard writer.bytes.count <= end else { throw .headerFull }
        writer.pad(to: end)
        writer.append(sealedWipeKey)
        writer.append(home)
        return writer.bytes
    }

    /// One whole copy: covered bytes, MAC, checksum.
    package func encoded(checksum: (RawSpan) -> [UInt8]) throws(FormatError) -> [UInt8] {
        let covered = try authenticatedBytes() + mac
        return unsafe covered + checksum(covered.span.bytes)
    }

    /// Reads one copy. The checksum and the version come first, so that a damaged header is never mistaken for
    /// anything else, and a newer one is named.
    package init(parsing bytes: [UInt8], checksum: (RawSpan) -> [UInt8]) throws(FormatError) {
        guard bytes.count == Header.copySize else { throw .wrongSize }
        guard bytes.starts(with: Header.magic) else { throw .wrongMagic }
        let covered = bytes.count - Header.checksumSize
        guard unsafe checksum(bytes.span.bytes.extracting(0..<covered)) == Array(bytes[covered...]) else {
            throw .checksumMismatch
        }
        let tail = covered - Header.macSize - Header.tailSize
        var reader = ByteReader(bytes, Header.magic.count..<tail)
        let version = try reader.integer(UInt32.self)
        guard version <= Header.formatVersion else { throw .newerVersion(version) }
        guard version == Header.formatVersion else { throw .invalid(field: "format version") }
        flags = Flags(rawValue: try reader.integer(UInt16.self))
        guard flags.isSubset(of: .known) else { throw .invalid(field: "header flags") }
        let revision = try reader.integer(UInt16.self)
        guard revision >= Header.revision else { throw .unreleased }
        guard revision == Header.revision else { throw .invalid(field: "header revision") }
        vault = try reader.vaultID()
        generation = try reader.integer(UInt64.self)
        guard generation < 1 << 62 else { throw .invalid(field: "generation") }
        created = try reader.integer(UInt64.self)
        epoch = try reader.integer(UInt32.self)
        guard epoch < 1 << 30 else { throw .invalid(field: "epoch") }
        policy = try VaultPolicy(parsing: reader.counted(limit: VaultPolicy.maximumSize, "policy"))
        sealedKeybag = try reader.counted(limit: Header.maximumKeybag, "keybag")
        slots = []
        let count = Int(try reader.integer(UInt8.self))
        guard count <= Header.maximumSlots else { throw .invalid(field: "slot count") }
        for _ in 0..<count {
            slots.append(try Slot(parsing: reader.counted(limit: Header.copySize, "slot")))
        }
        try reader.expectZeros("header padding")
        sealedWipeKey = Array(bytes[tail..<tail + Header.sealedWipeKeySize])
        home = Array(bytes[tail + Header.sealedWipeKeySize..<covered - Header.macSize])
        mac = Array(bytes[(covered - Header.macSize)..<covered])
        let single = UnlockSecret.allCases.map(SlotKind.secret) + [.device]
        guard Set(slots.map(\.id)).count == count,
            single.allSatisfy({ kind in slots.filter { $0.kind == kind }.count <= 1 })
        else {
            throw .invalid(field: "slots")
        }
    }
}
