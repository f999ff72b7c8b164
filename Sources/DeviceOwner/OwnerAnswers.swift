package import SecretMemory
internal import Synchronization
internal import SystemCalls

/// Brings what the user types to the thread that waits for it.
package final class OwnerAnswers: Sendable {
    /// Told once for each answer.
    private let answered = Cancellation()
    private let answer = Mutex<SecretBytes?>(nil)
    private let isAsking = Mutex(false)

    /// Milliseconds that an answer may take.
    private static let patience: Int32 = 120_000

    package init() {}

    /// Asks, and waits for the answer. Blocks.
    /// - Returns: Nil when the user cancelled, or said nothing for two minutes.
    package func wait(for cancellation: Cancellation, _ ask: () -> Void) -> SecretBytes? {
        guard answered.isPossible else { return nil }
        isAsking.withLock { $0 = true }
        ask()
        var waiting = [
            pollfd(fd: cancellation.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: answered.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        var status = unsafe poll(&waiting, 2, OwnerAnswers.patience)
        while status < 0, errno == EINTR { status = unsafe poll(&waiting, 2, OwnerAnswers.patience) }
        isAsking.withLock { $0 = false }
        guard status > 0, waiting[0].revents == 0 else { return nil }
        answered.take()
        return answer.withLock { $0.take() }
    }

    /// Hands an answer over.
    /// - Returns: False when nothing was asked.
    package func give(_ secret: consuming SecretBytes) -> Bool {
        let isWanted = isAsking.withLock { isAsking in
            defer { isAsking = false }
            return isAsking
        }
        guard isWanted else { return false }
        var secret = Optional(secret)
        answer.withLock { $0 = secret.take() }
        answered.cancel()
        return true
    }
}
