/// The prompts of the Secret Service: each is one client's, and no other client can have it shown or end it (Secret
/// Service API 0.2, "Prompts"). A value without any effect.
package struct SecretServicePrompts: Sendable {
    /// Prompts at once, and of one client.
    package static let most = 16, mostOfClient = 4
    /// Objects that one is for, at most.
    package static let mostObjects = 64

    /// A prompt.
    package struct Prompt: Sendable, Hashable {
        /// The unique name that the bus gave to its client.
        package let client: String
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
    package mutating func open(_ number: UInt64, _ client: String, _ objects: [String]) -> Bool {
        guard prompts.count < SecretServicePrompts.most, objects.count <= SecretServicePrompts.mostObjects,
            prompts.values.count(where: { $0.client == client }) < SecretServicePrompts.mostOfClient
        else { return false }
        prompts[number] = Prompt(client: client, objects: objects)
        return true
    }

    package subscript(number: UInt64) -> Prompt? { prompts[number] }

    /// The one that makes room for another when there are as many as there may be: the oldest that its client has not
    /// had shown. Nil where there is room.
    package var superfluous: UInt64? {
        guard prompts.count >= SecretServicePrompts.most else { return nil }
        return prompts.filter { !$0.value.isShown }.keys.min()
    }

    /// Shows one.
    /// - Returns: False for one that is not this client's, and for one that was shown before.
    package mutating func show(_ number: UInt64, of client: String) -> Bool {
        guard let prompt = prompts[number], prompt.client == client, !prompt.isShown else { return false }
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
    package mutating func leave(_ client: String) { prompts = prompts.filter { $0.value.client != client } }
}
