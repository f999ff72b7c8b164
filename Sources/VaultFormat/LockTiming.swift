/// When an unlocked vault locks by itself: seconds in the background, or one of two words.
public struct LockTiming: Sendable, Hashable {
    /// Seconds; the two largest values stand for the words below.
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// As soon as the app leaves the foreground.
    public static let immediately = LockTiming(rawValue: 0)
    /// Only when the app is started again.
    public static let onRelaunch = LockTiming(rawValue: .max - 1)
    /// Never by itself while the process lives.
    public static let never = LockTiming(rawValue: .max)
    /// After `seconds` in the background.
    public static func after(seconds: UInt32) -> LockTiming { LockTiming(rawValue: min(seconds, .max - 2)) }

    /// Seconds in the background after which the vault locks; nil for relaunch and never.
    public var seconds: UInt32? { rawValue >= .max - 1 ? nil : rawValue }
}
