package import BetterAuthMessages
internal import Synchronization

/// The operations of the protocol and where they are posted (protocol.md 4.1).
package enum AuthOperation: Sendable, Hashable, CaseIterable {
    case createAccount, recoverAccount, deleteAccount, rotateDevice, linkDevice, unlinkDevice, changeRecoveryKey
    case requestSession, createSession, refreshSession

    package var path: String {
        switch self {
        case .createAccount: CreateAccount.path
        case .recoverAccount: RecoverAccount.path
        case .deleteAccount: DeleteAccount.path
        case .rotateDevice: RotateDevice.path
        case .linkDevice: LinkDevice.path
        case .unlinkDevice: UnlinkDevice.path
        case .changeRecoveryKey: ChangeRecoveryKey.path
        case .requestSession: RequestSession.path
        case .createSession: CreateSession.path
        case .refreshSession: RefreshSession.path
        }
    }

    private static let byPath = Dictionary(uniqueKeysWithValues: allCases.map { ($0.path, $0) })

    /// The operation that is posted to a path.
    package init?(path: String) {
        guard let operation = AuthOperation.byPath[path] else { return nil }
        self = operation
    }
}

/// What goes back to a client. Two are equal when the client sees the same.
package struct ServerReply: Sendable, Hashable {
    /// An HTTP status. Clients go by the body.
    package let status: Int
    package let body: [UInt8]
    /// Why it is no response; nil when it is one.
    package let code: ErrorCode?
    /// What the store failed with, which clients are not told.
    package private(set) var failure: StoreError?
    /// Whether it was given before, to the same request.
    package let isRepeated: Bool
    /// Whether a repeat is refused likewise, although the code is one of a refusal that passes.
    package private(set) var isLasting = false

    package static func == (left: ServerReply, right: ServerReply) -> Bool {
        (left.status, left.body, left.code) == (right.status, right.body, right.code)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(status)
        hasher.combine(body)
    }

    /// A response.
    package init(_ body: [UInt8], isRepeated: Bool = false) {
        (status, self.body, code, self.isRepeated) = (200, body, nil, isRepeated)
    }

    /// A refusal (protocol.md 9.1).
    package init(_ error: ProtocolError) {
        (status, body, code, isRepeated) = (error.code.httpStatus, error.encoded, error.code, false)
        if case .tooManyDevices = error { isLasting = true }
    }

    init(_ refusal: Refusal) {
        defer { if case .store(let error) = refusal { failure = error } }
        switch refusal {
        case .message(let error): self.init(error)
        case .store(.full): self.init(.plain(.limited))
        case .store(.unavailable), .store(.missing), .store(.tooOld), .store(.tooNew), .store(.notCopied),
            .store(.copyInTheWay), .store(.needsBackup):
            self.init(.plain(.unavailable))
        case .store(.damaged), .cryptography: self.init(.plain(.base))
        }
    }
}

/// Why an operation ends early.
enum Refusal: Error {
    case message(ProtocolError)
    case store(StoreError)
    /// The library failed, which is not the client's doing.
    case cryptography
}

/// Whom an operation is about: known once its message was read.
package final class OperationSubject: Sendable {
    private let known = Mutex<IdentityID?>(nil)

    package init() {}

    /// The identity that the message names, or that its token or challenge belongs to; nil for a message that names
    /// none.
    package var identity: IdentityID? { known.withLock { $0 } }

    fileprivate func set(_ identity: IdentityID) { known.withLock { $0 = identity } }
}

/// Where the reply of an operation goes.
struct Answer: Sendable {
    let then: @Sendable (ServerReply) -> Void
    let subject: OperationSubject?

    func callAsFunction(_ reply: ServerReply) { then(reply) }

    func concerns(_ identity: IdentityID) { subject?.set(identity) }
}
