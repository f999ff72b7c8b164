internal import Cryptography
package import SecretMemory

/// A key and settings of one-time codes: by time (TOTP, RFC 6238) or by a counter (HOTP, RFC 4226).
///
/// A code proves that its maker has the key. A vault that keeps it beside the password is one factor, not two.
package struct OneTimeCode: ~Copyable, Sendable {
    /// What the codes are computed with. Nearly every service uses SHA-1, which is not weak for this use.
    package enum Hash: String, Sendable, Hashable, CaseIterable {
        /// HMAC-SHA-1.
        case sha1 = "SHA1"
        /// HMAC-SHA-256.
        case sha256 = "SHA256"
        /// HMAC-SHA-512.
        case sha512 = "SHA512"

        /// The hash of a name as programs write it, in any case: `SHA1`, `SHA-1`, `HmacSHA1`, `HMAC-SHA-1`.
        package init?(named name: String) {
            let plain = name.uppercased().filter { $0 != "-" }
            self.init(rawValue: plain.hasPrefix("HMAC") ? String(plain.dropFirst(4)) : plain)
        }
    }

    /// What a code is written in.
    package enum Characters: Sendable, Hashable {
        /// So many decimal digits; one of ``digitCounts``.
        case digits(Int)
        /// Five characters of an alphabet of Steam's own. The service has no other settings than SHA-1 and 30 seconds.
        case steam

        /// How many a code has.
        package var count: Int {
            switch self {
            case .digits(let count): count
            case .steam: 5
            }
        }
    }

    /// What makes one code differ from the next.
    package enum Moment: Sendable, Hashable {
        /// The time, in steps of so many seconds.
        case time(period: Int)
        /// A counter: the number of the next code.
        case counter(UInt64)
    }

    /// How many digits a code may have. RFC 4226 gives 31 bits, so the first of 10 digits is 0, 1 or 2. Five digits are
    /// refused: nearly always they are a Steam code whose text does not say so.
    package static let digitCounts = 6...10
    /// Seconds that a step may have: a day at most, as in KeePassXC.
    package static let periods = 1...86_400
    /// Bytes that a key may have.
    package static let keySizes = 1...256

    /// The hash of the service's choice.
    package let hash: Hash
    /// What a code is written in.
    package let characters: Characters
    /// Time or counter.
    package let moment: Moment
    /// The service, as it calls itself; empty when unknown.
    package let issuer: String
    /// The account at the service; empty when unknown.
    package let account: String
    let key: SecretBytes

    /// Spaces around the names are dropped: a text that holds them cannot say where a name begins.
    /// - Throws: ``OneTimeCodeError/invalid(_:)`` for a setting outside of its range, for a Steam code with settings
    ///   that Steam does not have, and for names with control characters.
    package init(
        key: consuming SecretBytes, hash: Hash = .sha1, characters: Characters = .digits(6),
        moment: Moment = .time(period: 30), issuer: String = "", account: String = ""
    ) throws(OneTimeCodeError) {
        guard OneTimeCode.keySizes.contains(key.count) else { throw .invalid(.secret) }
        if case .time(let period) = moment, !OneTimeCode.periods.contains(period) { throw .invalid(.period) }
        switch characters {
        case .digits(let count):
            guard OneTimeCode.digitCounts.contains(count) else { throw .invalid(.digits) }
        case .steam:
            guard hash == .sha1 else { throw .invalid(.algorithm) }
            guard case .time(let period) = moment else { throw .invalid(.kind) }
            guard period == 30 else { throw .invalid(.period) }
        }
        let names = (try OneTimeCode.name(issuer), try OneTimeCode.name(account))
        self.key = key
        self.hash = hash
        self.characters = characters
        self.moment = moment
        (self.issuer, self.account) = names
    }

    private static func name(_ text: String) throws(OneTimeCodeError) -> String {
        let scalars = text.unicodeScalars
        guard !scalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) else { throw .invalid(.label) }
        guard scalars.first == " " || scalars.last == " " else { return text }
        guard let first = scalars.firstIndex(where: { $0 != " " }),
            let last = scalars.lastIndex(where: { $0 != " " })
        else { return "" }
        return String(scalars[first...last])
    }

    /// The code of a time, or of the counter, in ASCII.
    /// - Parameter time: Seconds since 1970; means nothing to a counter.
    /// - Throws: ``OneTimeCodeError/memory(_:)``, ``OneTimeCodeError/cryptography``.
    package borrowing func code(at time: UInt64) throws(OneTimeCodeError) -> SecretBytes {
        defer { WorkingMemory.wipe() }
        let count =
            switch moment {
            case .time(let period): time / UInt64(period)
            case .counter(let number): number
            }
        let tag = try tag(count)
        var number = tag.withBytes { OneTimeCode.truncated($0) }
        let characters = characters
        return try memory { () throws(SecretMemoryError) in
            try SecretBytes(count: characters.count) { text in
                switch characters {
                case .digits(let count):
                    for place in (0..<count).reversed() {
                        text.storeBytes(of: UInt8(ascii: "0") + UInt8(number % 10), toByteOffset: place, as: UInt8.self)
                        number /= 10
                    }
                case .steam:
                    // The least significant character is the first one.
                    let alphabet = Array("23456789BCDFGHJKMNPQRTVWXY".utf8)
                    let base = UInt32(alphabet.count)
                    for place in 0..<characters.count {
                        text.storeBytes(of: alphabet[Int(number % base)], toByteOffset: place, as: UInt8.self)
                        number /= base
                    }
                }
            }
        }
    }

    /// Seconds for which the code of a time is still the code; nil with a counter.
    package func remaining(at time: UInt64) -> Int? {
        guard case .time(let period) = moment else { return nil }
        return period - Int(time % UInt64(period))
    }

    /// The same with the counter's next number; nil with time, and behind the last number.
    ///
    /// Store it before the code is shown: a number that was used must not be used again.
    /// - Throws: ``OneTimeCodeError/memory(_:)``.
    package borrowing func advanced() throws(OneTimeCodeError) -> OneTimeCode? {
        guard case .counter(let number) = moment, number < .max else { return nil }
        return try OneTimeCode(
            key: copyOfKey(), hash: hash, characters: characters, moment: .counter(number + 1), issuer: issuer,
            account: account)
    }

    private borrowing func copyOfKey() throws(OneTimeCodeError) -> SecretBytes {
        do throws(SecretMemoryError) { return try key.copy() } catch { throw .memory(error) }
    }

    private borrowing func tag(_ count: UInt64) throws(OneTimeCodeError) -> SecretBytes {
        var message: UInt64 = count.bigEndian
        let hash: OneTimeHash =
            switch hash {
            case .sha1: .sha1
            case .sha256: .sha256
            case .sha512: .sha512
            }
        do throws(CryptographyError) {
            return try unsafe withUnsafeBytes(of: &message) { message throws(CryptographyError) in
                try unsafe OneTimeMAC.authenticate(RawSpan(_unsafeBytes: message), key: key, hash: hash)
            }
        } catch .memory(let error) { throw .memory(error) } catch { throw .cryptography }
    }

    /// Dynamic truncation (RFC 4226, section 5.3): 31 bits from where the last four say.
    private static func truncated(_ tag: RawSpan) -> UInt32 {
        let offset = Int(unsafe tag.unsafeLoad(fromByteOffset: tag.byteCount - 1, as: UInt8.self) & 15)
        return UInt32(bigEndian: unsafe tag.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self)) & 0x7FFF_FFFF
    }
}

/// Why something is no one-time code. Names the part, never what it holds.
package enum OneTimeCodeError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A part of an `otpauth://` text.
    package enum Part: String, Sendable, Hashable {
        /// The scheme: it does not begin with `otpauth://` or `steam://`.
        case scheme = "scheme"
        /// Neither `totp` nor `hotp` nor `steam`, or a Steam code by a counter.
        case kind = "kind"
        /// Issuer and account.
        case label = "label"
        /// The key, in base 32.
        case secret = "secret"
        /// The hash.
        case algorithm = "algorithm"
        /// 6 to 10 digits; of a Steam code, 5 characters.
        case digits = "digits"
        /// Other characters than digits and Steam's.
        case encoder = "encoder"
        /// The seconds of a step.
        case period = "period"
        /// The counter of `hotp`.
        case counter = "counter"
        /// Something that is there twice, or written in a way that no text of this kind is.
        case parameters = "parameters"
    }

    /// A part is missing or not what it may be.
    case invalid(Part)
    /// The text is longer than 4,096 bytes.
    case tooLong
    /// Locked memory cannot be had.
    case memory(SecretMemoryError)
    /// The cryptographic library failed.
    case cryptography

    /// In plain words.
    package var description: String {
        switch self {
        case .invalid(let part): "the \(part.rawValue) of the one-time code is missing or not valid"
        case .tooLong: "the text of the one-time code is too long"
        case .memory(let error): "\(error)"
        case .cryptography: "the cryptographic library failed"
        }
    }
}

func memory<R: ~Copyable>(_ body: () throws(SecretMemoryError) -> R) throws(OneTimeCodeError) -> R {
    do throws(SecretMemoryError) { return try body() } catch { throw .memory(error) }
}
