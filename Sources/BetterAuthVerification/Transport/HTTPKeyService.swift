public import BetterAuthMessages

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
