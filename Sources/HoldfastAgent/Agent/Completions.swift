internal import AgentMessages
internal import AppLockCore
internal import Synchronization
internal import VaultCore
internal import VaultStorage

/// What threads do and have finished, on its way to the agent's own thread.
final class Completions: Sendable {
    private enum Waiting {
        case said(Completion)
        case ended(Job)
    }

    private struct State {
        var waiting: [Waiting] = []
        var last: UInt64 = 0
        /// Jobs that were begun, until the agent's own thread has taken the outcome.
        var underWay: [UInt64: Lane.Awaited] = [:]
    }

    private let state = Mutex(State())
    private let waker: SignalPipe.Waker

    init(_ waker: SignalPipe.Waker) { self.waker = waker }

    func begin(_ awaited: Lane.Awaited, _ work: @escaping Lane.Work) -> Job {
        state.withLock { state in
            state.last += 1
            state.underWay[state.last] = awaited
            return Job(state.last, work)
        }
    }

    /// It was not begun after all.
    func withdraw(_ job: Job) { state.withLock { _ = $0.underWay.removeValue(forKey: job.number) } }

    /// It has ended, and with it what it knew, except for what is told.
    func end(_ job: Job) {
        state.withLock { $0.waiting.append(.ended(job)) }
        waker.wake()
    }

    /// Tells something in the middle of a job.
    func post(_ completion: Completion) {
        state.withLock { $0.waiting.append(.said(completion)) }
        waker.wake()
    }

    func takeAll() -> [Completion] {
        state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting.compactMap { waiting in
                switch waiting {
                case .said(let completion): return completion
                case .ended(let job):
                    state.underWay[job.number] = nil
                    return job.take()
                }
            }
        }
    }

    /// The job that was begun last.
    var last: UInt64 { state.withLock { $0.last } }

    /// Whether nothing is left of the jobs that knew what is in the vault, up to this one.
    func areForgotten(upTo last: UInt64) -> Bool {
        state.withLock { state in !state.underWay.contains { $0.key <= last && $0.value == .byLock } }
    }

    /// Whether there is nothing that the agent's end waits for.
    var areQuiet: Bool { state.withLock { state in state.underWay.values.allSatisfy { $0 == .byNothing } } }
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
    /// An SSH program's key is in a chip, which has a thread of its own.
    case sshForChip(UInt64, LeaseCheck)
    /// As ``work``, for a call of the Secret Service, with what was found.
    case secrets(UInt64, SecretServiceAnswer?, Outcome)
    /// Rounds of the sync have ended that were begun in this unlock.
    case synced(UInt64, SyncRounds?, Outcome)
    /// The user was asked the question with this number, perhaps for a secret.
    case prompted(UInt64, PromptAnswer, UnlockAnswer?)

    /// Whether it ends something that has names in it.
    var isLock: Bool {
        switch self {
        case .lock, .prompted: true
        case .unlock, .confirmed, .say, .work, .ssh, .sshForChip, .secrets, .synced: false
        }
    }

    /// How work for a client ended.
    enum Outcome: Sendable {
        case done([Packet], Next)
        case failed(VaultError)
        /// The user must be asked first.
        case stopped(LeaseCheck.Needed)
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
