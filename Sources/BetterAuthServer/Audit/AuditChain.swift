internal import Cryptography
internal import SecretMemory

/// The key that proves the next line of a chain. What proves a line is gone when the line is there: the keys behind a
/// place follow from it, those before it do not (constructions.md 8.2).
struct AuditChain: ~Copyable {
    /// Of the digits that name a chain, and of those that prove a line.
    static let digits = 32
    private static let nextLabel = "holdfast/1/audit-next"
    private static let lineLabel = "holdfast/1/audit-line"

    let id: String
    /// The number of the line to come.
    private(set) var next: UInt64 = 0
    private var key: SecretBytes

    /// A new chain.
    init(_ key: AuditKey) throws {
        let random = try SecureRandom.bytes(AuditChain.digits / 2)
        try self.init(key, id: unsafe AuditHex.text(random.span.bytes))
    }

    /// The chain of this name, at its first line.
    init(_ key: AuditKey, id: String) throws {
        self.id = id
        self.key = try key.root(of: id)
    }

    private init(_ id: String, _ next: UInt64, _ key: consuming SecretBytes) {
        self.id = id
        self.next = next
        self.key = key
    }

    /// The same place of the same chain.
    borrowing func copy() throws -> AuditChain { AuditChain(id, next, try key.copy()) }

    /// What proves a line at this place.
    /// - Parameter text: The line as it is in front of the proof.
    borrowing func tag(_ text: [UInt8]) throws -> String {
        let own = try AuditKey.derived(from: key, AuditChain.lineLabel)
        let digest = try own.withBytes { key in try unsafe BLAKE3.keyedHash(text.span.bytes, key: key) }
        return digest.withBytes { AuditHex.text($0.extracting(0..<AuditChain.digits / 2)) }
    }

    /// Goes to the next place. The key before is overwritten.
    mutating func advance() throws {
        key = try AuditKey.derived(from: key, AuditChain.nextLabel)
        next += 1
    }
}
