package import SecretMemory

// `otpauth://` texts, as QR codes of services hold them. The key stays in locked memory from the text to the code.
extension OneTimeCode {
    /// Bytes of a text, at most.
    package static let longestText = 4096

    /// Reads `otpauth://totp/Issuer:account?secret=…`. Parameters that mean nothing here (pictures, colours) are passed
    /// over; one that asks for other characters than digits (`encoder`) is refused.
    /// - Throws: ``OneTimeCodeError``, which names the part.
    package init(parsing text: borrowing SecretBytes) throws(OneTimeCodeError) {
        defer { WorkingMemory.wipe() }
        self = try text.withBytes { text throws(OneTimeCodeError) in try OneTimeCode(parsing: text) }
    }

    /// Reads a key in base 32 alone, as services print it beside the QR code; with the settings that nearly all of them
    /// have.
    /// - Throws: ``OneTimeCodeError/invalid(_:)``, ``OneTimeCodeError/tooLong``, ``OneTimeCodeError/memory(_:)``.
    package init(base32 text: borrowing SecretBytes) throws(OneTimeCodeError) {
        try self.init(base32: text, hash: .sha1, digits: 6, moment: .time(period: 30))
    }

    /// As ``init(base32:)``, with settings that were written beside the key.
    package init(
        base32 text: borrowing SecretBytes, hash: Hash, digits: Int, moment: Moment
    ) throws(OneTimeCodeError) {
        defer { WorkingMemory.wipe() }
        guard text.count <= OneTimeCode.longestText else { throw .tooLong }
        let key = try text.withBytes { text throws(OneTimeCodeError) in try Base32.decode(text) }
        try self.init(key: key, hash: hash, digits: digits, moment: moment)
    }

    package init(parsing text: RawSpan) throws(OneTimeCodeError) {
        guard text.byteCount <= OneTimeCode.longestText else { throw .tooLong }
        let address = try OneTimeAddress(text)
        let secret = try address.secret(of: text)
        let key = try secret.withBytes { secret throws(OneTimeCodeError) in try Base32.decode(secret) }
        let (issuer, account) = try address.names(of: text)
        try self.init(
            key: key, hash: try address.hash(of: text), digits: try address.number(.digits, of: text) ?? 6,
            moment: try address.moment(of: text), issuer: issuer, account: account)
    }

    /// The text to store: `otpauth://` with all settings. Reading it gives the same codes.
    /// - Throws: ``OneTimeCodeError/memory(_:)``, ``OneTimeCodeError/tooLong`` where the names are longer than a text
    ///   may be.
    package borrowing func text() throws(OneTimeCodeError) -> SecretBytes {
        defer { WorkingMemory.wipe() }
        var front = "otpauth://"
        var end = "&algorithm=\(hash.rawValue)&digits=\(digits)"
        switch moment {
        case .time(let period):
            front += "totp/"
            end += "&period=\(period)"
        case .counter(let number):
            front += "hotp/"
            end += "&counter=\(number)"
        }
        // A colon of the account's own would be taken for the issuer's end.
        if !issuer.isEmpty || account.contains(":") { front += PercentCoding.encode(issuer) + ":" }
        if !issuer.isEmpty { end += "&issuer=" + PercentCoding.encode(issuer) }
        front += PercentCoding.encode(account) + "?secret="
        let (before, after) = (Array(front.utf8), Array(end.utf8))
        let size = before.count + Base32.size(of: key.count) + after.count
        guard size <= OneTimeCode.longestText else { throw .tooLong }
        var text = try memory { () throws(SecretMemoryError) in try SecretBytes(zeroed: size) }
        text.withMutableBytes { text in
            for (offset, byte) in before.enumerated() {
                text.storeBytes(of: byte, toByteOffset: offset, as: UInt8.self)
            }
            key.withBytes { Base32.encode($0, into: &text, at: before.count) }
            let start = size - after.count
            for (offset, byte) in after.enumerated() {
                text.storeBytes(of: byte, toByteOffset: start + offset, as: UInt8.self)
            }
        }
        return text
    }
}
