/// A failure of the protocol with what belongs to its code (protocol.md 9.2). Contexts hold public values only.
package enum ProtocolError: Error, Sendable, Hashable {
    /// BA101.
    case invalidMessage(MessageError)
    /// BA102.
    case invalidIdentity(IdentityID)
    /// BA103; `calculated` is nil when the device is unknown or revoked.
    case invalidDevice(DeviceID, calculated: DeviceID?)
    /// BA104.
    case invalidHash(HashKind, expected: DigestText, actual: DigestText)
    /// BA203.
    case incorrectNonce(expected: NonceText, actual: NonceText)
    /// BA302.
    case mismatchedIdentities(container: IdentityID, request: IdentityID)
    /// BA401.
    case expiredToken(TokenUse, expiry: Timestamp, now: Timestamp)
    /// BA403.
    case futureToken(issuedAt: Timestamp, now: Timestamp)
    /// BA501; the window in milliseconds.
    case staleRequest(timestamp: Timestamp, now: Timestamp, window: Int64)
    /// BA502.
    case futureRequest(timestamp: Timestamp, now: Timestamp)
    /// HF429 that does not pass by waiting; `isLasting` when no device that leaves makes room.
    case tooManyDevices(isLasting: Bool)
    /// A failure that has nothing more to say.
    case plain(ErrorCode)

    /// Which commitment a key did not meet.
    package enum HashKind: String, Sendable, Hashable, CaseIterable {
        case rotation = "rotation", recovery = "recovery"
    }

    /// What an expired token was used for.
    package enum TokenUse: String, Sendable, Hashable, CaseIterable { case access = "access", refresh = "refresh" }

    /// The code, which also says the HTTP status.
    package var code: ErrorCode {
        switch self {
        case .invalidMessage: .invalidMessage
        case .invalidIdentity: .invalidIdentity
        case .invalidDevice: .invalidDevice
        case .invalidHash: .invalidHash
        case .incorrectNonce: .incorrectNonce
        case .mismatchedIdentities: .mismatchedIdentities
        case .expiredToken: .expiredToken
        case .futureToken: .futureToken
        case .staleRequest: .staleRequest
        case .futureRequest: .futureRequest
        case .tooManyDevices: .limited
        case .plain(let code): code
        }
    }

    /// One short sentence.
    private var message: String {
        switch self {
        case .tooManyDevices(isLasting: false): "the account has as many devices as it may have; unlink one"
        case .tooManyDevices(isLasting: true): "the account has had as many devices as it ever may; make a new account"
        default: code.message
        }
    }

    /// The reply's body: `{"error":{"code":…,"message":…,"context":{…}}}`.
    package var encoded: [UInt8] {
        var writer = MessageWriter(reserving: 512)
        writer.literal(#"{"error":{"code":"#)
        writer.string(code.rawValue)
        writer.literal(#","message":"#)
        writer.string(message)
        writer.literal(#","context":{"#)
        for (index, member) in context.enumerated() {
            if index > 0 { writer.literal(",") }
            writer.string(member.name)
            writer.literal(":")
            switch member.value {
            case .text(let text): writer.string(text)
            case .milliseconds(let count): writer.number(count)
            }
        }
        writer.literal("}}}")
        return writer.bytes
    }
}

extension ProtocolError {
    private enum ContextValue {
        case text(String)
        /// The reference implementation's unit.
        case milliseconds(Int64)
    }

    private var context: [(name: String, value: ContextValue)] {
        func text(_ value: some CustomStringConvertible) -> ContextValue { .text(value.description) }
        switch self {
        case .invalidMessage(let error): return [("details", text(error))]
        case .invalidIdentity(let identity): return [("provided", text(identity))]
        case .invalidDevice(let device, let calculated):
            return [("provided", text(device))] + (calculated.map { [("calculated", text($0))] } ?? [])
        case .invalidHash(let kind, let expected, let actual):
            return [("expected", text(expected)), ("actual", text(actual)), ("hashType", .text(kind.rawValue))]
        case .incorrectNonce(let expected, let actual):
            // Sixteen characters, as every peer shows them.
            return [
                ("expected", .text(expected.description.prefix(16) + "...")),
                ("actual", .text(actual.description.prefix(16) + "...")),
            ]
        case .mismatchedIdentities(let container, let request):
            return [("linkContainerIdentity", text(container)), ("requestIdentity", text(request))]
        case .expiredToken(let use, let expiry, let now):
            return [("expiryTime", text(expiry)), ("currentTime", text(now)), ("tokenType", .text(use.rawValue))]
        case .futureToken(let issuedAt, let now):
            return [
                ("issuedAt", text(issuedAt)), ("currentTime", text(now)),
                ("timeDifference", .milliseconds(issuedAt.milliseconds - now.milliseconds)),
            ]
        case .staleRequest(let timestamp, let now, let window):
            return [
                ("requestTimestamp", text(timestamp)), ("currentTime", text(now)),
                ("maximumAge", .milliseconds(window)),
            ]
        case .futureRequest(let timestamp, let now):
            return [
                ("requestTimestamp", text(timestamp)), ("currentTime", text(now)),
                ("timeDifference", .milliseconds(timestamp.milliseconds - now.milliseconds)),
            ]
        case .tooManyDevices, .plain: return []
        }
    }
}
