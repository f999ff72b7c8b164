import Testing
import VaultFormat

/// Where revocable shares rest, in slots of the kinds 3 and 5 and in the note.
@Suite struct ShareItemTests {
    static let name = ShareName(vault: Sample.vault, nonce: repeated(0xE2, 16))!
    static let index = ShareItem.Index(
        handle: 0x0180_1234, name: repeated(0xE3, 34), authorisation: repeated(0xE4, 32))

    static let named = ShareItem(name, .named(.secretService, backend: "gnome-keyring"))
    static let chip = ShareItem(name, .index(index))
    static let samples: [(ShareItem, [UInt8])] = [
        (named, Sample.vault.bytes + repeated(0xE2, 16) + counted(Array("gnome-keyring".utf8))),
        (
            chip,
            Sample.vault.bytes + repeated(0xE2, 16) + little(UInt32(0x0180_1234)) + counted(repeated(0xE3, 34))
                + repeated(0xE4, 32)
        ),
        (
            ShareItem(name, .named(.file, backend: "")), Sample.vault.bytes + repeated(0xE2, 16) + [0, 0]
        ),
    ]

    private func error(_ store: KeyStoreKind, _ bytes: [UInt8]) -> FormatError? {
        formatError { () throws(FormatError) in _ = try ShareItem(store, parsing: bytes) }
    }

    @Test(arguments: samples)
    func `an item is the bytes of the document`(item: ShareItem, bytes: [UInt8]) throws {
        #expect(item.encoded == bytes)
        #expect(try ShareItem(item.store, parsing: bytes) == item)
        for count in 0..<bytes.count { #expect(error(item.store, Array(bytes.prefix(count))) != nil, "\(count)") }
        #expect(error(item.store, bytes + [0]) == .wrongSize)
        #expect(error(item.store == .tpm ? .file : .tpm, bytes) != nil, "of another store")
    }

    @Test func `a backend is printable and short, and an index name has its size`() {
        let name = Self.name.bytes
        for text in [[0x20], [0x7F], [0x1B], [0x80], repeated(0x61, 129)] as [[UInt8]] {
            #expect(error(.file, name + counted(text)) == .invalid(field: "share's backend"))
        }
        #expect(error(.file, name + counted(repeated(0x61, 128))) == nil)
        for size in [0, 33, 35] {
            let bytes = name + repeated(0, 4) + counted(repeated(0, size)) + repeated(0, 32)
            #expect(error(.tpm, bytes) == .invalid(field: "share's index"))
        }
        #expect(ShareName(vault: Sample.vault, nonce: repeated(0, 15)) == nil)
    }

    // MARK: slots

    private func slot(kind: UInt8, store: [UInt8], data: [UInt8], flags: UInt8 = 1, derivation: UInt8 = 0) -> [UInt8] {
        [7, kind, flags, 0, derivation] + repeated(derivation, 12) + repeated(0xC1, 16) + counted(store) + counted(data)
            + repeated(0xC2, 32) + repeated(0xC3, 12) + repeated(0xC4, 48)
    }

    private func parse(_ slots: [UInt8]...) throws(FormatError) -> Header {
        try Header(
            parsing: Sample.copy(
                counted(Sample.policyBytes) + counted([]) + [UInt8(slots.count)] + slots.flatMap(counted)),
            checksum: testChecksum)
    }

    private func error(_ slots: [UInt8]...) -> FormatError? {
        formatError { () throws(FormatError) in
            _ = try Header(
                parsing: Sample.copy(
                    counted(Sample.policyBytes) + counted([]) + [UInt8(slots.count)] + slots.flatMap(counted)),
                checksum: testChecksum)
        }
    }

    @Test(arguments: [named, chip])
    func `a device's slot has a share alone, and its store twice`(_ item: ShareItem) throws {
        let data = [1, item.store.rawValue] + counted(item.encoded)
        #expect(DeviceSlotData(item).encoded == data)
        let good = slot(kind: 5, store: [item.store.rawValue], data: data)
        let header = try parse(good)
        #expect(header.deviceSlot?.shareItem == item && header.deviceSlot?.store == item.store)
        #expect(header.slots[0].kind.name == "device" && !header.slots[0].kind.isCounted)
        #expect(try Header(parsing: header.encoded(checksum: testChecksum), checksum: testChecksum) == header)
        let store = item.store.rawValue
        for bad in [
            slot(kind: 5, store: [store], data: data, flags: 3), slot(kind: 5, store: [store], data: data, flags: 0),
            slot(kind: 5, store: [store], data: data, derivation: 1), slot(kind: 5, store: [3], data: data),
            slot(kind: 5, store: [0], data: data), slot(kind: 5, store: [5], data: data),
            slot(kind: 5, store: [], data: data), slot(kind: 5, store: [store, store], data: data),
            slot(kind: 5, store: [store], data: data.with(2, at: 0)), slot(kind: 5, store: [store], data: data + [0]),
            slot(kind: 5, store: [store], data: []), slot(kind: 5, store: [store], data: Array(data.dropLast())),
        ] { #expect(error(bad) != nil) }
        #expect(error(good, good.with(8, at: 0)) == .invalid(field: "slots"), "one of them at most")
    }

    @Test func `a kept owner slot names a share that can be revoked`() throws {
        let data =
            [1, 1] + repeated(0xE5, 32) + counted(Array("left\nright".utf8)) + counted(Self.chip.encoded)
        let content = OwnerSlotData(Self.chip, secret: repeated(0xE5, 32), enrollment: "left\nright")
        #expect(content?.encoded == data)
        let header = try parse(slot(kind: 3, store: [1], data: data))
        #expect(header.ownerSlots.first?.shareItem == Self.chip)
        #expect(try OwnerSlotData(parsing: data) == content)
        for count in 0..<data.count {
            #expect(error(slot(kind: 3, store: [1], data: Array(data.prefix(count)))) != nil, "\(count) bytes")
        }
        #expect(error(slot(kind: 3, store: [2], data: data)) != nil, "two stores")
        #expect(error(slot(kind: 3, store: [1], data: data, flags: 3)) != nil)
        #expect(error(slot(kind: 3, store: [1], data: data, derivation: 1)) != nil)
        #expect(error(slot(kind: 3, store: [1], data: data.with(2, at: 0))) == .invalid(field: "owner slot"))
        #expect(OwnerSlotData(Self.chip, secret: repeated(1, 31), enrollment: "") == nil)
        #expect(
            OwnerSlotData(Self.chip, secret: repeated(1, 32), enrollment: String(repeating: "a", count: 513)) == nil)
    }

    // MARK: the level

    private static let passcode = Sample.passcodeSlotBytes
    private static let phrase = Sample.recoverySlotBytes
    private static let pin = Sample.passcodeSlotBytes.with(3, at: 0).with(4, at: 1)

    private func device() -> [UInt8] {
        slot(kind: 5, store: [2], data: DeviceSlotData(Self.named).encoded)
    }

    private func owner(_ store: KeyStoreKind) -> [UInt8] {
        let item = store == .tpm ? Self.chip : ShareItem(Self.name, .named(store, backend: "x"))
        let data = OwnerSlotData(item, secret: repeated(1, 32), enrollment: "")
        return slot(kind: 3, store: [store.rawValue], data: data?.encoded ?? []).with(9, at: 0)
    }

    @Test func `the level follows from the slots`() throws {
        #expect(try parse(device()).level == .device)
        #expect(try parse(device(), Self.passcode, Self.phrase, owner(.keychain)).level == .device)
        #expect(try parse(owner(.keychain)).level == .owner)
        #expect(try parse(Self.phrase).level == .owner, "neither a passcode nor a PIN")
        #expect(try parse(Self.passcode, Self.phrase).level == .secret)
        #expect(try parse(Self.pin).level == .secret)
        #expect(try parse(Self.passcode, owner(.keychain)).level == .secret, "the store itself asks")
        for store in [KeyStoreKind.tpm, .secretService, .file] {
            #expect(try parse(Self.passcode, owner(store)).level == .owner, "our own process asks: \(store.name)")
        }
    }

    @Test func `a slot for nobody and a lock that asks contradict each other`() throws {
        var header = try parse(device())
        #expect(!header.contradictsItself)
        header.policy.isLockEnabled = true
        #expect(header.contradictsItself)
        header = try parse(Self.passcode)
        header.policy.isLockEnabled = true
        #expect(!header.contradictsItself)
    }

    @Test func `a floor is the bytes of the document, and nothing else is one`() throws {
        for level in VaultLevel.allCases {
            let floor = LevelFloor(Sample.vault, level)
            #expect(floor.encoded == [1] + Sample.vault.bytes + [level.rawValue])
            #expect(try LevelFloor(parsing: floor.encoded) == floor)
            for count in 0..<18 {
                #expect(throws: FormatError.wrongSize) { try LevelFloor(parsing: Array(floor.encoded.prefix(count))) }
            }
            #expect(throws: FormatError.wrongSize) { try LevelFloor(parsing: floor.encoded + [0]) }
            #expect(throws: FormatError.self) { try LevelFloor(parsing: floor.encoded.with(2, at: 0)) }
            #expect(throws: FormatError.self) { try LevelFloor(parsing: floor.encoded.with(3, at: 17)) }
        }
    }
}
