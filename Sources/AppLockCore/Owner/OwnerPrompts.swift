package import DeviceOwner
public import SecretMemory
internal import Synchronization
public import VaultFormat

/// What an app shows, and answers, while the system asks for its owner. Called from any thread; nothing of it opens
/// anything.
public struct OwnerPrompts: Sendable {
    /// Why the owner is asked, in the app's words, where the system's own prompt shows that; nil for the app's text
    /// `holdfast.owner.reason`.
    public var reason: String?
    /// Set where the rules have another step after the one that is asked.
    var other: OtherWish?
    let begin: @Sendable (OwnerStep) -> Void
    let show: @Sendable (OwnerGuidance) -> Void
    let finger: @Sendable (OwnerFinger) -> Void
    let answer: @Sendable (OwnerPrompt) async -> SecretBytes?

    /// - Parameters:
    ///   - reason: Why the owner is asked, where the system's own prompt shows that.
    ///   - begin: Which step is asked for now, of ``AppLock/unlock(_:)-(OwnerPrompts)``: one may lead to the next.
    ///   - show: What a sensor has to say: touch it, once more, not in the middle.
    ///   - finger: Which finger the sensor waits for, in words, where it waits for one.
    ///   - answer: Shows a prompt of the account password check, and returns what the user typed if an answer is
    ///     needed; nil if the user cancelled. Without one, whatever asks for an answer is cancelled.
    public init(
        reason: String? = nil,
        begin: @escaping @Sendable (OwnerStep) -> Void = { _ in },
        show: @escaping @Sendable (OwnerGuidance) -> Void = { _ in },
        finger: @escaping @Sendable (String) -> Void = { _ in },
        answer: @escaping @Sendable (OwnerPrompt) async -> SecretBytes? = { _ in nil }
    ) {
        self.init(reason: reason, begin: begin, show: show, onFinger: { finger($0.words) }, answer: answer)
    }

    /// As above, with the finger itself.
    package init(
        reason: String? = nil,
        begin: @escaping @Sendable (OwnerStep) -> Void = { _ in },
        show: @escaping @Sendable (OwnerGuidance) -> Void = { _ in },
        onFinger finger: @escaping @Sendable (OwnerFinger) -> Void,
        answer: @escaping @Sendable (OwnerPrompt) async -> SecretBytes? = { _ in nil }
    ) {
        self.reason = reason
        self.begin = begin
        self.show = show
        self.finger = finger
        self.answer = answer
    }
}

/// Whether the user pressed the prompt's own button for the next step.
final class OtherWish: Sendable {
    private let state = Mutex(false)
    var isMade: Bool { state.withLock { $0 } }
    func make() { state.withLock { $0 = true } }
}

/// An app as the thread sees it that confirms the owner.
final class OwnerPromptTalk: OwnerConversation {
    let cancellation = Cancellation()
    private let answers = OwnerAnswers()
    private let prompts: OwnerPrompts

    init(_ prompts: OwnerPrompts) { self.prompts = prompts }

    var reason: String? { prompts.reason }
    var offersOther: Bool { prompts.other != nil }
    func requestOther() { prompts.other?.make() }

    func show(_ guidance: OwnerGuidance) { prompts.show(guidance) }

    func expect(_ finger: OwnerFinger) { prompts.finger(finger) }

    func ask(_ prompt: OwnerPrompt) -> SecretBytes? {
        let (prompts, answers, cancellation) = (prompts, answers, cancellation)
        guard prompt.needsAnswer else {
            Task { _ = await prompts.answer(prompt) }
            return nil
        }
        return answers.wait(for: cancellation) {
            Task {
                guard let answer = await prompts.answer(prompt) else { return cancellation.cancel() }
                if !answers.give(answer) { cancellation.cancel() }
            }
        }
    }
}
