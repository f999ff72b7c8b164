package import AgentMessages
internal import VaultCore
package import VaultStorage
internal import SystemCalls

extension VaultError.Code {
    /// The agent cannot be reached or started, or its place on the disk is not safe to use.
    package static let agentUnavailable = VaultError.Code(.agentUnavailable)
    /// Another agent serves this vault already.
    package static let agentRunning = VaultError.Code(.agentRunning)
    /// The other side of the socket does not speak our protocol.
    package static let agentProtocol = VaultError.Code(.agentProtocol)
    /// The user was asked whether a program may use something, and did not allow it.
    package static let notAllowed = VaultError.Code(.notAllowed)
}

extension VaultError {
    static func unavailable(_ reason: String) -> VaultError { VaultError(.agentUnavailable, reason) }

    /// The last `errno` in words.
    static func system(_ doing: String, _ number: Int32 = errno) -> VaultError {
        .unavailable("\(doing): \(SystemError(number))")
    }

    init(_ error: MessageError) { self.init(.agentProtocol, error.words) }

    /// As the agent sent it.
    package init(_ failure: Failure) {
        self.init(
            Code(word: failure.code), failure.reason, remainingAttempts: failure.remainingAttempts.map { Int($0) },
            retryAfter: failure.retryAfter.map { .milliseconds(Int64(clamping: $0)) })
    }

    /// As it is sent.
    var failure: Failure {
        let wait = retryAfter.map { wait in
            let (seconds, attoseconds) = wait.components
            return UInt64(clamping: seconds) * 1000 + UInt64(clamping: attoseconds / 1_000_000_000_000_000)
        }
        return Failure(
            code: code.description, reason: reason, remainingAttempts: remainingAttempts.map { UInt32(clamping: $0) },
            retryAfter: wait)
    }
}
