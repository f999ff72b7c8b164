public import DeviceOwner
public import SecretMemory
public import VaultFormat

/// What an app shows, and answers, while the system asks for its owner. Called from any thread; nothing of it opens
/// anything.
public struct OwnerPrompts: Sendable {
    let show: @Sendable (OwnerGuidance) -> Void
    let finger: @Sendable (OwnerFinger) -> Void
    let answer: @Sendable (OwnerPrompt) async -> SecretBytes?

    /// - Parameters:
    ///   - show: What a sensor has to say: touch it, once more, not in the middle.
    ///   - finger: Which finger the sensor waits for, where it waits for one.
    ///   - answer: Shows a prompt of the account password check, and returns what the user typed if an answer is
    ///     needed; nil if the user cancelled. Without one, whatever asks for an answer is cancelled.
    public init(
        show: @escaping @Sendable (OwnerGuidance) -> Void = { _ in },
        finger: @escaping @Sendable (OwnerFinger) -> Void = { _ in },
        answer: @escaping @Sendable (OwnerPrompt) async -> SecretBytes? = { _ in nil }
    ) {
        self.show = show
        self.finger = finger
        self.answer = answer
    }
}

/// An app as the thread sees it that confirms the owner.
final class OwnerPromptTalk: OwnerConversation {
    let cancellation = Cancellation()
    private let answers = OwnerAnswers()
    private let prompts: OwnerPrompts

    init(_ prompts: OwnerPrompts) { self.prompts = prompts }

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
