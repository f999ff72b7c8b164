internal import BetterAuthMessages
package import BetterAuthServer

/// Brings what requests do into the audit log, and replies behind it.
package struct AuditTrail: Sendable {
    private let log: AuditLog
    private let hasAddresses: Bool
    private let clock: any ServerClock

    /// - Parameter hasAddresses: Whether lines have the client's address.
    package init(_ log: AuditLog, hasAddresses: Bool, clock: any ServerClock = SystemClock()) {
        self.log = log
        self.hasAddresses = hasAddresses
        self.clock = clock
    }

    /// Whether an operation may begin.
    package var admits: Bool { log.admits }

    func examine() { log.examine() }

    /// Records an operation. What was done is answered when its line is on the disk; a refusal changed nothing, and
    /// does not wait. A message that names no identity is no operation on an account.
    func record(
        _ operation: AuthOperation, _ reply: ServerReply, _ subject: OperationSubject, _ request: HTTPRequest,
        _ answer: @escaping @Sendable (HTTPReply) -> Void
    ) {
        guard let name = operation.auditName, let identity = subject.identity else { return answer(HTTPReply(reply)) }
        let outcome: AuditEntry.Outcome =
            reply.code == nil ? reply.isRepeated ? .repeated : .done : reply.failure == nil ? .refused : .unknown
        let entry = AuditEntry(
            name, outcome, code: reply.code, identity: identity, request: request.trace.id,
            address: hasAddresses ? request.address.description : nil, moment: clock.now)
        guard reply.code == nil else {
            log.record(entry)
            return answer(HTTPReply(reply))
        }
        log.record(entry) { answer($0 ? HTTPReply(reply) : HTTPReply(.plain(.unavailable))) }
    }

    /// Records what an operator did over the socket of administration, and waits for it.
    /// - Returns: False when the log could not be written and operations are then refused.
    package func recordAdministration(
        _ request: AccountAdministration.Request, _ outcome: AuditEntry.Outcome
    ) -> Bool {
        guard !request.isContinuation else { return log.admits }
        let trace = RequestTrace.current ?? .fresh()
        return log.recordAndWait(
            AuditEntry(
                "admin-\(request.deed)", outcome, identity: request.identity, request: trace.id, address: nil,
                moment: clock.now))
    }

    func write(to text: inout MetricsText) {
        text.gauge("holdfast_audit_writable", log.failure == nil, "Whether the audit log can be written.")
        text.counter("holdfast_audit_lost_total", log.lost, "Operations that the audit log could not be told of.")
    }
}
