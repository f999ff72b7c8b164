// Apps, their scenes and their menus, and a person who opens windows of them.
@_exported import Foundation

// MARK: App and scenes

/// What an app declares (ours).
@MainActor public final class Declared {
    var windows: [AnyView] = []
    var menus: [AnyView] = []
    var isRestored = true
}
@MainActor @preconcurrency public protocol Scene {
    associatedtype Body: Scene
    @SceneBuilder @MainActor @preconcurrency var body: Self.Body { get }
    func _declare(_ declared: Declared)  // ours
}
extension Scene { @MainActor public func _declare(_ declared: Declared) { body._declare(declared) } }
extension Never: Scene {}
@MainActor @preconcurrency public protocol LeafScene: Scene where Body == Never {}  // ours: anything without a body
extension LeafScene { public var body: Never { fatalError() } }
@resultBuilder public struct SceneBuilder {
    public static func buildBlock<Content: Scene>(_ content: Content) -> Content { content }
    public static func buildBlock<each Content: Scene>(_ content: repeat each Content) -> TupleScene<
        (repeat each Content)
    > {
        var parts: [@MainActor (Declared) -> Void] = []
        func add<S: Scene>(_ scene: S) { parts.append { scene._declare($0) } }
        repeat add(each content)
        return TupleScene(parts)
    }
}
public struct TupleScene<T>: LeafScene {  // Apple: _TupleScene
    let parts: [@MainActor (Declared) -> Void]
    nonisolated init(_ parts: [@MainActor (Declared) -> Void]) { self.parts = parts }
    @MainActor public func _declare(_ declared: Declared) { for part in parts { part(declared) } }
}
/// A scene with something beside it (ours).
public struct ModifiedScene<Base: Scene>: LeafScene {
    nonisolated(unsafe) let base: Base
    let change: @MainActor (Declared) -> Void
    @MainActor public func _declare(_ declared: Declared) {
        base._declare(declared)
        change(declared)
    }
}
public struct WindowGroup<Content: View>: LeafScene {
    nonisolated(unsafe) let content: Content
    public nonisolated init(@ViewBuilder content: () -> Content) { self.content = content() }
    @MainActor public func _declare(_ declared: Declared) { declared.windows.append(AnyView(content)) }
}
@MainActor @preconcurrency public protocol App {
    associatedtype Body: Scene
    @SceneBuilder @MainActor @preconcurrency var body: Self.Body { get }
    @MainActor @preconcurrency init()
}
extension App { @MainActor @preconcurrency public static func main() {} }

// MARK: Commands

@MainActor @preconcurrency public protocol Commands {
    associatedtype Body: Commands
    @CommandsBuilder @MainActor @preconcurrency var body: Self.Body { get }
    func _declare(_ declared: Declared)  // ours
}
extension Commands { @MainActor public func _declare(_ declared: Declared) { body._declare(declared) } }
extension Never: Commands {}
extension Never { @MainActor public func _declare(_ declared: Declared) {} }
@resultBuilder public struct CommandsBuilder {
    public static func buildBlock<Content: Commands>(_ content: Content) -> Content { content }
}
public struct CommandGroupPlacement: Sendable { public static let appSettings = CommandGroupPlacement() }
public struct CommandGroup<Content: View>: Commands {
    nonisolated(unsafe) let content: Content
    public nonisolated init(after group: CommandGroupPlacement, @ViewBuilder addition: () -> Content) {
        content = addition()
    }
    public var body: Never { fatalError() }
    @MainActor public func _declare(_ declared: Declared) { declared.menus.append(AnyView(content)) }
}
public struct KeyEquivalent: Sendable, ExpressibleByExtendedGraphemeClusterLiteral {
    public let character: Character
    public init(extendedGraphemeClusterLiteral: Character) { character = extendedGraphemeClusterLiteral }
}
public struct EventModifiers: OptionSet, Hashable, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }
    public static let control = EventModifiers(rawValue: 1), command = EventModifiers(rawValue: 2)
}
extension Scene {
    public nonisolated func commands<Content: Commands>(@CommandsBuilder content: () -> Content) -> some Scene {
        let commands = Loose(content())
        return ModifiedScene(base: self) { commands.value._declare($0) }
    }
}
// On a Mac alone, as is AppKit, which stands beside UIKit here.
public struct MenuBarExtra<Label: View, Content: View>: LeafScene {
    nonisolated(unsafe) let content: Content
    nonisolated(unsafe) let label: Label
    public nonisolated init(@ViewBuilder content: () -> Content, @ViewBuilder label: () -> Label) {
        (self.content, self.label) = (content(), label())
    }
    @MainActor public func _declare(_ declared: Declared) { declared.menus += [AnyView(label), AnyView(content)] }
}
public struct SceneRestorationBehavior: Sendable {
    let isOn: Bool
    public static let automatic = SceneRestorationBehavior(isOn: true), disabled = SceneRestorationBehavior(isOn: false)
}
extension Scene {
    public nonisolated func restorationBehavior(_ behavior: SceneRestorationBehavior) -> some Scene {
        ModifiedScene(base: self) { $0.isRestored = behavior.isOn }
    }
}

// MARK: Somebody who uses it

/// An app that was started: for tests. Ours; SwiftUI has none of it.
@MainActor public final class RunningApp<A: App> {
    public let app: A
    public init(_ app: A) { self.app = app }

    private var declared: Declared {
        let declared = Declared()
        app.body._declare(declared)
        return declared
    }
    /// Another window, with a scene of its own.
    public func window(language: String = "en", phase: ScenePhase = .active) -> Screen {
        Screen(language: language, phase: phase) { self.declared.windows[0] }
    }
    /// What the app puts into menus, in their order: those of the app, and an icon in the bar with its menu.
    public func menu(_ index: Int) -> Screen { Screen { self.declared.menus[index] } }
    /// Whether the system brings windows back, with a picture of what they showed.
    public var restoresWindows: Bool { declared.isRestored }
}
