/// What stands around the secret of a private key in a file of OpenSSH's without a passphrase (OpenSSH, PROTOCOL.key).
/// Nothing of it is secret.
package struct SSHPrivateFrame: Sendable, Hashable {
    /// The first and the last line of the file; what is between them is in base 64.
    package static let begin: StaticString = "-----BEGIN OPENSSH PRIVATE KEY-----",
        end: StaticString = "-----END OPENSSH PRIVATE KEY-----"

    /// The bytes before the seed or the scalar, and those behind it.
    package let front, back: [UInt8]
    /// Bytes of the secret that are left out: zeros before a scalar.
    package let skipped: Int

    /// - Parameters:
    ///   - point: The public part, of the size that the kind has.
    ///   - secret: The seed or the scalar, 32 bytes.
    package init(_ kind: SSHKeyKind, point: [UInt8], secret: RawSpan) {
        var front = SSHWriter()
        for word in ["none", "none", ""] { front.string(word) }
        front.number(1)
        front.string(kind.blob(point))
        var section = SSHWriter()
        // Two equal numbers that show whether a passphrase was right: here there is none.
        for _ in 0..<2 { section.number(0) }
        section.string(kind.rawValue)
        if kind == .p256 { section.string(SSHKeyKind.curve) }
        section.string(point)
        var rest = SSHWriter()
        var size = SSHKeyKind.secretSize
        switch kind {
        case .ed25519:
            skipped = 0
            section.number(UInt32(size + point.count))
            for byte in point { rest.byte(byte) }
        case .p256:
            var zeros = 0
            while zeros < size - 1, SSHPrivateFrame.byte(secret, zeros) == 0 { zeros += 1 }
            skipped = zeros
            size -= zeros
            // A number whose first bit is set would be negative.
            let isHigh = SSHPrivateFrame.byte(secret, zeros) & 0x80 != 0
            section.number(UInt32(size + (isHigh ? 1 : 0)))
            if isHigh { section.byte(0) }
        }
        rest.string("")
        let whole = section.bytes.count + size + rest.bytes.count
        for number in 0..<(8 - whole % 8) % 8 { rest.byte(UInt8(number + 1)) }
        front.number(UInt32(section.bytes.count + size + rest.bytes.count))
        self.front = Array("openssh-key-v1\0".utf8) + front.bytes + section.bytes
        back = rest.bytes
    }

    private static func byte(_ secret: RawSpan, _ offset: Int) -> UInt8 {
        precondition(secret.byteCount == SSHKeyKind.secretSize, "a secret of another size")
        return unsafe secret.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
    }
}
