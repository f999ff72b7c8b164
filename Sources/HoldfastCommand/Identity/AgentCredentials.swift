internal import AgentMessages
internal import BetterAuth
internal import Holdfast
internal import HoldfastAgent

/// The credentials in a vault that the agent holds open.
final class AgentCredentials: CredentialStore, @unchecked Sendable {  // the client's operations take turns
    private let agent: AgentClient
    private let path: RecordPath

    init(_ agent: consuming AgentClient) throws(CommandError) {
        guard let path = RecordPath(collection: Vault.identityCollection, name: VaultCredentials.record) else {
            throw .failure("failure", "the name of the identity's record is not one")
        }
        self.agent = agent
        self.path = path
    }

    func load() throws -> SecretBytes? {
        var pieces: [Piece] = []
        do {
            try agent.get(path) { pieces.append(Piece(try SecretBytes(copying: $0))) }
        } catch let error as VaultError {
            if error.code == .recordNotFound { return nil }
            throw IdentityError(error)
        }
        var record = try SecretBytes(zeroed: pieces.reduce(0) { $0 + $1.bytes.count })
        var offset = 0
        for piece in pieces {
            piece.bytes.withBytes { from in record.copy(from, to: offset) }
            offset += piece.bytes.count
        }
        return record
    }

    func save(_ record: borrowing SecretBytes) throws {
        var done = 0
        do {
            try record.withBytes { record in
                _ = try agent.put(path, replacing: true) { target in
                    let count = min(target.byteCount, record.byteCount - done)
                    let part = record.extracting(done..<done + count)
                    unsafe target.withUnsafeMutableBytes { target in
                        unsafe part.withUnsafeBytes { unsafe target.copyMemory(from: $0) }
                    }
                    done += count
                    return count
                }
            }
        } catch let error as VaultError { throw IdentityError(error) }
    }

    func erase() throws {
        do throws(VaultError) { try agent.remove(path) } catch {
            if error.code != .recordNotFound { throw IdentityError(error) }
        }
    }

    /// Arrays hold no noncopyable values.
    private final class Piece {
        let bytes: SecretBytes
        init(_ bytes: consuming SecretBytes) { self.bytes = bytes }
    }
}

extension SecretBytes {
    fileprivate mutating func copy(_ bytes: RawSpan, to offset: Int) {
        withMutableBytes { target in
            target.withPart(offset..<offset + bytes.byteCount) { part in
                unsafe part.withUnsafeMutableBytes { part in
                    unsafe bytes.withUnsafeBytes { unsafe part.copyMemory(from: $0) }
                }
            }
        }
    }
}
