internal import Cryptography
internal import SecretMemory
package import VaultFormat
internal import VaultHeader
package import VaultStorage
internal import SystemCalls

extension Vault {
    /// A value to be taken piece by piece.
    /// - Throws: `locked`, `recordNotFound`, `damaged`, `outOfMemory`, `invalidName`.
    package func reader(for name: String, in collection: String) throws -> ValueReader {
        // The record is read again when its file went away meanwhile: another process replaced it.
        do {
            return try openReader(name, collection)
        } catch let error as VaultError where error.code == .damaged {
            return try openReader(name, collection)
        }
    }

    private func openReader(_ name: String, _ collection: String) throws -> ValueReader {
        var value: SecretBytes?
        let file = try openFile(name, collection) { value = try SecretBytes(copying: $0) }
        return ValueReader(value.take(), file, gate)
    }

    /// A value to be given piece by piece; nothing is changed before ``ValueWriter/finish()``.
    /// - Parameter besides: Places of which none may have a record if this one is new.
    /// - Throws: `locked`, `recordExists` unless `replacing`, `isItem`, `damaged`, `invalidName`.
    package func writer(
        for name: String, in collection: String, replacing: Bool, besides: [RecordName] = []
    ) throws(VaultError) -> ValueWriter {
        guard RecordLimits.allow(collection: collection, name: name) else { throw .invalidName }
        guard isUnlocked else { throw .locked }
        try requirePlace(for: name, in: collection, replacing: replacing)
        var draft = RecordDraft(
            collection: collection, name: name, replacing: replacing, now: WallClock.milliseconds)
        draft.besides = besides
        return ValueWriter(self, draft)
    }

    /// Follows the header on the disk to a newer one of the same keys, whose rules are in effect from then on. What the
    /// unlock proved stays as it was.
    ///
    /// New keys, an older header and one that the keys in memory do not authenticate are not followed.
    /// - Parameter allows: Whether the vault may stay open under the rules of a newer header.
    /// - Returns: Whether the vault is open under the header that is on the disk. The caller locks it otherwise.
    /// - Throws: `locked`, and what reading the header throws: `damaged`, `noVault`.
    package func followHeader(
        if allows: (VaultPolicy) -> Bool = { _ in true }
    ) throws(VaultError) -> Bool {
        guard let open = gate.current else { throw .locked }
        let keys = open.keys
        let header = try HeaderFile.read(in: home)
        guard header.vault == keys.vault else { return false }
        guard header.generation != keys.generation else { return true }
        guard header.generation > keys.generation, header.epoch == keys.current.epoch,
            keys.headerKeys.authenticates(header), allows(header.policy)
        else { return false }
        let proved = keys.admission.assurance
        let next = try UnlockedKeys(
            header: header, headerKeys: keys.headerKeys.copy(),
            keybag: Keybag(opened: keys.headerKeys.openKeybag(of: header)),
            admission: Admission(proved, policy: header.policy.collectionMinima, settings: settings.minima))
        gate.replace(open, with: try UnlockedVault(next, in: home))
        return true
    }

    /// Of the header whose keys and rules are in effect now; nil while the vault is locked.
    package var openGeneration: UInt64? { gate.current?.keys.generation }
}

/// A value that is taken piece by piece at the taker's pace. Between two pieces the vault can be locked, which ends it.
package final class ValueReader: @unchecked Sendable {  // for one thread at a time
    private let gate: Gate
    /// What lies in the record itself.
    private let value: SecretBytes?
    private let file: FileReader?
    private var position = 0
    private var chunk: UInt64 = 0

    fileprivate init(_ value: consuming SecretBytes?, _ file: FileReader?, _ gate: Gate) {
        self.value = value
        self.file = file
        self.gate = gate
    }

    deinit {
        if let file { gate.unregister(file) }
    }

    /// Lends the next piece, of at most 64 KiB; an empty value has one that is empty.
    /// - Throws: `locked`, `damaged`, and what `body` throws.
    package func next<R>(_ body: (_ piece: RawSpan, _ isLast: Bool) throws -> R) throws -> R {
        if let file {
            defer { chunk += 1 }
            return try file.lendChunk(chunk, gate) { try body($0, chunk + 1 >= file.chunks) }
        }
        try gate.checkOpen()
        switch value {
        case .none: throw VaultError.locked
        case .some(let value):
            let part = position..<min(position + FileFormat.chunkSize, value.count)
            position = part.upperBound
            return try value.withBytes { try body($0.extracting(part), part.upperBound == value.count) }
        }
    }
}

/// A value that is given piece by piece at the giver's pace. Dropped unfinished, it changes nothing.
package final class ValueWriter: @unchecked Sendable {  // for one thread at a time
    private let vault: Vault
    private var draft: RecordDraft
    /// What came so far, as long as it may fit into a record; as large as it needs to be, since few bytes may be
    /// locked.
    private var buffer: SecretBytes?
    private var file: FileWriter?
    private var length: UInt64 = 0

    private static let smallestBuffer = 4096

    fileprivate init(_ vault: Vault, _ draft: RecordDraft) {
        self.vault = vault
        self.draft = draft
    }

    deinit {
        if let file { vault.gate.unregister(file) }
    }

    /// Adds bytes, at most 64 KiB at a time.
    /// - Throws: `locked`, `outOfMemory`, `diskFull` and what else writing can throw.
    package func append(_ bytes: RawSpan) throws(VaultError) {
        try vault.gate.checkOpen()
        if file == nil, length + UInt64(bytes.byteCount) > UInt64(Vault.largestInlineValue) { try moveToFile() }
        if let file {
            try vault.gate.step(of: file) { () throws(VaultError) in try file.append(bytes) }
        } else {
            try keep(bytes)
        }
        length += UInt64(bytes.byteCount)
    }

    private func moveToFile() throws(VaultError) {
        let writer = try vault.openWriter()
        file = writer
        draft.kind = .file
        let count = Int(length)
        switch buffer {
        case .none: break
        case .some(let kept):
            try kept.withBytes { kept throws(VaultError) in
                try vault.gate.step(of: writer) { () throws(VaultError) in
                    try writer.append(kept.extracting(0..<count))
                }
            }
        }
        buffer = nil
    }

    private func keep(_ bytes: RawSpan) throws(VaultError) {
        let start = Int(length)
        let end = start + bytes.byteCount
        try makeRoom(for: end)
        switch buffer.take() {
        case .none: return
        case .some(var kept):
            kept.withMutableBytes { kept in
                kept.withPart(start..<end) { part in
                    unsafe part.withUnsafeMutableBytes { part in
                        unsafe bytes.withUnsafeBytes { unsafe part.copyMemory(from: $0) }
                    }
                }
            }
            buffer = consume kept
        }
    }

    private func makeRoom(for count: Int) throws(VaultError) {
        let size: Int =
            switch buffer {
            case .none: 0
            case .some(let kept): kept.count
            }
        guard count > size else { return }
        let larger = min(max(ValueWriter.smallestBuffer, size * 2, count), Vault.largestInlineValue)
        var grown = try secretMemory(SecretBytes(zeroed: larger))
        switch buffer.take() {
        case .none: break
        case .some(let kept):
            grown.withMutableBytes { grown in
                unsafe grown.withUnsafeMutableBytes { grown in
                    kept.withBytes { kept in
                        unsafe kept.withUnsafeBytes { unsafe grown.copyMemory(from: $0) }
                    }
                }
            }
        }
        buffer = consume grown
    }

    /// Stores the value; durable when it returns.
    /// - Returns: Its bytes.
    /// - Throws: As ``Vault/put(_:for:in:replacing:)``.
    package func finish() throws(VaultError) -> UInt64 {
        if let file {
            try vault.store(file, draft)
            vault.gate.unregister(file)
            return length
        }
        let (count, draft) = (Int(length), draft)
        switch buffer {
        case .none:
            let empty: [UInt8] = []
            try vault.store(draft, unsafe empty.span.bytes)
        case .some(let kept):
            try kept.withBytes { kept throws(VaultError) in try vault.store(draft, kept.extracting(0..<count)) }
        }
        buffer = nil
        return length
    }
}
