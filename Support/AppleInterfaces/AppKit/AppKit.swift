// AppKit as far as Holdfast uses it: the pasteboard, printing, and what the session tells. The type rules, no behaviour.
@_exported import Foundation

public final class NSPasteboard: NSObject, @unchecked Sendable {
    public struct PasteboardType: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        public init(_ rawValue: String) { self.rawValue = rawValue }
        public static let string = PasteboardType("public.utf8-plain-text")
    }
    public struct ContentsOptions: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let currentHostOnly = ContentsOptions(rawValue: 1)
    }
    public static var general: NSPasteboard { NSPasteboard() }
    public var changeCount: Int { 0 }
    @discardableResult public func clearContents() -> Int { 0 }
    @discardableResult public func prepareForNewContents(with options: ContentsOptions = []) -> Int { 0 }
    @discardableResult public func setString(_ string: String, forType type: PasteboardType) -> Bool { true }
}

@MainActor open class NSView: NSObject { public init(frame: CGRect) {} }
@MainActor open class NSTextView: NSView {
    open var string = ""
    open var font: NSFont?
}
public final class NSFont: NSObject, @unchecked Sendable {
    public static func monospacedSystemFont(ofSize size: CGFloat, weight: Weight) -> NSFont { NSFont() }
    public struct Weight: Sendable { public static let regular = Weight() }
}
@MainActor open class NSPrintOperation: NSObject {
    public init(view: NSView) {}
    open var jobTitle: String?
    open var showsPrintPanel = true
    @discardableResult open func run() -> Bool { true }
}

@MainActor open class NSWindow: NSObject {
    open var isVisible: Bool { true }
    open var canBecomeMain: Bool { true }
    public nonisolated static let didMiniaturizeNotification = NSNotification.Name("NSWindowDidMiniaturizeNotification")
}
@MainActor open class NSApplication: NSObject {
    public static var shared: NSApplication { NSApplication() }
    open var windows: [NSWindow] { [] }
}
/// Of Foundation's, on a Mac alone.
public final class DistributedNotificationCenter: NotificationCenter, @unchecked Sendable {
    public static func `default`() -> DistributedNotificationCenter { DistributedNotificationCenter() }
}

@MainActor open class NSWorkspace: NSObject {
    public static let shared = NSWorkspace()
    open nonisolated var notificationCenter: NotificationCenter { .default }
    public nonisolated static let willSleepNotification = NSNotification.Name("NSWorkspaceWillSleepNotification")
    public nonisolated static let didWakeNotification = NSNotification.Name("NSWorkspaceDidWakeNotification")
    public nonisolated static let screensDidSleepNotification = NSNotification.Name("NSWorkspaceScreensDidSleepNotification")
    public nonisolated static let sessionDidResignActiveNotification = NSNotification.Name("NSWorkspaceSessionDidResignActiveNotification")
    public nonisolated static let sessionDidBecomeActiveNotification = NSNotification.Name("NSWorkspaceSessionDidBecomeActiveNotification")
}
