internal import Cryptography
package import SecretMemory
internal import SyncFormat
internal import VaultFormat

/// P: names and seals the pieces of contents that are too large for an entry. Equal contents of one epoch have equal
/// pieces.
package struct PieceKey: ~Copyable, Sendable {
    package static let size = 32

    private let bytes: SecretBytes

    /// - Throws: `format` unless there are 32 bytes.
    package init(_ bytes: consuming SecretBytes) throws(SyncError) {
        guard bytes.count == PieceKey.size else { throw .format(.wrongSize) }
        self.bytes = bytes
    }

    /// The key that a list of pieces has.
    /// - Parameter list: A whole list (``SyncFormat/PieceList``).
    package init(of list: RawSpan) throws(SyncError) {
        _ = try format { () throws(FormatError) in try PieceList(parsing: list) }
        let key = list.extracting(PieceList.keyRange)
        bytes = try secretMemory { () throws(SecretMemoryError) in try SecretBytes(copying: key) }
    }

    /// The name of a piece on the road.
    package borrowing func id(of content: RawSpan) throws(SyncError) -> [UInt8] {
        try crypto { () throws(CryptographyError) in
            try bytes.withBytes { key throws(CryptographyError) in try BLAKE3.keyedHash(content, key: key).bytes }
        }
    }

    /// Seals a piece: 1 to 32,000 bytes.
    package borrowing func seal(_ content: RawSpan) throws(SyncError) -> (id: [UInt8], bytes: [UInt8]) {
        guard (1...PieceList.pieceSize).contains(content.byteCount) else { throw .format(.wrongSize) }
        let id = try id(of: content)
        return (id, try seal(content, as: id))
    }

    /// Seals a piece under an id, which is its own.
    borrowing func seal(_ content: RawSpan, as id: [UInt8]) throws(SyncError) -> [UInt8] {
        let key = try key(of: id)
        var plaintext = try secretMemory { () throws(SecretMemoryError) in
            try SecretBytes(zeroed: PieceList.sealedSize - AES256GCM.tagSize)
        }
        plaintext.withMutableBytes { plaintext in
            plaintext.store(UInt16(clamping: content.byteCount), at: 0)
            plaintext.store(copying: content, at: 2)
        }
        var bytes = [UInt8](repeating: 0, count: PieceList.sealedSize)
        try crypto { () throws(CryptographyError) in
            var cipher = try AES256GCM(key: key)
            // The key belongs to this content: nothing else is ever sealed under it.
            let zeros = [UInt8](repeating: 0, count: AES256GCM.nonceSize)
            guard let nonce = zeros.lend({ Nonce96(copying: $0) }) else { throw .invalidSize }
            var elements = bytes.mutableSpan
            var output = unsafe elements.mutableBytes
            try plaintext.withBytes { plaintext throws(CryptographyError) in
                try id.lend { id throws(CryptographyError) in
                    try cipher.seal(plaintext, RawSpan(), nonce: nonce, authenticating: id, into: &output)
                }
            }
        }
        return bytes
    }

    /// Opens a piece: whoever wrote it, its content has this id.
    /// - Throws: `notAuthentic` for any other bytes.
    package borrowing func open(_ sealed: [UInt8], id: [UInt8]) throws(SyncError) -> SecretBytes {
        guard sealed.count == PieceList.sealedSize, id.count == PieceList.idSize else { throw .format(.wrongSize) }
        let key = try key(of: id)
        var plaintext = try secretMemory { () throws(SecretMemoryError) in
            try SecretBytes(zeroed: PieceList.sealedSize - AES256GCM.tagSize)
        }
        try authentic("piece") { () throws(CryptographyError) in
            var cipher = try AES256GCM(key: key)
            let nonce = [UInt8](repeating: 0, count: AES256GCM.nonceSize)
            try plaintext.withMutableBytes { plaintext throws(CryptographyError) in
                try sealed.lend { sealed throws(CryptographyError) in
                    try nonce.lend { nonce throws(CryptographyError) in
                        try id.lend { id throws(CryptographyError) in
                            try cipher.open(sealed, nonce: nonce, authenticating: id, into: &plaintext)
                        }
                    }
                }
            }
        }
        return try content(of: plaintext, id)
    }

    private borrowing func content(
        of plaintext: borrowing SecretBytes, _ id: [UInt8]
    ) throws(SyncError) -> SecretBytes {
        try plaintext.withBytes { plaintext throws(SyncError) in
            let size = Int(plaintext.present(at: 0, as: UInt16.self))
            // Whoever has the list could have sealed this: it is no fault of the entry that names the piece.
            guard (1...PieceList.pieceSize).contains(size) else { throw .notAuthentic("piece") }
            for offset in 2 + size..<plaintext.byteCount where plaintext.present(at: offset, as: UInt8.self) != 0 {
                throw .notAuthentic("piece")
            }
            let content = plaintext.extracting(2..<2 + size)
            let found = try self.id(of: content)
            guard found.lend({ found in id.lend { constantTimeEquals(found, $0) } }) else {
                throw .notAuthentic("piece")
            }
            return try secretMemory { () throws(SecretMemoryError) in try SecretBytes(copying: content) }
        }
    }

    private borrowing func key(of id: [UInt8]) throws(SyncError) -> SecretBytes {
        try crypto { () throws(CryptographyError) in
            try id.lend { id throws(CryptographyError) in
                try HKDFSHA256.derive(
                    bytes, salt: id, info: "holdfast/1/sync-piece", count: AES256GCM.keySize)
            }
        }
    }

    /// The list of a content's pieces, which a change carries. Each of them (``SyncFormat/PieceList/contentRange(_:)``)
    /// is sealed and on the road before the list is.
    /// - Parameter content: More than nothing, at most 1 GiB.
    package borrowing func list(of content: RawSpan) throws(SyncError) -> SecretBytes {
        let list = try format { () throws(FormatError) in try PieceList(length: UInt64(content.byteCount)) }
        var bytes = try secretMemory { () throws(SecretMemoryError) in try SecretBytes(zeroed: list.size) }
        let whole = try PieceKey.hash(content)
        bytes.withMutableBytes { target in
            list.write(into: &target)
            self.bytes.withBytes { target.store(copying: $0, at: PieceList.keyRange.lowerBound) }
            whole.lend { target.store(copying: $0, at: PieceList.hashRange.lowerBound) }
        }
        for index in 0..<list.count {
            let id = try id(of: content.extracting(list.contentRange(index)))
            bytes.withMutableBytes { target in
                id.lend { target.store(copying: $0, at: list.idRange(index).lowerBound) }
            }
        }
        return bytes
    }

    /// BLAKE3 of a secret content.
    static func hash(_ content: RawSpan) throws(SyncError) -> [UInt8] {
        var hasher = try crypto { () throws(CryptographyError) in try BLAKE3.ofSecret() }
        hasher.update(content)
        return hasher.finalize().bytes
    }
}

/// A content that is put together out of its pieces, in their order.
package struct PieceAssembly: ~Copyable {
    private let key: PieceKey
    private let list: PieceList
    private let ids: [[UInt8]]
    private let hash: [UInt8]
    private var content: SecretBuffer
    private var taken = 0

    /// - Parameters:
    ///   - list: The bytes of the whole list.
    ///   - limit: Bytes of the longest content that is wanted.
    /// - Throws: `format` for what is no list, or is longer.
    package init(_ list: RawSpan, limit: UInt64) throws(SyncError) {
        let layout = try format { () throws(FormatError) in try PieceList(parsing: list) }
        guard layout.length <= limit else { throw .format(.invalid(field: "piece list")) }
        key = try PieceKey(of: list)
        ids = (0..<layout.count).map { list.copied(layout.idRange($0)) }
        hash = list.copied(PieceList.hashRange)
        content = SecretBuffer(limit: Int(layout.length))
        self.list = layout
    }

    /// The id of the piece that comes next; nil when all are there.
    package var next: [UInt8]? { taken < ids.count ? ids[taken] : nil }

    /// Takes the next piece.
    /// - Throws: `notAuthentic`, `format`; then the same piece is still wanted.
    package mutating func add(_ sealed: [UInt8]) throws(SyncError) {
        guard let id = next else { throw .format(.wrongSize) }
        let piece = try key.open(sealed, id: id)
        guard piece.count == list.contentRange(taken).count else { throw .format(.invalid(field: "piece size")) }
        do throws(SecretMemoryError) {
            try piece.withBytes { piece throws(SecretMemoryError) in try content.append(piece) }
        } catch { throw .cryptography(.memory(error)) }
        taken += 1
    }

    /// The content, once all pieces are there.
    /// - Throws: `notAuthentic` where it has not the hash that the list has.
    package borrowing func finish() throws(SyncError) -> SecretBytes {
        guard next == nil else { throw .format(.wrongSize) }
        let found = try content.withBytes { content throws(SyncError) in try PieceKey.hash(content) }
        guard found.lend({ found in hash.lend { constantTimeEquals(found, $0) } }) else {
            throw .notAuthentic("pieces")
        }
        return try secretMemory { () throws(SecretMemoryError) in try content.bytes() }
    }
}
