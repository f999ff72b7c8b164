/// Carries a request to a server and its answer back; HTTP in earnest, a simulated network in tests.
public protocol Transport: Sendable {
    /// Sends one request and waits for the answer, whatever its status is. Follows no redirects.
    /// - Throws: ``TransportError``. The request may still have arrived.
    func send(_ request: TransportRequest) async throws(TransportError) -> TransportReply
}

/// One request.
public struct TransportRequest: Sendable, Hashable {
    /// Where it goes.
    public let server: ServerAddress
    /// Begins with a slash.
    public let path: String
    /// Posted as JSON; nil for a GET.
    public let body: [UInt8]?
    /// Bytes that the answer may have.
    public let limit: Int

    /// Puts a request together.
    public init(_ server: ServerAddress, _ path: String, body: [UInt8]?, limit: Int) {
        self.server = server
        self.path = path
        self.body = body
        self.limit = limit
    }
}

/// One answer.
public struct TransportReply: Sendable, Hashable {
    /// The HTTP status, which most servers do not set with care.
    public let status: Int
    /// As it came.
    public let body: [UInt8]
    /// What the body says that it is, such as `text/html`: in lower case, without parameters, at most 64 characters.
    /// Nil where it says nothing, or something else than a media type.
    package let contentType: String?

    /// Puts an answer together.
    /// - Parameters:
    ///   - status: The HTTP status.
    ///   - body: The body as it came.
    ///   - contentType: The header's value as it came; it may be hostile.
    public init(status: Int, body: [UInt8], contentType: String? = nil) {
        self.status = status
        self.body = body
        self.contentType = contentType.flatMap(TransportReply.mediaType)
    }

    /// Type and subtype are tokens (RFC 9110, sections 5.6.2 and 8.3.1); nothing else is ever shown.
    private static func mediaType(_ header: String) -> String? {
        let text = header.prefix { $0 != ";" }.lowercased()
        let type = text.split(separator: " ").first.map(String.init) ?? ""
        let parts = type.split(separator: "/", omittingEmptySubsequences: false)
        let isToken = parts.allSatisfy { part in
            !part.isEmpty
                && part.utf8.allSatisfy { byte in
                    byte &- UInt8(ascii: "a") < 26 || byte &- UInt8(ascii: "0") < 10 || "!#$&^_.+-".utf8.contains(byte)
                }
        }
        return parts.count == 2 && isToken && type.utf8.count <= 64 ? type : nil
    }
}

/// Why there is no answer.
public enum TransportError: Error, Sendable, Hashable, CustomStringConvertible {
    /// No connection; the words say why.
    case unreachable(String)
    /// The server's certificate is not one that this system trusts for this name.
    case untrusted(String)
    /// It took too long.
    case timedOut
    /// The answer is larger than allowed.
    case tooLarge
    /// The connection broke, or what came is not HTTP.
    case broken(String)

    /// In words, for people.
    public var description: String {
        switch self {
        case .unreachable(let words): "the server cannot be reached: \(words)"
        case .untrusted(let words): "the server cannot prove who it is: \(words)"
        case .timedOut: "the server did not answer in time"
        case .tooLarge: "the server's answer is too large"
        case .broken(let words): "the connection to the server broke: \(words)"
        }
    }
}
