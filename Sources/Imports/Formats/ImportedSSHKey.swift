internal import Cryptography
internal import SecretMemory
internal import VaultFormat

#if canImport(COpenSSL) && !canImport(CryptoKit)
internal import ProgramProtocols
#endif

extension ImportedItem {
    /// Adds a private key of SSH and its public one. A key that the agent can offer is stored as OpenSSH writes it; any
    /// other one is kept as it is, and noted.
    /// - Parameter told: The public key as the file has it.
    func addKey(_ text: consuming SecretBytes?, told: String?) throws(ImportError) {
        let told = told ?? ""
        guard let text, text.count > 0 else { return try add(.text, "public key", text: told) }
        #if canImport(COpenSSL) && !canImport(CryptoKit)
        switch try SSHKeyText.read(text) {
        case .offered(let line, let converted):
            if let converted {
                try add(.secret, "private key", converted)
                note(.changed, "an SSH key in another form than OpenSSH's, which has that form now")
            } else {
                try add(.secret, "private key", text)
            }
            // The comment behind a public key says nothing of it.
            let isSame = told.split(separator: " ").prefix(2).elementsEqual(line.split(separator: " "))
            if !isSame, !told.isEmpty { note(.changed, "an SSH key whose public key belongs to another one") }
            return try add(.text, "public key", text: told.isEmpty ? line : told)
        case .encrypted: note(.changed, "an SSH key with a passphrase, which the agent does not offer")
        case .other: note(.changed, "an SSH key of a kind that the agent does not offer")
        }
        #endif
        try add(.secret, "private key", text)
        try add(.text, "public key", text: told)
    }
}

#if canImport(COpenSSL) && !canImport(CryptoKit)
/// What an SSH key of another program is.
private enum SSHKeyText: ~Copyable {
    /// One that the agent offers: its public key in one line, and OpenSSH's text of it if it was in another form.
    case offered(line: String, SecretBytes?)
    case encrypted, other

    private static let longest = 65_536

    static func read(_ text: borrowing SecretBytes) throws(ImportError) -> SSHKeyText {
        guard text.count <= longest else { return .other }
        return try text.withBytes { text throws(ImportError) in
            if let bytes = try body(text, SSHPrivateFrame.begin, SSHPrivateFrame.end) {
                return try bytes.withBytes { bytes throws(ImportError) in try openSSH(bytes) }
            }
            if let bytes = try body(text, "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----") {
                return try bytes.withBytes { bytes throws(ImportError) in
                    guard let (kind, secret) = DERReader.privateKey(bytes) else { return .other }
                    return try converted(kind, bytes.extracting(secret))
                }
            }
            if let bytes = try body(text, "-----BEGIN EC PRIVATE KEY-----", "-----END EC PRIVATE KEY-----") {
                return try bytes.withBytes { bytes throws(ImportError) in
                    guard let secret = DERReader.curveKey(bytes, 0..<bytes.byteCount, namesCurve: true) else {
                        return .other
                    }
                    return try converted(.p256, bytes.extracting(secret))
                }
            }
            let isEncrypted = text.find("-----BEGIN ENCRYPTED PRIVATE KEY-----", from: 0) != nil
            return isEncrypted ? .encrypted : .other
        }
    }

    private static func openSSH(_ bytes: RawSpan) throws(ImportError) -> SSHKeyText {
        let layout: SSHPrivateLayout
        do throws(SSHError) { layout = try SSHPrivateLayout(file: bytes) } catch {
            return error == .encrypted ? .encrypted : .other
        }
        let secret = try padded(bytes.extracting(layout.secret))
        let told = layout.point.map { bytes[$0] }
        guard let point = try point(layout.kind, secret), point == told else { return .other }
        return .offered(line: line(layout.kind, point), nil)
    }

    private static func converted(_ kind: SSHKeyKind, _ secret: RawSpan) throws(ImportError) -> SSHKeyText {
        let secret = try padded(secret)
        guard let point = try point(kind, secret) else { return .other }
        let frame = secret.withBytes { SSHPrivateFrame(kind, point: point, secret: $0) }
        let text = try memory { () throws(SecretMemoryError) in
            try secret.withBytes { secret throws(SecretMemoryError) in
                try Base64.armour(
                    frame.front, secret.extracting(frame.skipped..<secret.byteCount), frame.back,
                    between: SSHPrivateFrame.begin, and: SSHPrivateFrame.end)
            }
        }
        return .offered(line: line(kind, point), text)
    }

    private static func line(_ kind: SSHKeyKind, _ point: [UInt8]) -> String {
        "\(kind.rawValue) \(Base64.text(kind.blob(point)))"
    }

    /// With zeros before it, as long as a seed or a scalar is.
    private static func padded(_ secret: RawSpan) throws(ImportError) -> SecretBytes {
        var padded = try memory(SecretBytes(zeroed: SSHKeyKind.secretSize))
        padded.withMutableBytes { $0.store(secret, at: SSHKeyKind.secretSize - secret.byteCount) }
        return padded
    }

    /// The public part; nil for a scalar that no key has.
    private static func point(_ kind: SSHKeyKind, _ secret: borrowing SecretBytes) throws(ImportError) -> [UInt8]? {
        do throws(CryptographyError) {
            switch kind {
            case .ed25519:
                return try secret.withBytes { seed throws(CryptographyError) in
                    try Ed25519PrivateKey(seed: seed).publicKey()
                }
            case .p256: return try P256PrivateKey(scalar: secret).publicKey.uncompressed()
            }
        } catch .scalarOutOfRange {
            return nil
        } catch { throw ImportError(error) }
    }

    /// What is between two lines, out of base 64; nil where they or it are none.
    private static func body(
        _ text: RawSpan, _ begin: StaticString, _ end: StaticString
    ) throws(ImportError) -> SecretBytes? {
        guard let first = text.find(begin, from: 0),
            let last = text.find(end, from: first + begin.utf8CodeUnitCount)
        else { return nil }
        var buffer = SecretBuffer(limit: longest)
        let part = text.extracting(first + begin.utf8CodeUnitCount..<last)
        let isValid = try memory(Base64.decode(part, skipsBlanks: true, into: &buffer))
        return isValid ? try memory(buffer.bytes()) : nil
    }
}

/// The parts of a private key in DER: PKCS #8 (RFC 5958, section 2) and SEC 1 (RFC 5915, section 3).
private struct DERReader {
    private var position: Int
    private let end: Int

    private init(_ range: Range<Int>) { (position, end) = (range.lowerBound, range.upperBound) }

    /// The content of the next value, if it has this tag.
    private mutating func value(_ tag: UInt8, _ bytes: RawSpan) -> Range<Int>? {
        guard position + 2 <= end, bytes[position] == tag else { return nil }
        var (start, count) = (position + 2, Int(bytes[position + 1]))
        if count >= 0x80 {
            let digits = count - 0x80
            guard 1...2 ~= digits, start + digits <= end else { return nil }
            count = (0..<digits).reduce(0) { $0 << 8 | Int(bytes[start + $1]) }
            start += digits
        }
        guard count <= end - start else { return nil }
        position = start + count
        return start..<start + count
    }

    private static let sequence: UInt8 = 0x30, integer: UInt8 = 0x02, octets: UInt8 = 0x04, identifier: UInt8 = 0x06
    /// The numbers of Ed25519 (RFC 8410), of keys on curves (RFC 5480) and of the curve P-256.
    private static let ed25519: [UInt8] = [0x2B, 0x65, 0x70]
    private static let curveKeys: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]
    private static let p256: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]

    /// The kind of a key in PKCS #8, and where its seed or scalar is.
    static func privateKey(_ bytes: RawSpan) -> (SSHKeyKind, Range<Int>)? {
        var reader = DERReader(0..<bytes.byteCount)
        guard let whole = reader.value(sequence, bytes), whole.upperBound == bytes.byteCount else { return nil }
        reader = DERReader(whole)
        guard reader.value(integer, bytes) != nil, let algorithm = reader.value(sequence, bytes),
            let key = reader.value(octets, bytes)
        else { return nil }
        reader = DERReader(algorithm)
        guard let name = reader.value(identifier, bytes) else { return nil }
        switch name.map({ bytes[$0] }) {
        case ed25519:
            reader = DERReader(key)
            guard let seed = reader.value(octets, bytes), seed.count == SSHKeyKind.secretSize else { return nil }
            return (.ed25519, seed)
        case curveKeys:
            guard let curve = reader.value(identifier, bytes), curve.map({ bytes[$0] }) == p256,
                let scalar = curveKey(bytes, key, namesCurve: false)
            else { return nil }
            return (.p256, scalar)
        default: return nil
        }
    }

    /// Where the scalar of a key in SEC 1 is.
    /// - Parameter namesCurve: Whether it has to say itself that its curve is P-256.
    static func curveKey(_ bytes: RawSpan, _ range: Range<Int>, namesCurve: Bool) -> Range<Int>? {
        var reader = DERReader(range)
        guard let whole = reader.value(sequence, bytes) else { return nil }
        reader = DERReader(whole)
        guard reader.value(integer, bytes) != nil, let scalar = reader.value(octets, bytes),
            (1...SSHKeyKind.secretSize).contains(scalar.count)
        else { return nil }
        guard namesCurve else { return scalar }
        guard let parameters = reader.value(0xA0, bytes) else { return nil }
        reader = DERReader(parameters)
        guard let curve = reader.value(identifier, bytes), curve.map({ bytes[$0] }) == p256 else { return nil }
        return scalar
    }
}

extension RawSpan {
    /// Where an ASCII text begins.
    fileprivate func find(_ words: StaticString, from start: Int) -> Int? {
        var offset = start
        while offset + words.utf8CodeUnitCount <= byteCount {
            if extracting(offset..<byteCount).begins(with: words) { return offset }
            offset += 1
        }
        return nil
    }
}
#endif
