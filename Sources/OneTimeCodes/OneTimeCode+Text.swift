package import SecretMemory

// `otpauth://` texts, as QR codes of services hold them. The key stays in locked memory from the text to the code.
extension OneTimeCode {
    /// Bytes of a text, at most.
    package static let longestText = 4096

    /// Reads what a service shows or another program stores: an address (`init(parsing:)`), or the key alone
    /// (``init(base32:)``).
    /// - Throws: ``OneTimeCodeError``, which names the part.
    package init(entered text: borrowing SecretBytes) throws(OneTimeCodeError) {
        // No key in base 32 has a colon.
        let isAddress = text.withBytes { $0.first(":", in: 0..<$0.byteCount) != nil }
        if isAddress { try self.init(parsing: text) } else { try self.init(base32: text) }
    }

    /// Reads `otpauth://totp/Issuer:account?secret=…`. Parameters that mean nothing here (pictures, colours) are passed
    /// over, empty ones are as if they were not there, and an `encoder` other than Steam's is refused.
    ///
    /// Steam codes are read in the three ways in which programs write them: `encoder=steam` (KeePassXC),
    /// `otpauth://steam/…` (Aegis, Ente) and `steam://KEY` (Bitwarden).
    /// - Throws: ``OneTimeCodeError``, which names the part.
    package init(parsing text: borrowing SecretBytes) throws(OneTimeCodeError) {
        defer { WorkingMemory.wipe() }
        self = try text.withBytes { text throws(OneTimeCodeError) in try OneTimeCode(parsing: text) }
    }

    /// Reads a key in base 32 alone, as services print it beside the QR code; with the settings that nearly all of them
    /// have.
    /// - Throws: ``OneTimeCodeError/invalid(_:)``, ``OneTimeCodeError/tooLong``, ``OneTimeCodeError/memory(_:)``.
    package init(base32 text: borrowing SecretBytes) throws(OneTimeCodeError) {
        try self.init(base32: text, hash: .sha1, characters: .digits(6), moment: .time(period: 30))
    }

    /// As ``init(base32:)``, with settings and names that were written beside the key.
    package init(
        base32 text: borrowing SecretBytes, hash: Hash, characters: Characters, moment: Moment, issuer: String = "",
        account: String = ""
    ) throws(OneTimeCodeError) {
        defer { WorkingMemory.wipe() }
        guard text.count <= OneTimeCode.longestText else { throw .tooLong }
        let key = try text.withBytes { text throws(OneTimeCodeError) in try Base32.decode(text) }
        try self.init(key: key, hash: hash, characters: characters, moment: moment, issuer: issuer, account: account)
    }

    package init(parsing text: RawSpan) throws(OneTimeCodeError) {
        guard text.byteCount <= OneTimeCode.longestText else { throw .tooLong }
        if let start = text.end(ofPrefix: "steam://") {
            let key = try Base32.decode(text.extracting(start..<text.byteCount))
            try self.init(key: key, characters: .steam)
            return
        }
        let address = try OneTimeAddress(text)
        let secret = try address.secret(of: text)
        let key = try secret.withBytes { secret throws(OneTimeCodeError) in try Base32.decode(secret) }
        let (issuer, account) = try address.names(of: text)
        try self.init(
            key: key, hash: try address.hash(of: text), characters: try address.characters(of: text),
            moment: try address.moment(of: text), issuer: issuer, account: account)
    }

    /// The text to store: `otpauth://` with all settings. Reading it gives the same code, names included.
    /// - Throws: ``OneTimeCodeError/memory(_:)``, ``OneTimeCodeError/tooLong`` where the names are longer than a text
    ///   may be.
    package borrowing func text() throws(OneTimeCodeError) -> SecretBytes {
        defer { WorkingMemory.wipe() }
        var front = "otpauth://"
        var end = "&algorithm=\(hash.rawValue)&digits=\(characters.count)"
        switch moment {
        case .time(let period):
            front += "totp/"
            end += "&period=\(period)"
        case .counter(let number):
            front += "hotp/"
            end += "&counter=\(number)"
        }
        if characters == .steam { end += "&encoder=steam" }
        // A colon of the account's own would be taken for the issuer's end.
        if !issuer.isEmpty || account.utf8.contains(UInt8(ascii: ":")) { front += PercentCoding.encode(issuer) + ":" }
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
