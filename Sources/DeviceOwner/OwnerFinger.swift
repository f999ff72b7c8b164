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
