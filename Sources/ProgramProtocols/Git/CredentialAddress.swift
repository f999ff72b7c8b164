/// A server and an account on it, as the name of the record that has its password:
/// `https://ada@example.org:8080/team/repository`. `https://@example.org` is the account without a user's name, and
/// `cert:///home/ada/key.pem` the file of a client's key, whose passphrase git asks for.
package struct CredentialAddress: Sendable, Hashable {
    package let scheme: String
    /// With the port, where git names one; empty for a file.
    package let host: String
    /// Without a slash at its beginning and its end, but for a file; nil for every path.
    package let path: String?
    /// Nil for any; empty for the account without a name.
    package let user: String?

    private static let fileScheme = "cert"

    /// Whether it is a file, which has no server and no user.
    package var isFile: Bool { scheme == CredentialAddress.fileScheme }

    /// Nil for parts that no address has.
    package init?(scheme: String, host: String, path: String? = nil, user: String? = nil) {
        if scheme.lowercased() == CredentialAddress.fileScheme {
            guard host.isEmpty, user?.isEmpty ?? true, let path, !path.isEmpty else { return nil }
            (self.scheme, self.host, self.path, self.user) = (CredentialAddress.fileScheme, "", path, nil)
            return
        }
        guard !scheme.isEmpty, scheme.utf8.count <= 32,
            scheme.utf8.allSatisfy({ CredentialAddress.isPlain($0) || $0 == UInt8(ascii: "+") }), !host.isEmpty,
            host.utf8.allSatisfy({ CredentialAddress.isPlain($0) || [UInt8]("[]:".utf8).contains($0) })
        else { return nil }
        self.scheme = scheme.lowercased()
        self.host = host.lowercased()
        let inner = path.map { CredentialAddress.withoutOuterSlashes($0) }
        self.path = inner?.isEmpty ?? true ? nil : inner
        self.user = user
    }

    /// By their bytes: names have ASCII alone, and texts that only look alike have different ones.
    package static func == (left: CredentialAddress, right: CredentialAddress) -> Bool { left.name == right.name }

    package func hash(into hasher: inout Hasher) { hasher.combine(name) }

    /// Reads a record's name; nil for a name that is no address in the one form in which it is written.
    package init?(name: String) {
        let bytes = Array(name.utf8)
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            bytes[colon...].starts(with: "://".utf8)
        else { return nil }
        var rest = bytes[(colon + 3)...]
        if bytes[..<colon].elementsEqual(CredentialAddress.fileScheme.utf8) {
            guard let path = CredentialAddress.unescaped(rest) else { return nil }
            self.init(scheme: CredentialAddress.fileScheme, host: "", path: path)
            guard self.name.utf8.elementsEqual(bytes) else { return nil }
            return
        }
        var user: String?
        let slash = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
        if let at = rest[..<slash].firstIndex(of: UInt8(ascii: "@")) {
            guard let text = CredentialAddress.unescaped(rest[..<at]) else { return nil }
            user = text
            rest = rest[(at + 1)...]
        }
        var path: String?
        if slash < rest.endIndex {
            guard let text = CredentialAddress.unescaped(rest[(slash + 1)...]) else { return nil }
            path = text
        }
        self.init(
            scheme: String(decoding: bytes[..<colon], as: UTF8.self),
            host: String(decoding: rest[..<slash], as: UTF8.self), path: path, user: user)
        guard self.name.utf8.elementsEqual(bytes) else { return nil }
    }

    /// Reads the server of an address as people write it and other programs store it: `example.org`,
    /// `https://ada@Example.org:443/login?x`. Without a scheme it is one of https.
    /// - Returns: Nil for every other scheme than http and https, and for what is no address.
    package init?(serverOf text: String) {
        let bytes = Array(text.utf8)
        var (scheme, rest) = ("https", bytes[...])
        if let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8) {
            scheme = String(decoding: bytes[..<colon], as: UTF8.self)
            rest = bytes[(colon + 3)...]
        }
        let end = rest.firstIndex { [UInt8]("/?#".utf8).contains($0) } ?? rest.endIndex
        // Programs disagree about what a second @ and a backslash mean.
        guard rest[..<end].allSatisfy({ $0 > 0x20 && $0 != UInt8(ascii: "\\") }),
            rest[..<end].count(where: { $0 == UInt8(ascii: "@") }) < 2
        else { return nil }
        let start = rest[..<end].firstIndex(of: UInt8(ascii: "@")).map { $0 + 1 } ?? rest.startIndex
        let host = String(decoding: bytes[start..<end], as: UTF8.self)
        guard let server = CredentialAddress(scheme: scheme, host: host)?.server else { return nil }
        self = server
    }

    /// Its server alone, without the port that its scheme has anyway; nil for another scheme than http and https.
    package var server: CredentialAddress? {
        let port: String
        switch scheme {
        case "https": port = ":443"
        case "http": port = ":80"
        default: return nil
        }
        // A host of numbers and colons stands in brackets.
        let name = host.utf8.dropLast(port.utf8.count)
        let isUsual =
            host.utf8.suffix(port.utf8.count).elementsEqual(port.utf8)
            && (name.last == UInt8(ascii: "]") || !name.contains(UInt8(ascii: ":")))
        return CredentialAddress(scheme: scheme, host: isUsual ? String(Substring(name)) : host)
    }

    /// Everything but letters, digits and `-._~` is escaped, and slashes in the path are not.
    package var name: String {
        if isFile { return "\(scheme)://" + CredentialAddress.escaped(path ?? "", keeping: UInt8(ascii: "/")) }
        let account = user.map { CredentialAddress.escaped($0, keeping: nil) + "@" } ?? ""
        let tail = path.map { "/" + CredentialAddress.escaped($0, keeping: UInt8(ascii: "/")) } ?? ""
        return "\(scheme)://\(account)\(host)\(tail)"
    }

    /// How well what is stored under this address answers a question: the longer the path, the better. Nil where it
    /// does not.
    ///
    /// What is stored without a path is for every path; with one, for it and what lies below. A question for one user
    /// is not answered with another's password, and one with a path that leads elsewhere (``leadsElsewhere``) not with
    /// a path's. A file is that one alone.
    package func rank(for wanted: CredentialAddress) -> Int? {
        guard !isFile else { return self == wanted ? 0 : nil }
        guard isSameServer(as: wanted), wanted.user == nil || CredentialAddress.isSame(user, wanted.user) else {
            return nil
        }
        guard let path else { return 0 }
        guard let asked = wanted.path, !leadsElsewhere, !wanted.leadsElsewhere else { return nil }
        guard asked.utf8.starts(with: path.utf8) else { return nil }
        let rest = asked.utf8.dropFirst(path.utf8.count)
        return rest.isEmpty || rest.first == UInt8(ascii: "/") ? path.utf8.count : nil
    }

    /// Whether what is stored under this address is what a question names, no more: the same path or none, and the user
    /// where it names one.
    package func isNamed(by question: CredentialAddress) -> Bool {
        isSameServer(as: question) && CredentialAddress.isSame(path, question.path)
            && (question.user == nil || CredentialAddress.isSame(user, question.user))
    }

    /// Whether a server may take the path for another one than it looks like: a segment is empty, `.` or `..` (also
    /// before a semicolon), or has a backslash or a control character, as it stands or once the escapes in it are
    /// resolved, however often and in whatever case. No account of a path is stored or found under such a one. No file
    /// does: it is found by nothing but its own name.
    package var leadsElsewhere: Bool {
        guard !isFile, var bytes = path.map({ Array($0.utf8) }) else { return false }
        while true {
            let segments = bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            // Bytes that are no UTF-8 may be a long form of something else, for servers that take it.
            guard segments.allSatisfy(CredentialAddress.isPlain(segment:)),
                String(validating: bytes, as: UTF8.self) != nil
            else { return true }
            // Each round is shorter, and a path has 512 bytes at most.
            let next = CredentialAddress.resolved(bytes[...])
            if next.count == bytes.count { return false }
            bytes = next
        }
    }

    private static func isPlain(segment: ArraySlice<UInt8>) -> Bool {
        let name = segment.prefix { $0 != UInt8(ascii: ";") }
        return !segment.isEmpty && !name.elementsEqual(".".utf8) && !name.elementsEqual("..".utf8)
            && segment.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "\\") }
    }

    private func isSameServer(as other: CredentialAddress) -> Bool {
        // Both are ASCII.
        scheme == other.scheme && host == other.host
    }

    private static func isSame(_ left: String?, _ right: String?) -> Bool {
        guard let left, let right else { return left == nil && right == nil }
        return left.utf8.elementsEqual(right.utf8)
    }

    private static func withoutOuterSlashes(_ path: String) -> String {
        var bytes = path.utf8[...]
        while bytes.first == UInt8(ascii: "/") { bytes = bytes.dropFirst() }
        while bytes.last == UInt8(ascii: "/") { bytes = bytes.dropLast() }
        return String(Substring(bytes))
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }

    private static func escaped(_ text: String, keeping kept: UInt8?) -> String {
        text.utf8.reduce(into: "") { result, byte in
            if isPlain(byte) || byte == kept {
                result.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                result += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
    }

    /// Nil for an invalid escape, and for what is not UTF-8.
    private static func unescaped(_ text: ArraySlice<UInt8>) -> String? {
        let bytes = resolved(text)
        // Each escape that is one made three bytes one; what is left of the others is a percent sign.
        let escapes = text.count { $0 == UInt8(ascii: "%") }
        guard text.count - bytes.count == 2 * escapes else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    /// Escapes as the bytes that they stand for; invalid ones stay.
    private static func resolved(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count >= 2, let high = digit(rest.first),
                let low = digit(rest.dropFirst().first)
            {
                bytes.append(high << 4 | low)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }

    private static func digit(_ byte: UInt8?) -> UInt8? {
        byte.flatMap { Character(Unicode.Scalar($0)).hexDigitValue }.map { UInt8($0) }
    }
}
