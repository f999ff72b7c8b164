internal import AgentMessages
internal import DeviceOwner
internal import SecretMemory
internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// A client as the thread sees him that confirms the owner: what is shown goes through the agent's own thread, and answers
/// come back from there.
final class OwnerTalk: OwnerConversation {
    let cancellation = Cancellation()
    /// Told once for each answer.
    private let answered = Cancellation()
    private let answer = Mutex<SecretBytes?>(nil)
    private let isAsking = Mutex(false)
    private let connection: UInt64
    private let completions: Completions

    /// Milliseconds that an answer may take.
    private static let patience: Int32 = 120_000

    init(_ connection: UInt64, _ completions: Completions) {
        self.connection = connection
        self.completions = completions
    }

    func show(_ guidance: OwnerGuidance) {
        guard let guidance = Guidance(rawValue: guidance.rawValue) else { return }
        completions.post(.say(connection, .guidance(guidance)))
    }

    func ask(_ prompt: OwnerPrompt) -> SecretBytes? {
        let needsAnswer = prompt.needsAnswer
        if needsAnswer { isAsking.withLock { $0 = true } }
        completions.post(.say(connection, .prompt(Prompt(prompt))))
        guard needsAnswer, answered.isPossible else { return nil }
        var waiting = [
            pollfd(fd: cancellation.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: answered.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        var status = unsafe poll(&waiting, 2, OwnerTalk.patience)
        while status < 0, errno == EINTR { status = unsafe poll(&waiting, 2, OwnerTalk.patience) }
        isAsking.withLock { $0 = false }
        guard status > 0, waiting[0].revents == 0 else { return nil }
        answered.take()
        return answer.withLock { $0.take() }
    }

    /// Hands an answer over.
    /// - Returns: False when nothing was asked.
    func take(_ secret: consuming SecretBytes) -> Bool {
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

extension Prompt {
    fileprivate init(_ prompt: OwnerPrompt) {
        switch prompt {
        case .hidden(let text): self.init(style: .hidden, text: text)
        case .shown(let text): self.init(style: .shown, text: text)
        case .information(let text): self.init(style: .information, text: text)
        case .problem(let text): self.init(style: .problem, text: text)
        }
    }
}

/// A release on its way from the thread that confirmed the owner to the one that unlocks; taken once.
final class ReleaseBox: Sendable {
    private let release: Mutex<OwnerRelease?>
    let step: DeviceOwner.OwnerStep

    init(_ release: consuming OwnerRelease) {
        step = release.step
        self.release = Mutex(release)
    }

    func take() -> OwnerRelease? { release.withLock { $0.take() } }
}
