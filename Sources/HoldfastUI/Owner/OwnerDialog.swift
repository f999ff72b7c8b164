package import Holdfast
internal import Observation
internal import Synchronization

/// What the system shows and asks while it confirms the device owner, at a sensor or by the account password.
@MainActor @Observable
package final class OwnerDialog {
    /// The method of the running prompt; nil if there is none.
    package private(set) var step: OwnerStep?
    /// What a sensor said last.
    package private(set) var guidance: OwnerGuidance?
    /// Samples of this prompt that did not match.
    package private(set) var misses = 0
    /// The finger that a sensor waits for, where it waits for one.
    package private(set) var finger: OwnerFinger?
    /// Why the owner is asked, in the app's words, where the system's own prompt shows that.
    @ObservationIgnored package var reason: String?
    /// What waits for ``answer(_:)``.
    package private(set) var question: OwnerPrompt?
    /// What the system wants to have read.
    package private(set) var message: OwnerPrompt?

    @ObservationIgnored private var asking: Task<VaultError?, Never>?
    @ObservationIgnored private var answer: OwnerAnswer?

    /// No prompt is running.
    package init() {}

    /// What a prompt is made of: asks, with what it has to show.
    typealias Ask = @Sendable (OwnerPrompts) async throws(VaultError) -> Void

    /// Asks, and shows what is said meanwhile.
    /// - Returns: Why it had no effect; nil for a yes.
    func run(_ step: OwnerStep, _ ask: @escaping Ask) async -> VaultError? {
        guard self.step == nil else { return VaultError(.busy, "another prompt is up") }
        self.step = step
        misses = 0
        // In order, because only the sensor's latest hint is valid.
        let (said, saying) = AsyncStream.makeStream(of: Said.self)
        let listening = Task { [weak self] in
            for await word in said { self?.handle(word) }
        }
        let prompts = OwnerPrompts(
            reason: reason,
            begin: { saying.yield(.step($0)) },
            show: { saying.yield(.guidance($0)) }, onFinger: { saying.yield(.finger($0)) },
            answer: { prompt in
                guard prompt.needsAnswer else {
                    saying.yield(.message(prompt))
                    return nil
                }
                let answer = OwnerAnswer()
                saying.yield(.question(prompt, answer))
                return await answer.wait()
            })
        let asking = Task { () -> VaultError? in
            do throws(VaultError) {
                try await ask(prompts)
                return nil
            } catch { return error }
        }
        self.asking = asking
        let problem = await withTaskCancellationHandler {
            await asking.value
        } onCancel: {
            asking.cancel()
        }
        saying.finish()
        await listening.value
        end()
        return problem
    }

    /// Passes what the user typed to the prompt.
    package func answer(_ secret: consuming SecretBytes) {
        guard let answer else { return }
        self.answer = nil
        question = nil
        guidance = .checking
        answer.give(secret)
    }

    /// The user cancelled.
    package func cancel() {
        asking?.cancel()
        answer?.give(nil)
        answer = nil
    }

    private enum Said: Sendable {
        case step(OwnerStep)
        case guidance(OwnerGuidance)
        case finger(OwnerFinger)
        case message(OwnerPrompt)
        case question(OwnerPrompt, OwnerAnswer)
    }

    private func handle(_ word: Said) {
        switch word {
        case .step(let step):
            // One leads to the next: what the last one showed is over.
            (self.step, misses) = (step, 0)
            (guidance, finger, question, message) = (nil, nil, nil, nil)
        case .guidance(let guidance):
            self.guidance = guidance
            if guidance == .noMatch { misses += 1 }
        case .finger(let finger): self.finger = finger
        case .message(let message): self.message = message
        case .question(let question, let answer):
            // After a cancel there are no more prompts.
            guard asking?.isCancelled == false else { return answer.give(nil) }
            self.answer?.give(nil)
            (self.question, self.answer) = (question, answer)
            guidance = nil
        }
    }

    private func end() {
        answer?.give(nil)
        (step, asking, answer) = (nil, nil, nil)
        (guidance, finger, question, message) = (nil, nil, nil, nil)
    }
}

/// An answer on its way from the screen to its waiter; delivered once.
private final class OwnerAnswer: Sendable {
    private struct State: ~Copyable {
        var secret: SecretBytes?
        var isGiven = false
        var waiting: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    func give(_ secret: consuming SecretBytes?) {
        var secret = secret
        let waiting = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard !state.isGiven else { return nil }
            state.isGiven = true
            state.secret = secret.take()
            return state.waiting.take()
        }
        waiting?.resume()
    }

    func wait() async -> SecretBytes? {
        await withCheckedContinuation { waiting in
            let isGiven = state.withLock { state in
                if !state.isGiven { state.waiting = waiting }
                return state.isGiven
            }
            if isGiven { waiting.resume() }
        }
        return state.withLock { $0.secret.take() }
    }
}
