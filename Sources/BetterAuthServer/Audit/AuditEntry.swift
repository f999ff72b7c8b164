package import BetterAuthMessages

/// What the audit log says about one operation.
package struct AuditEntry: Sendable {
    package enum Outcome: String, Sendable {
        case done = "done"
        /// Done before; the same request got the same reply.
        case repeated = "repeated"
        case refused = "refused"
        /// The store failed: it was done or it was not, and a repeat tells.
        case unknown = "unknown"
    }

    let operation: String
    let outcome: Outcome
    let code: ErrorCode?
    let identity: IdentityID?
    let request: String
    let address: String?
    let moment: Timestamp

    /// - Parameters:
    ///   - operation: A name of ours.
    ///   - code: Why it was refused.
    ///   - identity: Whom it is about; of a refused one whom it names.
    ///   - request: The request's name: no character of it needs quoting in JSON.
    ///   - address: The client's; nil where the log has none.
    package init(
        _ operation: String, _ outcome: Outcome, code: ErrorCode? = nil, identity: IdentityID?, request: String,
        address: String?, moment: Timestamp
    ) {
        self.operation = operation
        self.outcome = outcome
        self.code = code
        self.identity = identity
        self.request = request
        self.address = address
        self.moment = moment
    }

    /// Members of the line's object behind its time.
    func members(_ key: AuditKey) throws -> String {
        var text = #","operation":"\#(operation)","outcome":"\#(outcome.rawValue)""#
        if let code { text += #","code":"\#(code.rawValue)""# }
        if let identity { text += #","identity":"\#(try key.digest(of: identity.description))""# }
        text += #","request":"\#(request)""#
        if let address { text += #","address":"\#(address)""# }
        return text
    }
}

extension AuthOperation {
    /// What the audit log calls it; nil for what changes nothing and proves nothing.
    package var auditName: String? {
        switch self {
        case .createAccount: "create"
        case .recoverAccount: "recover"
        case .deleteAccount: "delete"
        case .rotateDevice: "rotate"
        case .linkDevice: "link"
        case .unlinkDevice: "unlink"
        case .changeRecoveryKey: "change-recovery"
        case .requestSession: nil
        case .createSession: "session-create"
        case .refreshSession: "session-refresh"
        }
    }
}
