package import SecretMemory

/// What a sensor has to say while it looks.
public enum OwnerGuidance: UInt8, Sendable, Hashable, CaseIterable {
    /// The sensor waits for a finger.
    case touch = 1
    /// Seen, but not well enough: once more.
    case retry = 2
    /// The swipe was too short.
    case tooShort = 3
    /// The finger was not in the middle.
    case notCentred = 4
    /// The finger has to be lifted first.
    case removeAndRetry = 5
    /// A finger that is not known; another try is left.
    case noMatch = 6
    /// The passcode is being checked.
    case checking = 7
}

/// What a passcode check wants to have shown or answered.
public enum OwnerPrompt: Sendable, Hashable {
    /// An answer that is not shown while it is typed.
    case hidden(String)
    /// An answer that may be shown.
    case shown(String)
    /// Only to be read.
    case information(String)
    /// A problem, only to be read.
    case problem(String)

    /// Whether an answer is waited for.
    public var needsAnswer: Bool {
        switch self {
        case .hidden, .shown: true
        case .information, .problem: false
        }
    }
}

/// The one who asks, as a backend sees him. Called from the thread that asks.
package protocol OwnerConversation: AnyObject, Sendable {
    /// Shows something while a sensor looks.
    func show(_ guidance: OwnerGuidance)
    /// Shows which finger the sensor waits for, where it waits for one.
    func expect(_ finger: OwnerFinger)
    /// Shows a text, and waits for an answer where one is needed; nil when the owner turned away.
    func ask(_ prompt: OwnerPrompt) -> SecretBytes?
    /// Tells when the owner turned away.
    var cancellation: Cancellation { get }
}
