public import BetterAuthMessages

/// Where a server is: `https://host`, `https://host:port`, or either with a path in front of all its paths. Plain
/// `http` only to this machine, unless that is allowed.
public struct ServerAddress: Sendable, Hashable, CustomStringConvertible {
    /// Why an address is refused.
    public enum Refusal: Error, Sendable, Hashable {
        /// Not an address of this form. A user name, a query or a fragment has no place in it.
        case malformed
        /// Plain HTTP to another machine.
        case insecure

        /// What is wrong, in plain words.
        public var reason: String {
            switch self {
            case .malformed: "the address of a server looks like https://example.org or https://example.org:8443/path"
            case .insecure: "plain http reaches this machine only, not another one"
            }
        }
    }

    /// Without a slash at its end.
    public let description: String
    /// Whether it is `https`.
    public let isEncrypted: Bool

    /// Reads an address.
    /// - Parameters:
    ///   - text: `https://name`, with a port and a path where there are some.
    ///   - allowsPlain: Whether plain HTTP may go to other machines: the messages are signed, not secret, but an
    ///     eavesdropper learns who signs in, and sees a token.
    /// - Throws: ``Refusal``.
    public init(_ text: String, allowsPlain: Bool = false) throws(Refusal) {
        let isEncrypted: Bool
        let rest: Substring
        let lower = text.lowercased()
        if lower.hasPrefix("https://") {
            (isEncrypted, rest) = (true, text.dropFirst(8))
        } else if lower.hasPrefix("http://") {
            (isEncrypted, rest) = (false, text.dropFirst(7))
        } else {
            throw .malformed
        }
        guard text.utf8.count <= 512, text.utf8.allSatisfy(ServerAddress.isAllowed) else { throw .malformed }
        let authority = rest.prefix { $0 != "/" }
        let (host, port) = try ServerAddress.parts(authority)
        guard port.map({ (1...65_535).contains($0) }) ?? true else { throw .malformed }
        guard isEncrypted || allowsPlain || ServerAddress.isLoopback(host) else { throw .insecure }
        self.isEncrypted = isEncrypted
        var path = String(rest.dropFirst(authority.utf8.count))
        guard !path.split(separator: "/").contains(where: { $0 == "." || $0 == ".." }) else { throw .malformed }
        while path.hasSuffix("/") { path.removeLast() }
        description = (isEncrypted ? "https://" : "http://") + authority.lowercased() + path
    }

    private static func parts(_ authority: Substring) throws(Refusal) -> (host: Substring, port: Int?) {
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { throw .malformed }
            let host = authority[authority.index(after: authority.startIndex)..<end]
            guard host.contains(":"), host.allSatisfy({ $0.isHexDigit || $0 == ":" || $0 == "." }) else {
                throw .malformed
            }
            return (host, try port(authority[authority.index(after: end)...]))
        }
        let host = authority.prefix { $0 != ":" }
        guard !host.isEmpty, !host.hasPrefix("-"), !host.hasPrefix("."),
            host.utf8.allSatisfy({ byte in
                byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".") || byte &- UInt8(ascii: "0") < 10
                    || byte | 0x20 &- UInt8(ascii: "a") < 26
            })
        else { throw .malformed }
        return (host, try port(authority.dropFirst(host.utf8.count)))
    }

    private static func port(_ text: Substring) throws(Refusal) -> Int? {
        if text.isEmpty { return nil }
        let digits = text.dropFirst()
        guard text.hasPrefix(":"), (1...5).contains(digits.utf8.count),
            digits.utf8.allSatisfy({ $0 &- UInt8(ascii: "0") < 10 }), let port = Int(digits)
        else { throw .malformed }
        return port
    }

    /// By its literal: a name that resolves to this machine today may lead elsewhere tomorrow, `localhost` may not
    /// (RFC 6761, section 6.3).
    private static func isLoopback(_ host: Substring) -> Bool {
        if host.lowercased() == "localhost" || host == "::1" { return true }
        let numbers = host.split(separator: ".", omittingEmptySubsequences: false)
        return numbers.count == 4 && numbers[0] == "127"
            && numbers.allSatisfy { $0.utf8.count <= 3 && (UInt8($0) != nil) }
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        case UInt8(ascii: ":"), UInt8(ascii: "/"), UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "."),
            UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "~"):
            true
        default: false
        }
    }

    /// Whether a path may be asked for there: begins with a slash, printable ASCII, nothing that a URL gives a meaning.
    package static func isPath(_ path: String) -> Bool {
        path.hasPrefix("/") && !path.hasPrefix("//") && path.utf8.count <= 512 && path.utf8.allSatisfy(isAllowed)
            && !path.split(separator: "/").contains { $0 == "." || $0 == ".." }
    }
}

/// A key service over HTTP (protocol.md 10.5).
public struct HTTPKeyService: KeyService {
    private let transport: any Transport
    private let server: ServerAddress

    /// Asks at an address.
    /// - Parameters:
    ///   - server: Where the chain is published.
    ///   - transport: The way there.
    public init(at server: ServerAddress, over transport: any Transport) {
        self.server = server
        self.transport = transport
    }

    /// Every event of every chain.
    /// - Throws: ``TransportError``.
    public func keyEvents() async throws -> [UInt8] {
        let request = TransportRequest(server, "/hsm/keys", body: nil, limit: MessageLimits.keyList)
        let reply = try await transport.send(request)
        guard reply.status == 200 else {
            throw TransportError.broken("the key service answered with status \(reply.status)")
        }
        return reply.body
    }

    /// The record about a key; nil when there is none.
    /// - Throws: ``TransportError``.
    public func endorsement(of name: PublicKeyText) async throws -> [UInt8]? {
        let request = TransportRequest(server, "/keys/\(name)", body: nil, limit: MessageLimits.message)
        let reply = try await transport.send(request)
        switch reply.status {
        case 200: return reply.body
        case 404: return nil
        default: throw TransportError.broken("the key service answered with status \(reply.status)")
        }
    }
}
