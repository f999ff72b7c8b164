package import BetterAuthServer

/// Where Redis is: `redis://[USER][:PASSWORD@]HOST[:PORT][/DATABASE]`, `unix:PATH`, or `unix://[USER]:PASSWORD@PATH`.
/// An address of version 6 stands in brackets; in the user and the password a `%` and two digits stand for a byte.
///
/// The connection is not encrypted: the client library has no TLS. Between machines a tunnel encrypts it.
package struct RedisLocation: Sendable {
    private(set) var host = ""
    private(set) var port: Int32 = 0
    private(set) var path: String?
    /// Nil for Redis's user `default`.
    private(set) var user: String?
    private(set) var password: SecretText?
    private(set) var database = 0

    /// Nil when the text has another form.
    package init?(_ text: String) {
        var bytes = Array(text.utf8)
        defer { SecretText.wipe(&bytes) }
        self.init(parsing: bytes[...])
    }

    /// The same for a text that may have a password.
    package init?(_ text: SecretText) {
        guard let location = text.withArray({ RedisLocation(parsing: $0[...]) }) else { return nil }
        self = location
    }

    private init?(parsing text: ArraySlice<UInt8>) {
        let at = UInt8(ascii: "@")
        if let rest = RedisLocation.rest(of: text, behind: "unix:") {
            guard let marked = RedisLocation.rest(of: text, behind: "unix://"), let sign = marked.firstIndex(of: at)
            else {
                guard !rest.isEmpty, let path = RedisLocation.text(rest) else { return nil }
                self.path = path
                return
            }
            // A path may have the sign too; what is in front of it has that as %40.
            guard take(marked[..<sign]), marked[(sign + 1)...].first == UInt8(ascii: "/"),
                let path = RedisLocation.text(marked[(sign + 1)...])
            else { return nil }
            self.path = path
            return
        }
        guard var rest = RedisLocation.rest(of: text, behind: "redis://") else { return nil }
        if let sign = rest.lastIndex(of: at) {
            guard take(rest[..<sign]) else { return nil }
            rest = rest[(sign + 1)...]
        }
        let parts = (RedisLocation.text(rest) ?? "").split(
            separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        let number = parts.count == 2 && !parts[1].isEmpty ? Int(parts[1]) : 0
        guard let place = parts.first, let number, number >= 0, let (host, port) = RedisLocation.place(place) else {
            return nil
        }
        (self.host, self.port, database) = (host, port, number)
    }

    /// `[USER]:PASSWORD`.
    private mutating func take(_ part: ArraySlice<UInt8>) -> Bool {
        guard let colon = part.firstIndex(of: UInt8(ascii: ":")), var name = RedisLocation.decoded(part[..<colon]),
            let user = String(validating: name, as: UTF8.self)
        else { return false }
        SecretText.wipe(&name)
        guard var secret = RedisLocation.decoded(part[(colon + 1)...]) else { return false }
        defer { SecretText.wipe(&secret) }
        guard isUTF8(secret), let password = try? SecretText(wiping: &secret) else { return false }
        self.user = user.isEmpty ? nil : user
        self.password = password
        return true
    }

    private func isUTF8(_ bytes: [UInt8]) -> Bool {
        var decoder = UTF8()
        var iterator = bytes.makeIterator()
        while true {
            switch decoder.decode(&iterator) {
            case .scalarValue: continue
            case .emptyInput: return true
            case .error: return false
            }
        }
    }

    private static func rest(of text: ArraySlice<UInt8>, behind prefix: String) -> ArraySlice<UInt8>? {
        text.starts(with: prefix.utf8) ? text.dropFirst(prefix.utf8.count) : nil
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String? { String(validating: bytes, as: UTF8.self) }

    private static func place(_ text: Substring) -> (host: String, port: Int32)? {
        var (host, port) = (text, Substring("6379"))
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            let rest = text[text.index(after: end)...]
            guard rest.isEmpty || rest.hasPrefix(":") else { return nil }
            host = text[text.index(after: text.startIndex)..<end]
            if !rest.isEmpty { port = rest.dropFirst() }
        } else if let colon = text.firstIndex(of: ":") {
            host = text[..<colon]
            port = text[text.index(after: colon)...]
        }
        guard !host.isEmpty, let number = UInt16(port) else { return nil }
        return (String(host), Int32(number))
    }

    /// Nil for a `%` without two hexadecimal digits.
    private static func decoded(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        // Large enough from the start: it leaves no shorter copies behind.
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var rest = text
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
