// Compiled by scripts/fuzz together with the files of Sources/VaultFormat into one module, so there is nothing to
// import and normal builds know nothing of it. A violated rule traps, which libFuzzer reports with the input that led
// there.

/// One input: the first byte chooses the parser, the second how the rest is used.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    guard count >= 2 else { return 0 }
    let input = unsafe Array(UnsafeBufferPointer(start: start, count: count))
    let rest = Array(input[2...])
    switch input[0] % 16 {
    case 0: fuzzHeader(shape(rest, input[1], Samples.header))
    case 1: fuzzLedgerSector(shape(rest, input[1], Samples.sector))
    case 2: fuzzManifest(shape(rest, input[1], Samples.manifest))
    case 3: fuzzKeybag(shape(rest, input[1], Samples.keybag))
    case 4: fuzzPolicy(shape(rest, input[1], Samples.policy))
    case 5: fuzzFallbackText(shape(rest, input[1], Samples.fallbackText))
    case 6: fuzzLogEntry(shape(rest, input[1], Samples.logEntry))
    case 7: fuzzLogState(shape(rest, input[1], Samples.logState))
    case 8: fuzzLogFront(shape(rest, input[1], Samples.logFront))
    case 9: fuzzWipeMark(shape(rest, input[1], Samples.wipeMark))
    case 10: fuzzWipeJournal(shape(rest, input[1], Samples.wipeJournal))
    case 11: fuzzWipeReceipt(shape(rest, input[1], Samples.wipeReceipt))
    case 12: fuzzPendingNote(shape(rest, input[1], Samples.pendingNote))
    case 13: fuzzShareItem(shape(rest, input[1], Samples.chipItem.encoded), input[1])
    case 14: fuzzItem(shape(rest, input[1], Samples.item))
    default: fuzzRecord(shape(rest, input[1], Samples.record))
    }
    return 0
}

/// The bytes to parse: the input as it is, filled up to the size of a valid sample, or a valid sample with the input as
/// a list of edits. The last one gets past sizes and magic bytes at once.
private func shape(_ input: [UInt8], _ selector: UInt8, _ sample: [UInt8]) -> [UInt8] {
    switch selector % 3 {
    case 0: return input
    case 1: return Array(input.prefix(sample.count)) + [UInt8](repeating: 0, count: max(0, sample.count - input.count))
    default:
        var bytes = sample
        for edit in stride(from: 0, to: input.count - 2, by: 3) {
            bytes[(Int(input[edit]) << 8 | Int(input[edit + 1])) % bytes.count] = input[edit + 2]
        }
        return bytes
    }
}

/// Whatever is parsed must be written as the very bytes it was read from.
private func require(_ condition: Bool, _ rule: StaticString) {
    if !condition { fatalError("\(rule)") }
}

// Checksums: the one that is there is taken for right, so that the fuzzer need not invert a hash.

private func fuzzHeader(_ bytes: [UInt8]) {
    let tail = Array(bytes.suffix(32))
    guard let header = try? Header(parsing: bytes, checksum: { _ in tail }) else { return }
    let encoded = try? header.encoded(checksum: { _ in tail })
    require(encoded == bytes, "a header has two encodings")
    let digest = [UInt8](repeating: 7, count: 32)
    for slot in header.slots {
        let data = slot.authenticatedData(vault: header.vault, policyDigest: digest)
        require(data.count >= 16 + 4 + 37 + 32, "a slot's authenticated data lacks something")
        if let costs = slot.derivation { try? DerivationLimits.standard.check(costs) }
    }
    var changed = header
    for slot in header.slots { changed.set(slot) }
    require(changed.slots.count == header.slots.count, "a slot was lost")
}

private func fuzzLedgerSector(_ bytes: [UInt8]) {
    let tail = Array(bytes.suffix(32))
    guard let sector = try? LedgerSector(parsing: bytes, checksum: { _ in tail }) else { return }
    require(sector.encoded(checksum: { _ in tail }) == bytes, "a ledger sector has two encodings")
}

private func fuzzManifest(_ bytes: [UInt8]) {
    let digits = String(decoding: bytes.dropLast().suffix(64), as: UTF8.self)
    let digest = Hexadecimal.decode(digits) ?? []
    guard let manifest = try? BackupManifest(parsing: bytes, checksum: { _ in digest }) else { return }
    require(manifest.encoded(checksum: { _ in digest }) == bytes, "a manifest has two encodings")
    for entry in manifest.entries {
        let isFile = entry.path.hasPrefix("files/") && entry.path.utf8.count == 38 && !entry.path.contains("..")
        require(entry.path == "header" || entry.path == "vault.mdb" || isFile, "a manifest leads elsewhere")
        require(entry.digest.count == 32, "a digest has the wrong size")
    }
}

private func fuzzWipeMark(_ bytes: [UInt8]) {
    let tail = Array(bytes.suffix(32))
    guard let mark = try? WipeMark(parsing: bytes, checksum: { _ in tail }) else { return }
    require(mark.encoded(checksum: { _ in tail }) == bytes, "a mark has two encodings")
}

private func fuzzWipeJournal(_ bytes: [UInt8]) {
    let tail = Array(bytes.suffix(32))
    guard let journal = try? WipeJournal(parsing: bytes, checksum: { _ in tail }) else { return }
    require((try? journal.encoded(checksum: { _ in tail })) == bytes, "a journal has two encodings")
    for item in journal.items { require(!item.target.description.utf8.contains(47), "a journal has a path") }
}

private func fuzzWipeReceipt(_ bytes: [UInt8]) {
    guard let receipt = try? WipeReceipt(parsing: bytes) else { return }
    require(receipt.encoded == bytes, "a receipt has two spellings")
}

private func fuzzPolicy(_ bytes: [UInt8]) {
    guard let policy = try? VaultPolicy(parsing: bytes) else { return }
    let encoded = try? policy.encoded()
    require(encoded == bytes, "a policy has two encodings")
    fuzzFallback(policy.fallback)
}

/// JSON from a file that the command line names.
private func fuzzFallbackText(_ bytes: [UInt8]) {
    guard let policy = try? FallbackPolicy(json: bytes) else { return }
    fuzzFallback(policy)
}

/// `hardware.pending`, and that nothing follows from it against the header that is there.
private func fuzzPendingNote(_ bytes: [UInt8]) {
    guard let parsed = try? PendingNote.parse(bytes) else { return }
    require((try? parsed.note.encoded(tags: parsed.tags)) == bytes, "a note has two encodings")
    for named in [parsed.note.leaving, parsed.note.coming, []] {
        for (isBefore, isAfter) in [(true, false), (false, true), (true, true)] {
            switch PendingDecision(parsed.note, named: named, isBefore: isBefore, isAfter: isAfter) {
            case .undo(let gone), .finish(let gone):
                require(!gone.contains(where: named.contains), "a share goes that the header names")
            case .ignore: require(false, "a note that was proved is ignored")
            }
        }
    }
}

private func fuzzShareItem(_ bytes: [UInt8], _ selector: UInt8) {
    let store = KeyStoreKind.allCases[Int(selector / 3) % KeyStoreKind.allCases.count]
    if let item = try? ShareItem(store, parsing: bytes) { require(item.encoded == bytes, "an item has two encodings") }
    if let data = try? DeviceSlotData(parsing: bytes) { require(data.encoded == bytes, "a slot's data, twice") }
    if let data = try? OwnerSlotData(parsing: bytes) { require(data.encoded == bytes, "a slot's data, twice") }
    if let floor = try? LevelFloor(parsing: bytes) { require(floor.encoded == bytes, "a floor has two encodings") }
}

/// Whatever was read is well-formed, and both of its forms give it back.
private func fuzzFallback(_ policy: FallbackPolicy) {
    if policy.asksNobody {
        var reader = ByteReader(policy.encoded())
        return require((try? FallbackPolicy(reading: &reader)) == policy, "a policy's bytes are another policy")
    }
    require((try? FallbackPolicy(policy.rules)) == policy, "a policy was read that cannot be")
    require((try? FallbackPolicy(json: Array(policy.jsonText.utf8))) == policy, "a policy's text is another policy")
    var reader = ByteReader(policy.encoded())
    require((try? FallbackPolicy(reading: &reader)) == policy, "a policy's bytes are another policy")
    for rule in policy.rules where rule.conditions.contains(.cancelled) {
        require(rule.step == .openCompartment, "cancelling leads to a step")
    }
}

private func fuzzKeybag(_ bytes: [UInt8]) {
    let span = unsafe bytes.span.bytes
    guard let layout = try? KeybagLayout(parsing: span) else { return }
    var copy = bytes
    var elements = copy.mutableSpan
    var target = unsafe elements.mutableBytes
    let keys = layout.entries.map { (kind: $0.kind, epoch: $0.epoch) }
    let written = try? KeybagLayout(writing: keys, into: &target)
    require(written == layout && copy == bytes, "a keybag has two encodings")
    for entry in layout.entries {
        require(layout.range(of: entry.kind, epoch: entry.epoch) == entry.range, "a key is not found")
        require(entry.range.count == 32 && entry.range.upperBound <= bytes.count, "a key lies outside")
    }
}

private func fuzzLogEntry(_ bytes: [UInt8]) {
    guard let entry = try? LogEntry(parsing: bytes) else { return }
    require(entry.encoded() == bytes, "a log entry has two encodings")
}

private func fuzzLogFront(_ bytes: [UInt8]) {
    let tail = Array(bytes.suffix(32))
    guard let front = try? LogFront(parsing: bytes, checksum: { _ in tail }) else { return }
    require(front.encoded(checksum: { _ in tail }) == bytes, "a log's front has two encodings")
}

private func fuzzLogState(_ bytes: [UInt8]) {
    let tail = Array(bytes.suffix(32))
    let span = unsafe bytes.span.bytes
    guard let state = try? LogState(parsing: span, checksum: { _ in tail }) else { return }
    require(state.offset >= 192 && state.offset <= 192 * 8192, "a log's next entry lies outside")
    // The key's place is the caller's.
    var copy = [UInt8](repeating: 0, count: LogState.size)
    for offset in LogState.keyRange { copy[offset] = bytes[offset] }
    var elements = copy.mutableSpan
    var target = unsafe elements.mutableBytes
    state.write(into: &target, checksum: { _ in tail })
    require(copy == bytes, "a log's state has two encodings")
}

/// Records, root records and file descriptors: all three over the same bytes.
private func fuzzRecord(_ bytes: [UInt8]) {
    let span = unsafe bytes.span.bytes
    if let fields = try? RecordFields(parsing: span) {
        require(fields.contentOffset <= bytes.count, "a record's content lies outside")
        let front = write(RecordFields.size) { fields.write(into: &$0) }
        require(front == Array(bytes.prefix(RecordFields.size)), "a record's front has two encodings")
    }
    if let root = try? RootRecord(parsing: span) {
        var sum = root.sum
        sum.add(Sum256(span, at: 3))
        sum.subtract(Sum256(span, at: 3))
        require(sum == root.sum, "a sum cannot be undone")
        require(write(root.size) { root.write(into: &$0) } == bytes, "a root record has two encodings")
    }
    if let file = try? FileDescriptor(parsing: span) {
        if let size = FileFormat.sizeOnDisk(length: file.length) { require(size > file.length, "a size wrapped") }
        let front = write(FileDescriptor.keyRange.lowerBound) { file.write(into: &$0) }
        require(front == Array(bytes.prefix(front.count)), "a file descriptor has two encodings")
    }
}

/// An item, written anew entry by entry; entries that nobody knows are copied.
private func fuzzItem(_ bytes: [UInt8]) {
    let span = unsafe bytes.span.bytes
    guard let item = try? ItemLayout(parsing: span) else { return }
    let empty = span.extracting(0..<0)
    var end = ItemLayout.frontSize
    let written = write(bytes.count) { target in
        item.front.write(into: &target)
        for field in item.fields {
            end = ItemEntry.field(field.kind, label: span.text(field.label))
                .write(span.extracting(field.value), into: &target, at: end)
        }
        for tag in item.tags { end = ItemEntry.tag(span.text(tag)).write(empty, into: &target, at: end) }
        if let notes = item.notes { end = ItemEntry.notes.write(span.extracting(notes), into: &target, at: end) }
        if let trash = item.trash {
            end = ItemEntry.trash(moved: trash.moved, expires: trash.expires, name: span.text(trash.name))
                .write(empty, into: &target, at: end)
        }
        for earlier in item.history {
            end = ItemEntry.earlier(
                replaced: earlier.replaced, earlier.field.kind, label: span.text(earlier.field.label)
            ).write(span.extracting(earlier.field.value), into: &target, at: end)
        }
        for entry in item.entries where entry.tag > ItemLayout.Tag.earlier {
            target.store(span.extracting(entry.whole), at: end)
            end = entry.range.upperBound
        }
    }
    require(end == bytes.count && written == bytes, "an item has two encodings")
}

private func write(_ count: Int, _ body: (inout MutableRawSpan) -> Void) -> [UInt8] {
    var bytes = [UInt8](repeating: 0xFF, count: count)
    var elements = bytes.mutableSpan
    var span = unsafe elements.mutableBytes
    body(&span)
    return bytes
}

/// Valid bytes of each structure.
private enum Samples {
    static let vault = VaultID(bytes: Array(1...16))!

    static let wipeItems = ["keys", "files", "org.example.cache"].compactMap { WipeTargetID($0) }.map { WipeItem($0) }
    static let wipeMark = WipeMark(vault: vault, cause: .owner, begun: 5).encoded { _ in
        [UInt8](repeating: 9, count: 32)
    }
    static let wipeJournal =
        (try? WipeJournal(vault: vault, sequence: 3, items: wipeItems).encoded { _ in
            [UInt8](repeating: 9, count: 32)
        }) ?? []
    static let wipeReceipt: [UInt8] = {
        var receipt = WipeReceipt(
            vault: vault, cause: .attempts, begun: 5, ended: 6, items: wipeItems, strangers: 0, keyOrigin: .wipe,
            key: [UInt8](repeating: 2, count: 33))
        receipt.signature = [UInt8](repeating: 7, count: 64)
        return receipt.encoded
    }()

    static let policy: [UInt8] = {
        var policy = VaultPolicy.standard
        policy.collectionMinima = ["a": .presence, "b": .keyBound, "é": .hardwareLimited]
        policy.usesBiometrics = true
        policy.remembersPasscode = false
        policy.fallback = .neverBlocks
        return (try? policy.encoded()) ?? []
    }()

    static let fallbackText = Array(FallbackPolicy.neverBlocks.jsonText.utf8)

    static let shareName = ShareName(vault: vault, nonce: [UInt8](repeating: 5, count: 16))!
    static let keyringItem = ShareItem(shareName, .named(.secretService, backend: "keyring"))
    static let chipItem = ShareItem(
        shareName,
        .index(
            ShareItem.Index(
                handle: 0x0180_0001, name: [UInt8](repeating: 6, count: 34),
                authorisation: [UInt8](repeating: 7, count: 32))))

    static let pendingNote: [UInt8] = {
        var note = PendingNote()
        note.move = PendingNote.Move(from: .device, to: .secret)
        note.leaving = [keyringItem]
        note.coming = [chipItem]
        return (try? note.encoded(tags: [[UInt8](repeating: 1, count: 32)])) ?? []
    }()

    static let header: [UInt8] = {
        let fill = { (byte: UInt8, count: Int) in [UInt8](repeating: byte, count: count) }
        var slots = [
            Slot(
                id: 1, kind: .passcode, flags: [.bindsPolicy, .hardwareShare],
                derivation: DerivationParameters(passes: 3, memoryKiB: 65_536), salt: fill(1, 16),
                commitment: fill(2, 32), hardwareName: [1, 2, 3]),
            Slot(
                id: 2, kind: .recoveryPhrase, flags: [], derivation: nil, salt: fill(3, 16), commitment: fill(4, 32)),
            Slot(
                id: 3, kind: SlotKind(rawValue: 77), flags: [], derivation: nil, salt: fill(5, 16),
                commitment: fill(6, 32)),
            Slot(
                id: 4, kind: .pin, flags: [.bindsPolicy, .hardwareShare],
                derivation: DerivationParameters(passes: 3, memoryKiB: 65_536), salt: fill(8, 16),
                commitment: fill(9, 32), hardwareName: [4, 5, 6]),
            Slot(
                id: 5, kind: .device, flags: .hardwareShare, derivation: nil, salt: fill(8, 16),
                commitment: fill(9, 32), hardwareName: [2]),
            Slot(
                id: 6, kind: .deviceOwner, flags: .hardwareShare, derivation: nil, salt: fill(8, 16),
                commitment: fill(9, 32), hardwareName: [1]),
        ]
        for index in slots.indices {
            slots[index].nonce = fill(7, 12)
            slots[index].wrappedKey = fill(8, 48)
        }
        slots[2].kindData = [1, 2, 3, 4]
        slots[4].kindData = DeviceSlotData(keyringItem).encoded
        slots[5].kindData = OwnerSlotData(chipItem, secret: fill(1, 32), enrollment: "a")?.encoded ?? []
        var policy = VaultPolicy.standard
        policy.collectionMinima = ["a": .presence, "b": .keyBound]
        let header = Header(
            vault: vault, generation: 1, created: 2, epoch: 3, policy: policy, sealedKeybag: fill(9, 65), slots: slots)
        return (try? header.encoded(checksum: { _ in fill(0, 32) })) ?? []
    }()

    static let sector = LedgerSector(
        vault: vault, sequence: 1, spent: 2, refused: 1, delay: 30_000, delayStart: 5,
        bootID: [UInt8](repeating: 1, count: 16)
    ).encoded(checksum: { _ in [UInt8](repeating: 0, count: 32) })

    static let chain = LogChain(bytes: Array(17...32))!
    static let moment = LogMoment(time: 1, bootID: Array(33...48), bootMilliseconds: 2)

    static let logEntry = LogEntry(
        moment: moment,
        event: .restarted(
            LogRestart(
                reason: .stateLost, previous: LogLink(chain: chain, first: 3), found: 4, refused: 1, unsettled: 0))
    ).encoded()

    static let logFront = LogFront(vault: vault, chain: chain, first: 5, epoch: 1)
        .encoded(checksum: { _ in [UInt8](repeating: 0, count: 32) })

    static let logState: [UInt8] = {
        var state = LogState(
            kind: .live, vault: vault, chain: chain, first: 5, next: 9, bootID: Array(33...48),
            recipient: LogState.Recipient(epoch: 1, point: [2] + Array(1...32)))
        var run = LogRun(since: 1)
        run.add(.refused)
        state.run = LogState.Run(run: run, kind: .refused, last: moment)
        return write(LogState.size) { bytes in
            for offset in 0..<LogState.size { bytes.store(UInt8(0), at: offset) }
            state.write(into: &bytes, checksum: { _ in [UInt8](repeating: 0, count: 32) })
        }
    }()

    static let manifest: [UInt8] = {
        let digest = [UInt8](repeating: 0xAB, count: 32)
        let paths = ["header", "vault.mdb", "files/00112233445566778899aabbccddeeff"]
        let entries = paths.map { BackupManifest.Entry(path: $0, size: 16_384, digest: digest) }
        return BackupManifest(vault: vault, entries: entries).encoded(checksum: { _ in digest })
    }()

    static let keybag: [UInt8] = {
        let keys = KeybagLayout.Kind.allCases.map { (kind: $0, epoch: UInt32(1)) } + [(kind: .records, epoch: 2)]
        return write(KeybagLayout.size(entries: keys.count)) { _ = try? KeybagLayout(writing: keys, into: &$0) }
    }()

    static let item: [UInt8] = {
        let front = ItemFront(kind: .login, isFavourite: true, id: ItemID(Array(1...16))!, created: 1, modified: 2)
        let value = Array("otpauth://totp/x".utf8)
        let entries: [(entry: ItemEntry, value: [UInt8])] = [
            (.field(.text, label: "username"), [0x61]), (.field(.secret, label: "password"), [1, 2]),
            (.field(.oneTimeCode, label: "code"), value), (.field(.date, label: "until"), Array("2031-12".utf8)),
            (.field(.file, label: "scan"), [1, 0, 0x61, 7]), (.tag("a"), []), (.tag("b"), []), (.notes, [0x61]),
            (.trash(moved: 1, expires: 2, name: "x"), []),
            (.earlier(replaced: 3, .secret, label: "password"), [9]),
        ]
        let size = entries.reduce(ItemLayout.frontSize) { $0 + $1.entry.size(value: $1.value.count) }
        let known = write(size) { bytes in
            front.write(into: &bytes)
            var offset = ItemLayout.frontSize
            for (entry, value) in entries { offset = unsafe entry.write(value.span.bytes, into: &bytes, at: offset) }
        }
        return known + [99, 2, 0, 0, 0, 5, 6]
    }()

    static let record: [UInt8] = {
        let fields = RecordFields(
            kind: .inline, origin: .protected, sequence: 1, created: 2, modified: 3, collectionSize: 7, nameSize: 9)
        return write(RecordFields.size) { fields.write(into: &$0) } + [UInt8](repeating: 0x61, count: 24)
    }()
}
