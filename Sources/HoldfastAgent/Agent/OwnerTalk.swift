internal import AgentMessages
internal import DeviceOwner
internal import SecretMemory
internal import VaultFormat

/// A client, as the thread that confirms the device owner sees it: what is shown goes through the agent's own thread,
/// and answers come back from there.
final class OwnerTalk: OwnerConversation {
    let cancellation = Cancellation()
    private let answers = OwnerAnswers()
    private let connection: UInt64
    private let completions: Completions

    init(_ connection: UInt64, _ completions: Completions) {
        self.connection = connection
        self.completions = completions
    }

    func show(_ guidance: OwnerGuidance) {
        completions.post(.say(connection, .guidance(guidance)))
    }

    /// In words: the user interfaces of the agent show them as they come.
    func expect(_ finger: OwnerFinger) {
        completions.post(.say(connection, .prompt(.information("use the \(finger.words)"))))
    }

    func ask(_ prompt: OwnerPrompt) -> SecretBytes? {
        let (completions, connection) = (completions, connection)
        func say() { completions.post(.say(connection, .prompt(prompt))) }
        guard prompt.needsAnswer else {
            say()
            return nil
        }
        return answers.wait(for: cancellation, say)
    }

    /// Hands an answer over.
    /// - Returns: False when nothing was asked.
    func take(_ secret: consuming SecretBytes) -> Bool { answers.give(secret) }
}
