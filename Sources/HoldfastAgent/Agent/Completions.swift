internal import AgentMessages
internal import AppLockCore
internal import Synchronization
internal import VaultCore
internal import VaultStorage

/// What threads have finished, on its way to the agent's own thread.
final class Completions: Sendable {
    private let waiting = Mutex<[Completion]>([])
    private let waker: SignalPipe.Waker

    init(_ waker: SignalPipe.Waker) { self.waker = waker }

    func post(_ completion: Completion) {
        waiting.withLock { $0.append(completion) }
        waker.wake()
    }

    func takeAll() -> [Completion] {
        waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
    }
}

/// Something that a thread has finished.
enum Completion: Sendable {
    /// An attempt to open the vault.
    case unlock(Result<Void, VaultError>)
    /// The system was asked for its owner.
    case confirmed(Result<OwnerReleaseBox, VaultError>)
    /// Something to tell the client with this number.
    case say(UInt64, Reply)
    /// The keys are gone, but for those of an attempt that runs.
    case lock
    /// Work for the client with this number.
    case work(UInt64, Outcome)
    /// As ``work``, for an SSH program.
    case ssh(UInt64, Outcome)
    /// As ``work``, for a call of the Secret Service, with what was found.
    case secrets(UInt64, SecretServiceAnswer?, Outcome)
    /// The user was asked the question with this number.
    case prompted(UInt64, PromptAnswer)

    /// Whether it ends something that has names in it.
    var isLock: Bool {
        switch self {
        case .lock, .prompted: true
        case .unlock, .confirmed, .say, .work, .ssh, .secrets: false
        }
    }

    /// How work for a client ended.
    enum Outcome: Sendable {
        case done([Packet], Next)
        case failed(VaultError)
        /// The user must be asked first.
        case stopped(Gate.Closed)
        /// The header is not the one that the keys were read from, or cannot be read any more.
        case headerChanged(VaultError?)
    }

    /// What the client is in the middle of then.
    enum Next: Sendable {
        case rest
        case give(ValueReader, UInt64)
        case take(ValueWriter)
        case takeItem(ComingItem)
        case list([RecordEntry])
    }
}
