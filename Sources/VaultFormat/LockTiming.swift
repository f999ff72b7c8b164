/// When an unlocked vault locks automatically: seconds in the background, or one of two words.
public struct LockTiming: Sendable, Hashable {
    /// Seconds; the two largest values stand for the words below.
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// As soon as the app leaves the foreground.
    public static let immediately = LockTiming(rawValue: 0)
    /// Only when the app is started again.
    public static let onRelaunch = LockTiming(rawValue: .max - 1)
    /// Never automatically while the process runs.
    public static let never = LockTiming(rawValue: .max)
    /// After so long in the background, in whole seconds; as soon as the app leaves the foreground for less than one.
    public static func after(_ duration: Duration) -> LockTiming {
        let seconds = duration.components.seconds
        return after(seconds: UInt32(clamping: seconds))
    }

    /// How long in the background until the vault locks; nil for relaunch and never.
    package var duration: Duration? { seconds.map { .seconds($0) } }

    package static func after(seconds: UInt32) -> LockTiming { LockTiming(rawValue: min(seconds, .max - 2)) }

    /// Seconds in the background after which the vault locks; nil for relaunch and never.
    package var seconds: UInt32? { rawValue >= .max - 1 ? nil : rawValue }
}
