internal import ProgramProtocols
package import SecretMemory
internal import VaultFormat
package import VaultStorage

/// The text of a private key's file: OpenSSH's own form, or that of other programs in PKCS #8, PKCS #1 or SEC 1, as PEM
/// (RFC 7468).
package struct SSHKeyText: ~Copyable {
    package let key: SSHKey
    /// The key as OpenSSH writes it, where the file has another form.
    package let converted: SecretBytes?
    /// Where the key is in the text, with both lines around it.
    package let range: Range<Int>

    /// Reads the first key of a text, and makes sure that its halves belong together.
    /// - Parameters:
    ///   - comment: What it is called; otherwise as the file says.
    ///   - wanted: As for ``SSHKey/init(_:in:comment:wanted:lifetime:)``.
    /// - Throws: `invalidItem` for another text, for a key with a passphrase, and for a kind that is not kept.
    package init(parsing text: RawSpan, comment: String? = nil, wanted: [UInt8]? = nil) throws(VaultError) {
        guard let (form, body) = SSHKeyText.find(text) else { throw .noSSHKey }
        // Old files say so in a header.
        guard text.firstOffset(of: "Proc-Type:", in: body) == nil else { throw .encryptedSSHKey }
        let bytes = try SSHKeyText.decoded(text.extracting(body))
        let own = try bytes.withBytes { bytes throws(VaultError) in try SSHKeyText.own(form, bytes) }
        let key = try SSHKeyText.key(own, bytes, comment, wanted)
        let converted = try SSHKeyText.armour(own)
        self.key = key
        self.converted = converted
        range = body.lowerBound - form.begin.utf8CodeUnitCount..<body.upperBound + form.end.utf8CodeUnitCount
    }

    private static func key(
        _ own: borrowing SecretBytes?, _ bytes: borrowing SecretBuffer, _ comment: String?, _ wanted: [UInt8]?
    ) throws(VaultError) -> SSHKey {
        switch own {
        case .some(let own): try own.withBytes { own throws(VaultError) in try key(own, comment, wanted) }
        case .none: try bytes.withBytes { bytes throws(VaultError) in try key(bytes, comment, wanted) }
        }
    }

    private static func armour(_ own: borrowing SecretBytes?) throws(VaultError) -> SecretBytes? {
        switch own {
        case .some(let own): try own.withBytes { own throws(VaultError) in try SSHPrivateText.armour(own) }
        case .none: nil
        }
    }

    private static func decoded(_ text: RawSpan) throws(VaultError) -> SecretBuffer {
        do {
            var bytes = SecretBuffer(limit: SSHPrivateFile.longest)
            guard try Base64.decode(text, skipsBlanks: true, into: &bytes) else { throw VaultError.noSSHKey }
            return bytes
        } catch { throw VaultError(any: error) }
    }

    /// What OpenSSH's file has in it, of one in another form; nil for its own.
    private static func own(_ form: SSHPrivateFile, _ bytes: RawSpan) throws(VaultError) -> SecretBytes? {
        guard form != .openSSH else { return nil }
        let layout: DERPrivateKey
        do throws(SSHError) { layout = try DERPrivateKey(form, bytes) } catch { throw VaultError(error) }
        return try SSHPrivateText.bytes(layout, in: bytes)
    }

    /// ``converted``, for whoever needs no more of it.
    package consuming func ownForm() -> SecretBytes? { converted }

    private static func key(
        _ bytes: RawSpan, _ comment: String?, _ wanted: [UInt8]?
    ) throws(VaultError) -> SSHKey {
        let layout: SSHPrivateLayout
        do throws(SSHError) { layout = try SSHPrivateLayout(file: bytes) } catch { throw VaultError(error) }
        return try SSHKey(layout, in: bytes, comment: comment, wanted: wanted)
    }

    /// The form of the first key in a text, and what is between its lines.
    private static func find(_ text: RawSpan) -> (SSHPrivateFile, Range<Int>)? {
        let all = 0..<text.byteCount
        let begins = SSHPrivateFile.allCases.compactMap { form in
            text.firstOffset(of: form.begin, in: all).map { (form, $0 + form.begin.utf8CodeUnitCount) }
        }
        guard let (form, begin) = begins.min(by: { $0.1 < $1.1 }),
            let end = text.firstOffset(of: form.end, in: begin..<text.byteCount)
        else { return nil }
        return (form, begin..<end)
    }
}

/// Writes private keys as OpenSSH does, without a passphrase (OpenSSH, PROTOCOL.key).
enum SSHPrivateText {
    /// The content of a file.
    static func bytes(_ key: DERPrivateKey, in bytes: RawSpan) throws(VaultError) -> SecretBytes {
        let part = key.secrets[0]
        guard let numbers = key.publicKey, let exponent = numbers.exponent else {
            return try self.bytes(key.kind, seed: SSHKey.padded(bytes.extracting(part), key.kind))
        }
        return try file(numbers.blob(in: bytes)) { buffer throws(SecretMemoryError) in
            try buffer.append(string: key.kind.rawValue)
            for range in [numbers.number, exponent] + key.secrets {
                try buffer.append(magnitude: bytes.extracting(range))
            }
        }
    }

    /// The content of a file with a seed, or a scalar of full size.
    static func bytes(_ kind: SSHKeyKind, seed: borrowing SecretBytes) throws(VaultError) -> SecretBytes {
        let point = try SSHKey.point(kind, seed)
        return try seed.withBytes { seed throws(VaultError) in
            try file(kind.blob(point)) { buffer throws(SecretMemoryError) in
                try buffer.append(string: kind.rawValue)
                if let curve = kind.curve { try buffer.append(string: curve) }
                try unsafe buffer.append(string: point.span.bytes)
                if kind == .ed25519 {
                    try buffer.append(UInt32(seed.byteCount + point.count))
                    try buffer.append(seed)
                    try unsafe buffer.append(point.span.bytes)
                } else {
                    try buffer.append(magnitude: seed)
                }
            }
        }
    }

    /// A file's text.
    static func armour(_ bytes: RawSpan) throws(VaultError) -> SecretBytes {
        do throws(SecretMemoryError) {
            return try Base64.armour(
                bytes, between: SSHPrivateFile.openSSH.begin, and: SSHPrivateFile.openSSH.end)
        } catch { throw VaultError(error) }
    }

    private static func file(
        _ blob: [UInt8], _ key: (inout SecretBuffer) throws(SecretMemoryError) -> Void
    ) throws(VaultError) -> SecretBytes {
        do throws(SecretMemoryError) {
            var section = SecretBuffer()
            // Two equal numbers that show whether a passphrase was right: here there is none.
            for _ in 0..<2 { try section.append(UInt32(0)) }
            try key(&section)
            try section.append(string: "")
            for number in 0..<(8 - section.count % 8) % 8 { try section.append(UInt8(number + 1)) }
            var whole = SecretBuffer()
            let magic = SSHPrivateFile.magic
            try unsafe whole.append(magic.span.bytes)
            for word in ["none", "none", ""] { try whole.append(string: word) }
            try whole.append(UInt32(1))
            try unsafe whole.append(string: blob.span.bytes)
            try section.withBytes { section throws(SecretMemoryError) in try whole.append(string: section) }
            return try whole.bytes()
        } catch { throw VaultError(error) }
    }
}

/// The values of RFC 4251, section 5, in locked memory.
extension SecretBuffer {
    fileprivate mutating func append(_ number: UInt32) throws(SecretMemoryError) {
        for shift in [24, 16, 8, 0] as [UInt32] { try append(UInt8(truncatingIfNeeded: number >> shift)) }
    }

    fileprivate mutating func append(string bytes: RawSpan) throws(SecretMemoryError) {
        try append(UInt32(clamping: bytes.byteCount))
        try append(bytes)
    }

    fileprivate mutating func append(string text: String) throws(SecretMemoryError) {
        try append(UInt32(clamping: text.utf8.count))
        try append(text)
    }

    fileprivate mutating func append(magnitude bytes: RawSpan) throws(SecretMemoryError) {
        func byte(_ offset: Int) -> UInt8 { unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self) }
        var zeros = 0
        while zeros < bytes.byteCount, byte(zeros) == 0 { zeros += 1 }
        // A number whose first bit is set would be negative.
        let isHigh = zeros < bytes.byteCount && byte(zeros) & 0x80 != 0
        try append(UInt32(clamping: bytes.byteCount - zeros + (isHigh ? 1 : 0)))
        if isHigh { try append(0 as UInt8) }
        try append(bytes.extracting(zeros..<bytes.byteCount))
    }
}

extension RawSpan {
    /// Where an ASCII text begins in a part.
    func firstOffset(of words: StaticString, in part: Range<Int>) -> Int? {
        var offset = part.lowerBound
        while offset + words.utf8CodeUnitCount <= part.upperBound {
            if extracting(offset..<part.upperBound).begins(with: words) { return offset }
            offset += 1
        }
        return nil
    }
}

extension VaultError {
    fileprivate init(_ error: SSHError) {
        switch error {
        case .encrypted: self = .encryptedSSHKey
        case .otherKey: self = .otherSSHKey
        case .unsafeKey: self = .unsafeSSHKey
        case .truncated, .invalid: self = .noSSHKey
        }
    }

    package static let noSSHKey = VaultError(.invalidItem, "this is no private key as OpenSSH or OpenSSL writes it")
    package static let encryptedSSHKey = VaultError(.invalidItem, "this SSH key is encrypted with a passphrase")
    package static let otherSSHKey = VaultError(
        .invalidItem, "only SSH keys of the kinds Ed25519, ECDSA (P-256, P-384, P-521) and RSA are kept")
    package static let unsafeSSHKey = VaultError(
        .invalidItem, "an RSA key has 2,048 to 4,096 bits and an odd exponent from 3 to 4,294,967,295")
    static let mixedSSHKey = VaultError(
        .invalidItem, "the public half of this SSH key does not belong to its private half")
}
