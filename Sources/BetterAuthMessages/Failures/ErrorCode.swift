/// The protocol's catalogue of failures (protocol.md 9.2), and what we add where it has no code.
package enum ErrorCode: String, Sendable, Hashable, CaseIterable {
    /// Something that has no code of its own.
    case base = "BA000"
    case invalidMessage = "BA101"
    case invalidIdentity = "BA102"
    case invalidDevice = "BA103"
    case invalidHash = "BA104"
    /// Raised by clients only.
    case incorrectNonce = "BA203"
    case mismatchedIdentities = "BA302"
    case expiredToken = "BA401"
    case futureToken = "BA403"
    case staleRequest = "BA501"
    case futureRequest = "BA502"

    // Ours: outside the protocol's list, so that no peer takes them for something else.
    case wrongSignature = "HF401"
    case unknownChallenge = "HF402"
    case unknownServer = "HF403"
    case malformedRequest = "HF400"
    case unknownPath = "HF404"
    case wrongMethod = "HF405"
    case alreadyRegistered = "HF409"
    case replayed = "HF410"
    case lengthRequired = "HF411"
    case tooLarge = "HF413"
    /// Too many devices of an account, requests of an address, or entries of a store that must not forget.
    case limited = "HF429"
    /// The store cannot be reached, or the server is stopping. Nothing was changed, or the repeat tells.
    case unavailable = "HF503"

    /// The status of a reply that carries the code. Clients must not rely on it: most peers send 200 or 500 throughout.
    package var httpStatus: Int {
        switch self {
        case .base: 500
        case .invalidMessage, .invalidIdentity, .invalidDevice, .invalidHash, .incorrectNonce: 400
        case .mismatchedIdentities, .expiredToken, .futureToken: 401
        case .staleRequest, .futureRequest: 422
        case .wrongSignature, .unknownChallenge, .unknownServer: 401
        case .alreadyRegistered, .replayed: 409
        case .malformedRequest: 400
        case .unknownPath: 404
        case .wrongMethod: 405
        case .lengthRequired: 411
        case .tooLarge: 413
        case .limited: 429
        case .unavailable: 503
        }
    }

    /// One short sentence.
    package var message: String {
        switch self {
        case .base: "the request could not be served"
        case .invalidMessage: "the message is malformed"
        case .invalidIdentity: "the identity does not follow from its keys"
        case .invalidDevice: "the device is unknown, revoked, or does not follow from its keys"
        case .invalidHash: "the key is not the one that was committed to"
        case .incorrectNonce: "the response answers another request"
        case .mismatchedIdentities: "the link container belongs to another identity"
        case .expiredToken: "the token has expired"
        case .futureToken: "the token is not valid yet"
        case .staleRequest: "the request is too old"
        case .futureRequest: "the request is from the future"
        case .wrongSignature: "the signature does not match"
        case .unknownChallenge: "the challenge is unknown, used or expired"
        case .unknownServer: "the key of the server is unknown"
        case .alreadyRegistered: "the identity or device exists already"
        case .replayed: "the request has been seen before"
        case .malformedRequest: "the head of the request is not as RFC 9112 has it"
        case .unknownPath: "there is nothing at this path"
        case .wrongMethod: "this path takes another method"
        case .lengthRequired: "a body needs a Content-Length"
        case .tooLarge: "the request is too large"
        case .limited: "a limit is reached; try again later"
        case .unavailable: "the server cannot do this now; try again"
        }
    }
}
