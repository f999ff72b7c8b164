internal import Cryptography
internal import SecretMemory
internal import SyncFormat
internal import VaultFormat

/// What all that travels has in common: front, perhaps boxes, ciphertext and tag, signature.
struct Envelope: Sendable {
    let bytes: [UInt8]
    let front: EntryFront
    /// Bytes between the front and the ciphertext.
    let boxes: Int

    /// - Throws: `format` for a size that none has, or a front that no writer writes.
    init(parsing bytes: [UInt8]) throws(SyncError) {
        guard EntrySize.allowed.contains(bytes.count) else { throw .format(.wrongSize) }
        front = try format { () throws(FormatError) in try EntryFront(parsing: bytes) }
        self.bytes = bytes
        boxes = 0
    }

    /// The same with boxes behind its front.
    init(_ envelope: Envelope, boxes: Int) {
        (bytes, front, self.boxes) = (envelope.bytes, envelope.front, boxes)
    }

    /// BLAKE3 of all of it.
    var hash: [UInt8] { bytes.lend { BLAKE3.hash($0).bytes } }

    private var label: String {
        switch front.kind {
        case .changes, .snapshot: "holdfast/1/sync-entry"
        case .roster: "holdfast/1/sync-roster"
        case .welcome, .invitation, .card: "holdfast/1/sync-join"
        }
    }

    private var clearRange: Range<Int> { 0..<EntryFront.size + boxes }
    private var sealedRange: Range<Int> { clearRange.upperBound..<bytes.count - EntrySize.signature }
    private var signature: [UInt8] { Array(bytes.suffix(EntrySize.signature)) }

    // MARK: - Signature

    /// What the signature is over; nil where it has not the one form that counts.
    var signedMessage: [UInt8]? { LowSignature.isLow(signature) ? message : nil }

    private var message: [UInt8] {
        let digest = bytes.lend { BLAKE3.hash($0.extracting(0..<sealedRange.upperBound)).bytes }
        return Array((label + "\n").utf8) + digest
    }

    func isSigned(_ message: [UInt8], by key: P256PublicKey) -> Bool {
        let signature = signature
        return message.lend { message in signature.lend { key.isValid(signature: $0, for: message) } }
    }

    // MARK: - Sealing

    /// - Parameters:
    ///   - boxes: What is between the front and the ciphertext.
    ///   - plaintext: Padded.
    ///   - secret: The epoch's key, or that of a code.
    init(
        sealing plaintext: RawSpan, _ front: EntryFront, boxes: [UInt8] = [], under secret: borrowing SecretBytes,
        by keys: borrowing MemberKeys
    ) throws(SyncError) {
        let size = EntrySize.overhead + boxes.count + plaintext.byteCount
        guard EntrySize.allowed.contains(size) else { throw .format(.wrongSize) }
        let clear = front.encoded + boxes
        let draft = Envelope(
            front: front, boxes: boxes.count, bytes: clear + [UInt8](repeating: 0, count: size - clear.count))
        let derived = try draft.key(under: secret)
        let range = draft.sealedRange
        var bytes = draft.bytes
        try crypto { () throws(CryptographyError) in
            var cipher = try Envelope.cipher(derived)
            guard let nonce = derived.withBytes({ Nonce96(copying: $0.extracting(Envelope.nonceRange)) }) else {
                throw .invalidSize
            }
            var elements = bytes.mutableSpan
            var output = unsafe elements.mutableBytes
            try output.withPart(range) { output throws(CryptographyError) in
                try clear.lend { clear throws(CryptographyError) in
                    try cipher.seal(plaintext, RawSpan(), nonce: nonce, authenticating: clear, into: &output)
                }
            }
        }
        let unsigned = Envelope(front: front, boxes: boxes.count, bytes: bytes)
        let message = unsigned.message
        let signature = try crypto { () throws(CryptographyError) in
            try message.lend { message throws(CryptographyError) in try keys.signing.sign(message) }
        }
        bytes.replaceSubrange(range.upperBound..., with: LowSignature.low(signature))
        self.init(front: front, boxes: boxes.count, bytes: bytes)
    }

    private init(front: EntryFront, boxes: Int, bytes: [UInt8]) {
        (self.front, self.boxes, self.bytes) = (front, boxes, bytes)
    }

    /// The plaintext with its padding. Its signature was verified before, where its signer could be known.
    func open(under secret: borrowing SecretBytes, _ field: StaticField) throws(SyncError) -> SecretBytes {
        let derived = try key(under: secret)
        return try authentic(field) { () throws(CryptographyError) in
            var cipher = try Envelope.cipher(derived)
            var plaintext: SecretBytes
            do throws(SecretMemoryError) {
                plaintext = try SecretBytes(zeroed: sealedRange.count - AES256GCM.tagSize)
            } catch { throw .memory(error) }
            try derived.withBytes { derived throws(CryptographyError) in
                try bytes.lend { bytes throws(CryptographyError) in
                    try plaintext.withMutableBytes { plaintext throws(CryptographyError) in
                        try cipher.open(
                            bytes.extracting(sealedRange), nonce: derived.extracting(Envelope.nonceRange),
                            authenticating: bytes.extracting(clearRange), into: &plaintext)
                    }
                }
            }
            return plaintext
        }
    }

    private static let nonceRange = AES256GCM.keySize..<AES256GCM.keySize + AES256GCM.nonceSize

    /// Key and nonce, of this salt and place.
    func key(under secret: borrowing SecretBytes) throws(SyncError) -> SecretBytes {
        var info = ByteWriter()
        info.append(Array(label.utf8))
        info.append(front.group.bytes)
        info.append(front.stream.bytes)
        info.integer(front.number)
        let (infoBytes, salt) = (info.bytes, front.salt)
        return try crypto { () throws(CryptographyError) in
            try infoBytes.lend { info throws(CryptographyError) in
                try salt.lend { salt throws(CryptographyError) in
                    try HKDFSHA256.derive(secret, salt: salt, info: info, count: Envelope.nonceRange.upperBound)
                }
            }
        }
    }

    private static func cipher(_ derived: borrowing SecretBytes) throws(CryptographyError) -> AES256GCM {
        try derived.withPart(0..<AES256GCM.keySize) { key throws(CryptographyError) in try AES256GCM(key: key) }
    }
}
