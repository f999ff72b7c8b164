package import BetterAuthMessages

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

/// What goes back to a client.
package struct ServerReply: Sendable, Hashable {
    /// An HTTP status. Clients go by the body.
    package let status: Int
    package let body: [UInt8]
    /// Why it is no response; nil when it is one.
    package let code: ErrorCode?

    /// A response.
    package init(_ body: [UInt8]) {
        (status, self.body, code) = (200, body, nil)
    }

    /// A refusal (protocol.md 9.1).
    package init(_ error: ProtocolError) {
        (status, body, code) = (error.code.httpStatus, error.encoded, error.code)
    }

    init(_ refusal: Refusal) {
        switch refusal {
        case .message(let error): self.init(error)
        case .store(.full): self.init(.plain(.limited))
        case .store(.unavailable), .store(.missing), .store(.tooOld), .store(.tooNew): self.init(.plain(.unavailable))
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
