/// The prompts of the Secret Service: each is one client's, and no other client can have it shown or end it (Secret
/// Service API 0.2, "Prompts"). A value without any effect.
package struct SecretServicePrompts: Sendable {
    /// Prompts at once, and of one process.
    package static let most = 16, mostOfProcess = 4
    /// Objects that one is for, at most.
    package static let mostObjects = 64

    /// A prompt.
    package struct Prompt: Sendable, Hashable {
        package let client: SecretServiceClient
        /// The paths that it unlocks.
        package let objects: [String]
        /// Whether the client had it shown.
        package fileprivate(set) var isShown = false
    }

    private var prompts: [UInt64: Prompt] = [:]

    package init() {}

    /// Makes one.
    /// - Parameter number: One that no prompt had before.
    /// - Returns: False when there are too many.
    package mutating func open(_ number: UInt64, _ client: SecretServiceClient, _ objects: [String]) -> Bool {
        guard prompts.count < SecretServicePrompts.most, hasRoom(for: client.process, objects) else { return false }
        prompts[number] = Prompt(client: client, objects: objects)
        return true
    }

    private func hasRoom(for process: SecretServiceClient.Process?, _ objects: [String]) -> Bool {
        objects.count <= SecretServicePrompts.mostObjects
            && prompts.values.count { $0.client.process == process } < SecretServicePrompts.mostOfProcess
    }

    package subscript(number: UInt64) -> Prompt? { prompts[number] }

    /// The one that makes room for another when there are as many as there may be: of the process with the most the
    /// oldest that is not shown, or else the newest, since another one of it stays; where no process has more than the
    /// newcomer would, the oldest of its own that is not shown, or of all. What a process has shown alone is not taken
    /// away. Nil where there is room, or none for the newcomer.
    package func superfluous(for client: SecretServiceClient, _ objects: [String]) -> UInt64? {
        guard prompts.count >= SecretServicePrompts.most, hasRoom(for: client.process, objects) else { return nil }
        var shares = SecretServiceShares()
        for prompt in prompts.values { shares.add(prompt.client.process) }
        let most = shares.most(against: client.process)
        guard most.isEmpty else {
            let leaving = prompts.filter { most.contains($0.value.client.process) }
            return leaving.filter { !$0.value.isShown }.keys.min() ?? leaving.keys.max()
        }
        let idle = prompts.filter { !$0.value.isShown }
        return idle.filter { $0.value.client.process == client.process }.keys.min()
            ?? (shares[client.process] == 0 ? idle.keys.min() : nil)
    }

    /// Shows one.
    /// - Returns: False for one that is not this client's, and for one that was shown before.
    package mutating func show(_ number: UInt64, of client: String) -> Bool {
        guard let prompt = prompts[number], prompt.client.name == client, !prompt.isShown else { return false }
        prompts[number]?.isShown = true
        return true
    }

    /// Takes one out.
    package mutating func close(_ number: UInt64) -> Prompt? { prompts.removeValue(forKey: number) }

    /// The numbers of all, or of those that are shown.
    package func numbers(isShown: Bool) -> [UInt64] {
        prompts.filter { $0.value.isShown || !isShown }.keys.sorted()
    }

    /// Ends all prompts of a client that has left the bus.
    package mutating func leave(_ client: String) { prompts = prompts.filter { $0.value.client.name != client } }
}
