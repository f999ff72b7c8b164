/// A server and an account on it, as the name of the record that has its password: `https://ada@example.org:8080/team/repository`.
package struct CredentialAddress: Sendable, Hashable {
    package let scheme: String
    /// With the port, where git names one.
    package let host: String
    /// Without a slash at its beginning and its end; nil for every path.
    package let path: String?
    /// Nil for any.
    package let user: String?

    /// Nil for parts that no address has.
    package init?(scheme: String, host: String, path: String? = nil, user: String? = nil) {
        guard !scheme.isEmpty, scheme.utf8.count <= 32,
            scheme.utf8.allSatisfy({ CredentialAddress.isPlain($0) || $0 == UInt8(ascii: "+") }), !host.isEmpty,
            host.utf8.allSatisfy({ CredentialAddress.isPlain($0) || [UInt8]("[]:".utf8).contains($0) })
        else { return nil }
        self.scheme = scheme.lowercased()
        self.host = host.lowercased()
        let inner = path.map { path in
            path.split(separator: "/", omittingEmptySubsequences: true).joined(separator: "/")
        }
        self.path = inner?.isEmpty ?? true ? nil : inner
        self.user = user?.isEmpty ?? true ? nil : user
    }

    /// Reads a record's name; nil for a name that is no address in the one form in which it is written.
    package init?(name: String) {
        guard let colon = name.range(of: "://") else { return nil }
        let scheme = String(name[..<colon.lowerBound])
        var rest = name[colon.upperBound...]
        var user: String?
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        if let at = rest[..<slash].firstIndex(of: "@") {
            guard let text = CredentialAddress.unescaped(rest[..<at]) else { return nil }
            user = text
            rest = rest[rest.index(after: at)...]
        }
        let end = rest.firstIndex(of: "/") ?? rest.endIndex
        var path: String?
        if end < rest.endIndex {
            guard let text = CredentialAddress.unescaped(rest[rest.index(after: end)...]) else { return nil }
            path = text
        }
        self.init(scheme: scheme, host: String(rest[..<end]), path: path, user: user)
        guard self.name == name else { return nil }
    }

    /// Everything but letters, digits and `-._~` is escaped, and slashes in the path are not.
    package var name: String {
        let account = user.map { CredentialAddress.escaped($0, keeping: nil) + "@" } ?? ""
        let tail = path.map { "/" + CredentialAddress.escaped($0, keeping: UInt8(ascii: "/")) } ?? ""
        return "\(scheme)://\(account)\(host)\(tail)"
    }

    /// How well what is stored under this address answers a question: the longer the path, the better. Nil where it does not.
    ///
    /// What is stored without a path is for every path; with one, for it and what lies below. A question for one user is not
    /// answered with another's password.
    package func rank(for wanted: CredentialAddress) -> Int? {
        guard scheme == wanted.scheme, host == wanted.host, wanted.user == nil || user == wanted.user else {
            return nil
        }
        guard let path else { return 0 }
        guard let asked = wanted.path else { return nil }
        return asked == path || asked.hasPrefix(path + "/") ? path.utf8.count : nil
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

    private static func unescaped(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2, let value = UInt8(String(Substring(rest.prefix(2))), radix: 16) else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}

extension String {
    /// Where a text first is; the standard library without Foundation has none for a whole text.
    fileprivate func range(of text: String) -> Range<String.Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(text) { return start..<index(start, offsetBy: text.count) }
            start = index(after: start)
        }
        return nil
    }
}
