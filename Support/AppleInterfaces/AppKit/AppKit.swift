// AppKit as far as Holdfast uses it: the pasteboard, printing, and what the session tells. The type rules; of
// behaviour, that each center is its own.
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

@MainActor open class NSResponder: NSObject {}
@MainActor open class NSView: NSResponder {
    public init(frame: CGRect) {}
    open var window: NSWindow? { nil }
    open func viewDidMoveToWindow() {}
}
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

@MainActor open class NSWindow: NSResponder {
    open var attachedSheet: NSWindow? { nil }
    @discardableResult open func makeFirstResponder(_ responder: NSResponder?) -> Bool { true }
    open var isVisible: Bool { true }
    open var canBecomeMain: Bool { true }
    public nonisolated static let didMiniaturizeNotification = NSNotification.Name("NSWindowDidMiniaturizeNotification")
}
@MainActor open class NSApplication: NSResponder {
    public static let shared = NSApplication()
    public nonisolated static let didBecomeActiveNotification = NSNotification.Name("NSApplicationDidBecomeActiveNotification")
    open var windows: [NSWindow] { [] }
}
/// Of Foundation's, on a Mac alone.
public final class DistributedNotificationCenter: NotificationCenter, @unchecked Sendable {
    private static let shared = DistributedNotificationCenter()
    public static func `default`() -> DistributedNotificationCenter { shared }
}

@MainActor open class NSWorkspace: NSObject {
    public static let shared = NSWorkspace()
    /// "Workspace notifications are posted to a notification center provided by the NSWorkspace object, instead of ...
    /// the default notification center." [NSWorkspace]
    public nonisolated let notificationCenter = NotificationCenter()
    public nonisolated static let willSleepNotification = NSNotification.Name("NSWorkspaceWillSleepNotification")
    public nonisolated static let didWakeNotification = NSNotification.Name("NSWorkspaceDidWakeNotification")
    public nonisolated static let screensDidSleepNotification = NSNotification.Name("NSWorkspaceScreensDidSleepNotification")
    public nonisolated static let screensDidWakeNotification = NSNotification.Name("NSWorkspaceScreensDidWakeNotification")
    public nonisolated static let sessionDidResignActiveNotification = NSNotification.Name("NSWorkspaceSessionDidResignActiveNotification")
    public nonisolated static let sessionDidBecomeActiveNotification = NSNotification.Name("NSWorkspaceSessionDidBecomeActiveNotification")
}
