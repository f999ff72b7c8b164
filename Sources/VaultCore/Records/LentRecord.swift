internal import SecretMemory
internal import VaultFormat
internal import VaultHeader
internal import VaultStorage

/// A record's plaintext in a reader's buffer. Its end wipes the buffer and gives the reader back.
///
/// So that reading is one piece of work that is not generic, and only the lending itself is.
@safe struct LentRecord: ~Copyable {
    // Both outlive this value: the vault's method that asked for it holds the vault.
    private let gate: Unmanaged<Gate>
    private let reader: Unmanaged<RecordReader>
    /// Nil when the reader was made, or taken out of its place, for this use.
    private let taken: TakenReader?
    private let size: Int
    let fields: RecordFields
    /// What comes after the fields and names; lies in the reader's buffer.
    private let content: UnsafeRawBufferPointer

    fileprivate init(
        _ opened: RecordReader.Opened, in reader: Unmanaged<RecordReader>, _ taken: TakenReader?,
        of gate: Unmanaged<Gate>
    ) {
        size = opened.size
        fields = opened.fields
        unsafe content = opened.content
        unsafe self.reader = reader
        self.taken = taken
        unsafe self.gate = gate
    }

    deinit {
        unsafe reader._withUnsafeGuaranteedRef { $0.wipe(size) }
        unsafe gate._withUnsafeGuaranteedRef { gate in unsafe LentRecord.giveBack(reader, taken, to: gate) }
    }

    fileprivate static func giveBack(_ reader: Unmanaged<RecordReader>, _ taken: TakenReader?, to gate: Gate) {
        if let taken {
            WorkingMemory.wipe(.reading)
            gate.end(taken)
        } else {
            unsafe gate.leave(returning: reader.takeRetainedValue())
        }
    }

    /// Lends the content.
    @inline(__always)
    borrowing func withContent<R: ~Copyable>(_ body: (RawSpan) throws -> R) throws -> R {
        try unsafe body(RawSpan(_unsafeBytes: content))
    }
}

extension Gate {
    /// Finds and decrypts a record. What is returned must not outlive the gate.
    /// - Throws: `locked`, `assuranceTooLow`, `recordNotFound`, `damaged`, `keysChanged`.
    func lendRecord(collection: String, name: String) throws(VaultError) -> LentRecord {
        let taken = takeReader()
        let reader: Unmanaged<RecordReader>
        if let taken {
            unsafe reader = taken.reader
        } else {
            unsafe reader = .passRetained(try enterWithReader())
        }
        switch unsafe reader._withUnsafeGuaranteedRef({ $0.open(collection: collection, name: name) }) {
        case .success(let opened): return unsafe LentRecord(opened, in: reader, taken, of: .passUnretained(self))
        case .failure(let error):
            unsafe LentRecord.giveBack(reader, taken, to: self)
            throw error
        }
    }
}
