import TestSupport
import VaultFormat

/// Values with every field set to something of its own, and their bytes written by hand from Docs/vault-format.md.
enum Sample {
    static let vault = VaultID(bytes: Array(0x10...0x1F))!

    static let policy: VaultPolicy = {
        var policy = VaultPolicy.standard
        policy.attemptLimit = 7
        policy.selfDestruct = true
        policy.lockTiming = .after(seconds: 0x0102_0304)
        policy.delays = [0, 30, 3600]
        policy.collectionMinima = ["b": .hardwareLimited, "": .presence, "aé": .keyBound]
        return policy
    }()

    static let policyBytes: [UInt8] =
        [1, 7, 1, 4, 3, 2, 1, 3] + little(UInt32(0)) + little(UInt32(30)) + little(UInt32(3600)) + little(UInt16(3))
        + [0, 0, 1] + [3, 0, 0x61, 0xC3, 0xA9, 2] + [1, 0, 0x62, 4]

    /// Every field of version 2 set to something of its own.
    static let laterPolicy: VaultPolicy = {
        var policy = Sample.policy
        policy.isLockEnabled = true
        policy.usesBiometrics = true
        policy.countsBiometricFailures = false
        policy.selfDestructCountdown = 0x0001_0203
        policy.fallback = laterFallback
        return policy
    }()

    static let laterFallback = try! FallbackPolicy([
        FallbackPolicy.Rule(.devicePasscode, assurance: .hardwareBound, withinHours: 0x0123),
        FallbackPolicy.Rule(.biometrics, assurance: .presence, when: [.unavailable, .requested]),
        FallbackPolicy.Rule(.recoveryPhrase, assurance: .keyBound, when: [.failed]),
        FallbackPolicy.Rule(.openCompartment, assurance: .none, when: [.notEnrolled, .cancelled]),
    ])

    static let laterFallbackBytes: [UInt8] =
        [4] + [2, 3, 0, 0x23, 0x01] + [1, 1, 0b0100_0001, 0, 0] + [4, 2, 0b0001_0000, 0, 0] + [5, 0, 0b1000_0010, 0, 0]

    static let laterPolicyBytes: [UInt8] = [2] + policyBytes.dropFirst() + [3, 3, 2, 1, 0] + laterFallbackBytes

    static let passcodeSlot: Slot = {
        var slot = Slot(
            id: 1, kind: .passcode, flags: [.bindsPolicy, .hardwareShare],
            derivation: DerivationParameters(passes: 3, memoryKiB: 65_536), salt: repeated(0xA1, 16),
            commitment: repeated(0xA2, 32), hardwareName: [0xA3, 0xA4, 0xA5])
        slot.nonce = repeated(0xA6, 12)
        slot.wrappedKey = repeated(0xA7, 48)
        return slot
    }()

    static let passcodeSlotParameters: [UInt8] =
        [1, 1, 3, 0, 1] + little(UInt32(3)) + little(UInt32(65_536)) + little(UInt32(1)) + repeated(0xA1, 16)
        + counted([0xA3, 0xA4, 0xA5]) + counted([])

    static let passcodeSlotBytes =
        passcodeSlotParameters + repeated(0xA2, 32) + repeated(0xA6, 12) + repeated(0xA7, 48)

    static let recoverySlot: Slot = {
        var slot = Slot(
            id: 2, kind: .recoveryPhrase, flags: [], derivation: nil, salt: repeated(0xB1, 16),
            commitment: repeated(0xB2, 32))
        slot.nonce = repeated(0xB3, 12)
        slot.wrappedKey = repeated(0xB4, 48)
        return slot
    }()

    static let recoverySlotBytes =
        [2, 2, 0, 0, 0] + repeated(0, 12) + repeated(0xB1, 16) + counted([]) + counted([])
        + repeated(0xB2, 32) + repeated(0xB3, 12) + repeated(0xB4, 48)

    /// Of a kind that only a later version knows.
    static let unknownSlot: Slot = {
        var slot = Slot(
            id: 200, kind: SlotKind(rawValue: 99), flags: [], derivation: nil, salt: repeated(0xC1, 16),
            commitment: repeated(0xC2, 32))
        slot.kindData = Array("later".utf8)
        slot.nonce = repeated(0xC3, 12)
        slot.wrappedKey = repeated(0xC4, 48)
        return slot
    }()

    static let unknownSlotBytes =
        [200, 99, 0, 0, 0] + repeated(0, 12) + repeated(0xC1, 16) + counted([]) + counted(Array("later".utf8))
        + repeated(0xC2, 32) + repeated(0xC3, 12) + repeated(0xC4, 48)

    static let header: Header = {
        var header = Header(
            vault: vault, generation: 0x1122_3344_5566_7788, created: 1_700_000_000_123, epoch: 5, policy: policy,
            sealedKeybag: Array(0..<200), slots: [passcodeSlot, recoverySlot, unknownSlot])
        header.flags = [.generationAnchored]
        header.sealedWipeKey = repeated(0xE0, 60)
        header.home = repeated(0xE1, 32)
        header.mac = repeated(0xD0, 32)
        return header
    }()

    static let headerFront: [UInt8] =
        Array("HOLDFAST".utf8) + little(UInt32(1)) + [1, 0, 1, 0] + Array(0x10...0x1F)
        + little(UInt64(0x1122_3344_5566_7788)) + little(UInt64(1_700_000_000_123)) + little(UInt32(5))

    /// A whole copy around `parts`, which follow the fixed front.
    static func copy(_ parts: [UInt8]) -> [UInt8] {
        let used = headerFront + parts
        return
            (used + repeated(0, 8036 - used.count) + repeated(0xE0, 60) + repeated(0xE1, 32) + repeated(0xD0, 32)
            + repeated(0, 32)).resummed
    }

    static let headerBytes = copy(
        counted(policyBytes) + counted(Array(0..<200)) + [3] + counted(passcodeSlotBytes) + counted(recoverySlotBytes)
            + counted(unknownSlotBytes))

    static let sector = LedgerSector(
        vault: vault, sequence: 0x0102_0304_0506_0708, spent: 4, refused: 3, delay: 60_000, delayStart: 987_654_321,
        bootID: repeated(0xE1, 16))

    static let sectorBytes: [UInt8] = {
        let used =
            Array("HFLEDGER".utf8) + little(UInt32(1)) + Array(0x10...0x1F) + little(UInt64(0x0102_0304_0506_0708))
            + little(UInt32(4)) + little(UInt32(3)) + little(UInt64(60_000)) + little(UInt64(987_654_321))
            + repeated(0xE1, 16)
        return (used + repeated(0, 4096 - used.count)).resummed
    }()

    static let manifest = BackupManifest(
        vault: vault,
        entries: [
            BackupManifest.Entry(path: "header", size: 16384, digest: repeated(0x01, 32)),
            BackupManifest.Entry(path: "vault.mdb", size: 20480, digest: repeated(0xAB, 32)),
            BackupManifest.Entry(path: "files/00112233445566778899aabbccddeeff", size: 0, digest: repeated(0xFF, 32)),
        ])

    static let manifestBody = """
        holdfast backup 1
        vault 101112131415161718191a1b1c1d1e1f
        file header 16384 \(String(repeating: "01", count: 32))
        file vault.mdb 20480 \(String(repeating: "ab", count: 32))
        file files/00112233445566778899aabbccddeeff 0 \(String(repeating: "ff", count: 32))

        """

    /// A manifest with a right last line.
    static func manifest(_ body: String) -> [UInt8] {
        let body = Array(body.utf8)
        return body + Array("end \(Hexadecimal.encode(body.lend(testChecksum)))\n".utf8)
    }
}
