package import SecretMemory
package import VaultFormat

/// The prompting side, as a backend sees it. Called from the thread that asks.
package protocol OwnerConversation: AnyObject, Sendable {
    /// Shows something while a sensor looks.
    func show(_ guidance: OwnerGuidance)
    /// Shows which finger the sensor waits for, where it waits for one.
    func expect(_ finger: OwnerFinger)
    /// Shows a text, and waits for an answer where one is needed; nil when the user cancelled.
    func ask(_ prompt: OwnerPrompt) -> SecretBytes?
    /// Tells when the user cancelled.
    var cancellation: Cancellation { get }
    /// Why the owner is asked, in the app's words; nil for those that hold everywhere.
    var reason: String? { get }
    /// Whether a prompt with a button for another way may show it: there is another way.
    var offersOther: Bool { get }
    /// The user pressed that button; the prompt has ended as a cancelled one.
    func requestOther()
}

extension OwnerConversation {
    /// The usual words.
    package var reason: String? { nil }
    /// No such button.
    package var offersOther: Bool { false }
    /// Not offered.
    package func requestOther() {}
}

/// A finger, by the names of fprintd (`net.reactivated.Fprint.Device`).
package enum OwnerFinger: String, Sendable, Hashable, CaseIterable {
    case leftThumb = "left-thumb"
    case leftIndex = "left-index-finger"
    case leftMiddle = "left-middle-finger"
    case leftRing = "left-ring-finger"
    case leftLittle = "left-little-finger"
    case rightThumb = "right-thumb"
    case rightIndex = "right-index-finger"
    case rightMiddle = "right-middle-finger"
    case rightRing = "right-ring-finger"
    case rightLittle = "right-little-finger"

    /// For people, in English: "right index finger".
    package var words: String { String(rawValue.map { $0 == "-" ? " " : $0 }) }
}
