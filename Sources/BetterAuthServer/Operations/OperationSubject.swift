package import BetterAuthMessages
internal import Synchronization

/// Whom an operation is about: known once its message was read.
package final class OperationSubject: Sendable {
    private let known = Mutex<IdentityID?>(nil)

    package init() {}

    /// The identity that the message names, or that its token or challenge belongs to; nil for a message that names none.
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
