package import BetterAuthMessages

/// When the first certificate of a PEM file ends to be valid (RFC 5280, section 4.1.2.5). For alerts only: nothing is
/// verified here.
package struct CertificateDates: Sendable, Hashable {
    package let notAfter: Timestamp

    /// Nil when there is no certificate that can be read.
    package init?(pem: String) {
        guard let start = pem.firstRange(of: "-----BEGIN CERTIFICATE-----"),
            let end = pem[start.upperBound...].firstRange(of: "-----END CERTIFICATE-----"),
            let der = CertificateDates.base64(pem[start.upperBound..<end.lowerBound]),
            let date = CertificateDates.notAfter(der)
        else { return nil }
        notAfter = date
    }

    private static func base64(_ text: Substring) -> [UInt8]? {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var (bytes, bits, count): ([UInt8], UInt32, Int) = ([], 0, 0)
        for byte in text.utf8 where byte > 0x20 && byte != UInt8(ascii: "=") {
            guard let value = alphabet.firstIndex(of: byte) else { return nil }
            bits = bits << 6 | UInt32(value)
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        return bytes
    }

    private static func notAfter(_ der: [UInt8]) -> Timestamp? {
        guard let certificate = Element(der[...]), let body = Element(certificate.contents) else { return nil }
        var rest = body.contents
        // The version is optional; then number, algorithm and issuer come before the validity.
        if rest.first == 0xA0, let version = Element(rest) { rest = version.rest }
        for _ in 0..<3 {
            guard let skipped = Element(rest) else { return nil }
            rest = skipped.rest
        }
        guard let validity = Element(rest), let begin = Element(validity.contents), let end = Element(begin.rest) else {
            return nil
        }
        let digits = String(decoding: end.contents, as: UTF8.self)
        // UTCTime has two digits for the year, those of 1950 to 2049.
        let short = end.tag == 0x17
        guard digits.hasSuffix("Z"), digits.count == (short ? 13 : 15) else { return nil }
        let full = short ? (digits < "5" ? "20" : "19") + digits : digits
        func part(_ start: Int, _ count: Int) -> Substring { full.dropFirst(start).prefix(count) }
        return Timestamp(
            "\(part(0, 4))-\(part(4, 2))-\(part(6, 2))T\(part(8, 2)):\(part(10, 2)):\(part(12, 2)).000Z")
    }

    /// One element of DER.
    private struct Element {
        let tag: UInt8
        let contents: ArraySlice<UInt8>
        let rest: ArraySlice<UInt8>

        init?(_ bytes: ArraySlice<UInt8>) {
            guard let tag = bytes.first, let first = bytes.dropFirst().first else { return nil }
            var body = bytes.dropFirst(2)
            var count = Int(first)
            if first >= 0x80 {
                let size = Int(first & 0x7F)
                guard (1...3).contains(size), body.count >= size else { return nil }
                count = body.prefix(size).reduce(0) { $0 << 8 | Int($1) }
                body = body.dropFirst(size)
            }
            guard body.count >= count else { return nil }
            self.tag = tag
            contents = body.prefix(count)
            rest = body.dropFirst(count)
        }
    }
}
