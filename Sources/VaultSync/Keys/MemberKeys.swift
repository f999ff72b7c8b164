internal import Cryptography
package import SecretMemory
package import SyncFormat
internal import VaultFormat

/// The keys of this device as a member of a group: one that signs and one that boxes are sealed to. Drawn for the group
/// and never the identity's.
package struct MemberKeys: ~Copyable, Sendable {
    /// Bytes as which they are kept: both scalars.
    package static let size = 2 * P256PrivateKey.scalarSize

    let signing: P256PrivateKey
    let box: P256PrivateKey
    /// Which member this is.
    package let id: SyncMemberID

    private init(signing: consuming P256PrivateKey, box: consuming P256PrivateKey) throws(SyncError) {
        id = try MemberKeys.id(signing: signing.publicKey.compressed, box: box.publicKey.compressed)
        self.signing = signing
        self.box = box
    }

    /// Draws new ones.
    package static func generate() throws(SyncError) -> MemberKeys {
        let signing = try crypto { () throws(CryptographyError) in try P256PrivateKey.generate() }
        let box = try crypto { () throws(CryptographyError) in try P256PrivateKey.generate() }
        return try MemberKeys(signing: signing, box: box)
    }

    /// Those that were kept.
    package init(_ bytes: borrowing SecretBytes) throws(SyncError) {
        guard bytes.count == MemberKeys.size else { throw .format(.wrongSize) }
        let half = P256PrivateKey.scalarSize
        let signing = try bytes.withPart(0..<half) { part throws(SyncError) in
            try crypto { () throws(CryptographyError) in try P256PrivateKey(scalar: part) }
        }
        let box = try bytes.withPart(half..<2 * half) { part throws(SyncError) in
            try crypto { () throws(CryptographyError) in try P256PrivateKey(scalar: part) }
        }
        try self.init(signing: signing, box: box)
    }

    /// Both scalars, to be kept in the vault.
    package borrowing func bytes() throws(SyncError) -> SecretBytes {
        let first = try crypto { () throws(CryptographyError) in try signing.scalar() }
        let second = try crypto { () throws(CryptographyError) in try box.scalar() }
        return try secretMemory { () throws(SecretMemoryError) in
            var bytes = try SecretBytes(zeroed: MemberKeys.size)
            bytes.withMutableBytes { bytes in
                first.withBytes { bytes.store(copying: $0, at: 0) }
                second.withBytes { bytes.store(copying: $0, at: P256PrivateKey.scalarSize) }
            }
            return bytes
        }
    }

    /// What a roster has of this member.
    package borrowing func record(name: String) throws(SyncError) -> MemberRecord {
        let (signing, box) = (signing.publicKey.compressed, box.publicKey.compressed)
        return try format { () throws(FormatError) in
            try MemberRecord(
                id: id, signingKey: signing, boxKey: box, format: EntryFront.version, name: name)
        }
    }

    /// The id of the member with these public keys.
    static func id(signing: [UInt8], box: [UInt8]) throws(SyncError) -> SyncMemberID {
        var hasher = try crypto { () throws(CryptographyError) in
            try BLAKE3(deriveKeyContext: "holdfast/1/sync-member")
        }
        (signing + box).lend { hasher.update($0) }
        return hasher.finalize().withBytes { SyncMemberID(truncating: $0) }
    }
}

/// The public keys that entries are verified with: of the members, and of removed ones for what counts of theirs.
package struct SyncSigners: Sendable {
    private let keys: [(id: SyncMemberID, key: P256PublicKey)]

    /// - Throws: `notAuthentic` for an id that is not that of its keys, or a key that is no point of the curve.
    package init(_ members: [MemberRecord]) throws(SyncError) {
        var keys: [(id: SyncMemberID, key: P256PublicKey)] = []
        for member in members {
            guard try MemberKeys.id(signing: member.signingKey, box: member.boxKey) == member.id else {
                throw .notAuthentic("member id")
            }
            keys.append((member.id, try PublicKey.parse(member.signingKey)))
        }
        self.keys = keys
    }

    /// Whose signature an envelope has; nil for nobody's of these.
    /// - Parameter member: The only one that it may be, where that is known.
    func signer(of envelope: Envelope, _ member: SyncMemberID? = nil) -> SyncMemberID? {
        guard let message = envelope.signedMessage else { return nil }
        return keys.first { entry in
            (member == nil || entry.id == member) && envelope.isSigned(message, by: entry.key)
        }?.id
    }
}

enum PublicKey {
    static func parse(_ compressed: [UInt8]) throws(SyncError) -> P256PublicKey {
        try authentic("member key") { () throws(CryptographyError) in
            try compressed.lend { bytes throws(CryptographyError) in try P256PublicKey(compressed: bytes) }
        }
    }
}
