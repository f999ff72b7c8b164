/// One way to open the vault: the master key, wrapped by what a factor yields (constructions.md 2.1).
package struct Slot: Sendable, Hashable {
    /// Facts about a slot that its authenticated data covers.
    package struct Flags: OptionSet, Sendable, Hashable {
        package let rawValue: UInt16
        package init(rawValue: UInt16) { self.rawValue = rawValue }
        /// A share from a key store is mixed in; without this flag the share is 32 zero bytes.
        package static let hardwareShare = Flags(rawValue: 1)
        /// The digest of the policy is part of the authenticated data.
        package static let bindsPolicy = Flags(rawValue: 2)
        static let known: Flags = [.hardwareShare, .bindsPolicy]
    }

    package static let saltSize = 16
    package static let commitmentSize = 32
    /// 12 bytes of nonce, 32 of key, 16 of tag.
    package static let wrappedSize = 60
    static let maximumHardwareName = 128
    static let maximumExtension = 1024

    package var id: UInt8
    package var kind: SlotKind
    package var flags: Flags
    /// Nil where no stretching is needed (the phrase has 256 bits).
    package var derivation: DerivationParameters?
    package var salt: [UInt8]
    /// HKDF's second half: tells a wrong secret from a damaged slot before the key is unwrapped.
    package var commitment: [UInt8]
    /// The TPM's name of the hardware object, empty where there is none.
    package var hardwareName: [UInt8]
    package var nonce: [UInt8] = []
    /// Encrypted master key and tag.
    package var wrappedKey: [UInt8] = []
    /// What a later kind needs beside this; authenticated like the rest.
    package var kindData: [UInt8] = []

    package init(
        id: UInt8, kind: SlotKind, flags: Flags, derivation: DerivationParameters?, salt: [UInt8],
        commitment: [UInt8], hardwareName: [UInt8] = []
    ) {
        self.id = id
        self.kind = kind
        self.flags = flags
        self.derivation = derivation
        self.salt = salt
        self.commitment = commitment
        self.hardwareName = hardwareName
    }

    /// Whether a reader takes it.
    var fits: Bool { hardwareName.count <= Slot.maximumHardwareName && kindData.count <= Slot.maximumExtension }

    /// Everything before the commitment: written as it stands, and the main part of the authenticated data.
    private func encodeParameters(_ writer: inout ByteWriter) {
        writer.integer(id)
        writer.integer(kind.rawValue)
        writer.integer(flags.rawValue)
        writer.integer(UInt8(derivation == nil ? 0 : 1))
        writer.integer(derivation?.passes ?? 0)
        writer.integer(derivation?.memoryKiB ?? 0)
        writer.integer(derivation?.lanes ?? 0)
        writer.append(salt)
        writer.counted(hardwareName)
        writer.counted(kindData)
    }

    /// Authenticated data of the wrapped key: vault id, format version, all parameters, policy digest (32 bytes; zeros
    /// where the slot does not bind the policy).
    package func authenticatedData(vault: VaultID, policyDigest: [UInt8]) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(vault.bytes)
        writer.integer(Header.formatVersion)
        encodeParameters(&writer)
        writer.append(flags.contains(.bindsPolicy) ? policyDigest : [UInt8](repeating: 0, count: 32))
        return writer.bytes
    }

    func encoded() -> [UInt8] {
        var writer = ByteWriter()
        encodeParameters(&writer)
        writer.append(commitment)
        writer.append(nonce)
        writer.append(wrappedKey)
        return writer.bytes
    }

    init(parsing bytes: [UInt8]) throws(FormatError) {
        var reader = ByteReader(bytes)
        id = try reader.integer(UInt8.self)
        kind = SlotKind(rawValue: try reader.integer(UInt8.self))
        flags = Flags(rawValue: try reader.integer(UInt16.self))
        guard flags.isSubset(of: .known) else { throw .invalid(field: "slot flags") }
        let algorithm = try reader.integer(UInt8.self)
        let passes = try reader.integer(UInt32.self)
        let memory = try reader.integer(UInt32.self)
        let lanes = try reader.integer(UInt32.self)
        switch algorithm {
        case 0 where passes == 0 && memory == 0 && lanes == 0: derivation = nil
        case 1: derivation = DerivationParameters(passes: passes, memoryKiB: memory, lanes: lanes)
        default: throw .invalid(field: "slot derivation")
        }
        salt = try reader.bytes(Slot.saltSize)
        hardwareName = try reader.counted(limit: Slot.maximumHardwareName, "slot hardware name")
        kindData = try reader.counted(limit: Slot.maximumExtension, "slot data")
        commitment = try reader.bytes(Slot.commitmentSize)
        nonce = try reader.bytes(12)
        wrappedKey = try reader.bytes(48)
        try reader.expectEnd()
        try checkShape()
    }

    /// What each kind must look like; a slot of a kind that this version does not know is kept but never opened.
    private func checkShape() throws(FormatError) {
        guard flags.contains(.hardwareShare) || hardwareName.isEmpty else {
            throw .invalid(field: "slot hardware name")
        }
        switch kind {
        case .secret(.passcode):
            guard derivation != nil, flags.contains(.bindsPolicy) else { throw .invalid(field: "passcode slot") }
        case .secret(.recoveryPhrase):
            guard derivation == nil, flags.isEmpty else { throw .invalid(field: "recovery slot") }
        case .secret(.pin):
            guard derivation != nil, flags == [.hardwareShare, .bindsPolicy] else { throw .invalid(field: "PIN slot") }
        case .deviceOwner, .device: try checkStoredShape()
        case .unknown: break
        }
    }
}
