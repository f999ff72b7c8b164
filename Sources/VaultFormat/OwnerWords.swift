// What a confirmation of the device's owner says on its way to a user interface, in this process or through the agent.

/// What a sensor has to say while it looks. The number is the one in the agent's messages.
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

/// What a check of the account's passcode wants to have shown or answered. The text is the system's own.
public enum OwnerPrompt: Sendable, Hashable {
    /// An answer that is not shown while it is typed.
    case hidden(String)
    /// An answer that may be shown.
    case shown(String)
    /// Only to be read.
    case information(String)
    /// A problem, only to be read.
    case problem(String)

    /// Its number in the agent's messages, and the text.
    package var coded: (style: UInt8, text: String) {
        switch self {
        case .hidden(let text): (1, text)
        case .shown(let text): (2, text)
        case .information(let text): (3, text)
        case .problem(let text): (4, text)
        }
    }

    /// The prompt with this number in the agent's messages; nil for another one.
    package init?(style: UInt8, text: String) {
        switch style {
        case 1: self = .hidden(text)
        case 2: self = .shown(text)
        case 3: self = .information(text)
        case 4: self = .problem(text)
        default: return nil
        }
    }

    /// What is shown.
    package var text: String { coded.text }

    /// Whether an answer is waited for.
    package var needsAnswer: Bool {
        switch self {
        case .hidden, .shown: true
        case .information, .problem: false
        }
    }
}

/// Why only the vault's own passcode is taken. The number is the one in the agent's messages.
package enum OwnerExpiry: UInt8, Sendable, Hashable, CaseIterable {
    /// It was not given since the process started, or too long ago.
    case noPasscode = 1
    /// Too many samples did not match since.
    case nonMatches = 2
    /// Fingers were added or removed since.
    case enrollmentChanged = 3
}
