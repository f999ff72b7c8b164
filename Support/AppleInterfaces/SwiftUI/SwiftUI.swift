// SwiftUI as far as Holdfast uses it: the type rules (builders, wrappers, isolation), nothing drawn.
import CoreImage
@_exported import Foundation
@_exported import FoundationGaps
@_exported import Observation
import UniformTypeIdentifiers
#if canImport(UIKit)
import UIKit
#elseif canImport(AppKit)
import AppKit
#endif

// MARK: View and builders

@MainActor @preconcurrency public protocol View {
    associatedtype Body: View
    @ViewBuilder @MainActor @preconcurrency var body: Self.Body { get }
}
extension Never: View { public var body: Never { fatalError() } }
public protocol Leaf: View where Body == Never {}  // ours: anything without a body
extension Leaf { public var body: Never { fatalError() } }
extension Optional: View where Wrapped: View { public var body: Never { fatalError() } }
public struct EmptyView: Leaf { public nonisolated init() {} }
public struct AnyView: Leaf { public nonisolated init<V: View>(_ view: V) {} }
public struct TupleView<T>: Leaf { nonisolated init() {} }
public struct Branch<T: View, F: View>: Leaf {}  // Apple: _ConditionalContent
public struct Modified: Leaf { public nonisolated init() {} }

@resultBuilder public struct ViewBuilder {
    public static func buildExpression<Content: View>(_ content: Content) -> Content { content }
    public static func buildBlock() -> EmptyView { EmptyView() }
    public static func buildBlock<Content: View>(_ content: Content) -> Content { content }
    public static func buildBlock<each Content: View>(_ content: repeat each Content) -> TupleView<
        (repeat each Content)
    > {
        TupleView()
    }
    public static func buildIf<Content: View>(_ content: Content?) -> Content? { content }
    public static func buildEither<T: View, F: View>(first: T) -> Branch<T, F> { .init() }
    public static func buildEither<T: View, F: View>(second: F) -> Branch<T, F> { .init() }
    public static func buildLimitedAvailability<Content: View>(_ content: Content) -> AnyView { AnyView(content) }
}
@MainActor @preconcurrency public protocol ViewModifier {
    associatedtype Body: View
    typealias Content = ViewModifierContent<Self>
    @ViewBuilder @MainActor @preconcurrency func body(content: Content) -> Body
}
public struct ViewModifierContent<Modifier>: Leaf {}

// MARK: App and scenes

@MainActor @preconcurrency public protocol Scene {
    associatedtype Body: Scene
    @SceneBuilder @MainActor @preconcurrency var body: Self.Body { get }
}
extension Never: Scene {}
@resultBuilder public struct SceneBuilder {
    public static func buildBlock<Content: Scene>(_ content: Content) -> Content { content }
    public static func buildBlock<each Content: Scene>(_ content: repeat each Content) -> some Scene { Several() }
}
struct Several: Scene { var body: Never { fatalError() } }
public struct WindowGroup<Content: View>: Scene {
    public nonisolated init(@ViewBuilder content: () -> Content) {}
    public var body: Never { fatalError() }
}
@MainActor @preconcurrency public protocol App {
    associatedtype Body: Scene
    @SceneBuilder @MainActor @preconcurrency var body: Self.Body { get }
    @MainActor @preconcurrency init()
}
extension App { @MainActor @preconcurrency public static func main() {} }
@nonexhaustive public enum ScenePhase: Comparable, Hashable, Sendable { case background, inactive, active }

// MARK: Commands

@MainActor @preconcurrency public protocol Commands {
    associatedtype Body: Commands
    @CommandsBuilder @MainActor @preconcurrency var body: Self.Body { get }
}
extension Never: Commands {}
@resultBuilder public struct CommandsBuilder {
    public static func buildBlock<Content: Commands>(_ content: Content) -> Content { content }
}
public struct CommandGroupPlacement: Sendable { public static let appSettings = CommandGroupPlacement() }
public struct CommandGroup<Content: View>: Commands {
    public nonisolated init(after group: CommandGroupPlacement, @ViewBuilder addition: () -> Content) {}
    public var body: Never { fatalError() }
}
public struct KeyEquivalent: Sendable, ExpressibleByExtendedGraphemeClusterLiteral {
    public init(extendedGraphemeClusterLiteral: Character) {}
}
public struct EventModifiers: OptionSet, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }
    public static let control = EventModifiers(rawValue: 1), command = EventModifiers(rawValue: 2)
}
extension Scene {
    public nonisolated func commands<Content: Commands>(@CommandsBuilder content: () -> Content) -> some Scene { self }
}
#if !canImport(UIKit)
// On a Mac alone.
public struct MenuBarExtra<Label: View, Content: View>: Scene {
    public nonisolated init(@ViewBuilder content: () -> Content, @ViewBuilder label: () -> Label) {}
    public var body: Never { fatalError() }
}
public struct Settings<Content: View>: Scene {
    public nonisolated init(@ViewBuilder content: () -> Content) {}
    public var body: Never { fatalError() }
}
public struct SceneRestorationBehavior: Sendable {
    public static let automatic = SceneRestorationBehavior(), disabled = SceneRestorationBehavior()
}
extension Scene {
    public nonisolated func restorationBehavior(_ behavior: SceneRestorationBehavior) -> some Scene { self }
}
#endif

// MARK: Property wrappers

@preconcurrency @MainActor public protocol DynamicProperty {}
@propertyWrapper public struct State<Value>: DynamicProperty {
    private final class Box: @unchecked Sendable {
        var value: Value; nonisolated init(_ value: Value) { self.value = value }
    }
    private nonisolated let box: Box
    public nonisolated init(wrappedValue value: Value) { self.box = Box(value) }
    public nonisolated init(initialValue value: Value) { self.box = Box(value) }
    public var wrappedValue: Value {
        get { box.value }
        nonmutating set { box.value = newValue }
    }
    public var projectedValue: Binding<Value> { fatalError() }
}
extension State where Value: ExpressibleByNilLiteral { public nonisolated init() { self.init(wrappedValue: nil) } }
@propertyWrapper @dynamicMemberLookup public struct Binding<Value> {
    @preconcurrency public init(
        get: @escaping @isolated(any) @Sendable () -> Value, set: @escaping @isolated(any) @Sendable (Value) -> Void
    ) {}
    public init?(_ base: Binding<Value?>) { nil }
    public static func constant(_ value: Value) -> Binding<Value> { fatalError() }
    public var wrappedValue: Value {
        get { fatalError() }
        nonmutating set {}
    }
    public var projectedValue: Binding<Value> { self }
    public subscript<Subject>(dynamicMember keyPath: WritableKeyPath<Value, Subject>) -> Binding<Subject> {
        fatalError()
    }
}
extension Binding: @unchecked Sendable where Value: Sendable {}
// Apple's initialisers live in extensions with the constraint; a wrapper without one does not compile here.
@dynamicMemberLookup @propertyWrapper public struct Bindable<Value> {
    public var wrappedValue: Value
    public var projectedValue: Bindable<Value> { self }
    public init(wrappedValue: Value) where Value: AnyObject & Observable { self.wrappedValue = wrappedValue }
}
extension Bindable where Value: AnyObject & Observable {
    public init(_ wrappedValue: Value) { self.wrappedValue = wrappedValue }
    public subscript<Subject>(dynamicMember keyPath: ReferenceWritableKeyPath<Value, Subject>) -> Binding<Subject> {
        fatalError()
    }
}
@propertyWrapper public struct AppStorage<Value>: DynamicProperty {
    public var wrappedValue: Value {
        get { fatalError() }
        nonmutating set {}
    }
    public var projectedValue: Binding<Value> { fatalError() }
    public nonisolated init(wrappedValue: Value, _ key: String, store: UserDefaults? = nil) where Value == Bool {}
    public nonisolated init(wrappedValue: Value, _ key: String, store: UserDefaults? = nil) where Value == String {}
}
@propertyWrapper public struct Environment<Value>: DynamicProperty {
    public init(_ keyPath: KeyPath<EnvironmentValues, Value>) {}
    public var wrappedValue: Value { fatalError() }
}
extension Environment where Value: AnyObject & Observable { public init(_ type: Value.Type) {} }
public protocol EnvironmentKey { associatedtype Value; static var defaultValue: Value { get } }
public struct EnvironmentValues {
    public subscript<K: EnvironmentKey>(key: K.Type) -> K.Value {
        get { K.defaultValue }
        set {}
    }
    public var scenePhase: ScenePhase { .active }
    #if canImport(UIKit)
    // iOS 17, and not macOS.
    public var isSceneCaptured: Bool {
        get { false }
        set {}
    }
    #endif
    public var dismiss: DismissAction { fatalError() }
    public var accessibilityReduceMotion: Bool { false }
    public var isEnabled: Bool {
        get { true }
        set {}
    }
}
@MainActor @preconcurrency public struct DismissAction { public func callAsFunction() {} }
@propertyWrapper public struct FocusState<Value: Hashable>: DynamicProperty {
    public init() where Value == Bool {}
    public var wrappedValue: Value {
        get { fatalError() }
        nonmutating set {}
    }
    @propertyWrapper public struct Binding {
        public init(wrappedValue: Value) {};
        public var wrappedValue: Value {
            get { fatalError() }
            nonmutating set {}
        }
    }
    public var projectedValue: FocusState<Value>.Binding { fatalError() }
}

// MARK: Values

public struct LocalizedStringKey: Equatable, ExpressibleByStringInterpolation {
    public init(_ value: String) {}
    public init(stringLiteral value: String) {}
}
public struct Color: Leaf, ShapeStyle, Sendable {
    public static let white = Color(), black = Color(), primary = Color(), secondary = Color(), red = Color(),
        clear = Color()
}
public protocol ShapeStyle: Sendable {}
public struct AnyShapeStyle: ShapeStyle { public init<S: ShapeStyle>(_ style: S) {} }
public struct Material: ShapeStyle { public static let regular = Material(), ultraThick = Material(), bar = Material() }
extension ShapeStyle where Self == Material {
    public static var regularMaterial: Material { .init() }
    public static var ultraThickMaterial: Material { .init() }
}
public struct HierarchicalShapeStyle: ShapeStyle {}
extension ShapeStyle where Self == HierarchicalShapeStyle {
    public static var primary: HierarchicalShapeStyle { .init() }
    public static var secondary: HierarchicalShapeStyle { .init() }
}
extension ShapeStyle where Self == Color { public static var red: Color { .init() } }
public struct Font: Hashable, Sendable {
    public static let largeTitle = Font(), title = Font(), title2 = Font(), title3 = Font(), headline = Font(),
        body = Font(), footnote = Font(), callout = Font(), caption = Font()
    public func monospaced() -> Font { self }
}
public struct Edge: Sendable {
    public struct Set: OptionSet, Sendable {
        public let rawValue: Int8
        public init(rawValue: Int8) { self.rawValue = rawValue }
        public static let all = Set(rawValue: 15), horizontal = Set(rawValue: 10), vertical = Set(rawValue: 5),
            top = Set(rawValue: 1)
    }
}
public struct Alignment: Equatable, Sendable {
    public static let center = Alignment(), top = Alignment(), leading = Alignment()
}
public struct HorizontalAlignment: Equatable, Sendable { public static let center = Self(), leading = Self() }
public struct ButtonRole: Equatable, Sendable { public static let destructive = Self(), cancel = Self() }
@frozen public enum Visibility: Hashable, Sendable { case automatic, visible, hidden }
public struct PresentationDetent: Hashable, Sendable {
    public static let medium = Self(), large = Self()
    public static func height(_ height: CGFloat) -> Self { .init() }
    public static func fraction(_ fraction: CGFloat) -> Self { .init() }
}
public struct Animation: Equatable, Sendable { public static let `default` = Self(), easeOut = Self() }
public struct AccessibilityTraits: SetAlgebra, Sendable, ExpressibleByArrayLiteral {
    public typealias Element = AccessibilityTraits
    public init() {}
    public static let isModal = Self(), isHeader = Self(), isButton = Self()
    public func contains(_ member: Self) -> Bool { true }
    public func union(_ other: Self) -> Self { self }
    public func intersection(_ other: Self) -> Self { self }
    public func symmetricDifference(_ other: Self) -> Self { self }
    public mutating func insert(_ member: Self) -> (inserted: Bool, memberAfterInsert: Self) { (true, member) }
    public mutating func remove(_ member: Self) -> Self? { nil }
    public mutating func update(with member: Self) -> Self? { nil }
    public mutating func formUnion(_ other: Self) {}
    public mutating func formIntersection(_ other: Self) {}
    public mutating func formSymmetricDifference(_ other: Self) {}
}
public protocol PrimitiveButtonStyle {}
public struct BorderedProminentButtonStyle: PrimitiveButtonStyle {}
public struct BorderedButtonStyle: PrimitiveButtonStyle {}
extension PrimitiveButtonStyle where Self == BorderedButtonStyle { public static var bordered: Self { .init() } }
public struct TextInputAutocapitalization: Sendable { public static var never: Self { .init() } }
public struct EnabledTextSelectability: Sendable {}
public protocol TextSelectability {}
extension EnabledTextSelectability: TextSelectability {}
extension TextSelectability where Self == EnabledTextSelectability { public static var enabled: Self { .init() } }
public struct AccessibilityChildBehavior: Sendable {
    public static let ignore = Self(), combine = Self(), contain = Self()
}
extension PrimitiveButtonStyle where Self == BorderedProminentButtonStyle {
    public static var borderedProminent: Self { .init() }
}

// MARK: Views

public struct Text: Leaf, Equatable, Sendable {
    public nonisolated init(
        _ key: LocalizedStringKey, tableName: String? = nil, bundle: Bundle? = nil, comment: StaticString? = nil
    ) {}
    public nonisolated init<S: StringProtocol>(_ content: S) {}
    public nonisolated init(verbatim content: String) {}
}
public struct Image: Leaf, Equatable, Sendable {
    public nonisolated init(systemName: String) {}
    public nonisolated func resizable() -> Image { self }
    public enum Interpolation: Sendable { case none, low, medium, high }
    public nonisolated func interpolation(_ interpolation: Interpolation) -> Image { self }
}
extension Image {
    public nonisolated init(decorative cgImage: CGImage, scale: CGFloat, orientation: Orientation = .up) {}
    public enum Orientation: UInt8, Sendable { case up }
}
public struct Label<Title: View, Icon: View>: Leaf {
    public nonisolated init(@ViewBuilder title: () -> Title, @ViewBuilder icon: () -> Icon) {}
}
extension Label where Title == Text, Icon == Image {
    public nonisolated init(_ titleKey: LocalizedStringKey, systemImage name: String) {}
}
public struct LabeledContent<Label: View, Content: View>: Leaf {
    public nonisolated init(@ViewBuilder content: () -> Content, @ViewBuilder label: () -> Label) {}
}
public struct TextField<Label: View>: Leaf {}
extension TextField {
    public nonisolated init(text: Binding<String>, prompt: Text? = nil, axis: Axis, @ViewBuilder label: () -> Label) {}
    public nonisolated init(text: Binding<String>, prompt: Text? = nil, @ViewBuilder label: () -> Label) {}
}
public enum Axis: Int8, Sendable { case horizontal, vertical }
public struct TabView<SelectionValue, Content: View>: Leaf {}
extension TabView where SelectionValue == Int { public nonisolated init(@ViewBuilder content: () -> Content) {} }
public struct ScrollView<Content: View>: Leaf { public nonisolated init(@ViewBuilder content: () -> Content) {} }
public struct GridItem: Sendable {
    public enum Size: Sendable { case adaptive(minimum: CGFloat, maximum: CGFloat = .infinity) }
    public init(_ size: Size = .adaptive(minimum: 0), spacing: CGFloat? = nil, alignment: Alignment? = nil) {}
}
public struct LazyVGrid<Content: View>: Leaf {
    public nonisolated init(
        columns: [GridItem], alignment: HorizontalAlignment = .center, spacing: CGFloat? = nil,
        @ViewBuilder content: () -> Content
    ) {}
}
public struct Button<Label: View>: Leaf {
    public nonisolated init(
        role: ButtonRole? = nil, action: @escaping @MainActor () -> Void, @ViewBuilder label: () -> Label
    ) {}
}
public struct Toggle<Label: View>: Leaf {
    public nonisolated init(isOn: Binding<Bool>, @ViewBuilder label: () -> Label) {}
}
extension Button where Label == Text {
    public nonisolated init(_ titleKey: LocalizedStringKey, action: @escaping @MainActor () -> Void) {}
}
extension Toggle where Label == Text {
    public nonisolated init(_ titleKey: LocalizedStringKey, isOn: Binding<Bool>) {}
}
public struct Picker<Label: View, Selection: Hashable, Content: View>: Leaf {}
extension Picker {
    public nonisolated init(
        selection: Binding<Selection>, @ViewBuilder content: () -> Content, @ViewBuilder label: () -> Label
    ) {}
}
public struct SecureField<Label: View>: Leaf {}
extension SecureField {
    public nonisolated init(text: Binding<String>, prompt: Text?, @ViewBuilder label: () -> Label) {}
}
public struct Section<Parent: View, Content: View, Footer: View>: Leaf {
    public nonisolated init(
        @ViewBuilder content: () -> Content, @ViewBuilder header: () -> Parent, @ViewBuilder footer: () -> Footer
    ) {}
}
extension Section where Parent == EmptyView {
    public nonisolated init(@ViewBuilder content: () -> Content, @ViewBuilder footer: () -> Footer) {}
}
extension Section where Footer == EmptyView {
    public nonisolated init(@ViewBuilder content: () -> Content, @ViewBuilder header: () -> Parent) {}
}
extension Section where Parent == EmptyView, Footer == EmptyView {
    public nonisolated init(@ViewBuilder content: () -> Content) {}
}
public struct Form<Content: View>: Leaf { public nonisolated init(@ViewBuilder content: () -> Content) {} }
public struct List<SelectionValue, Content: View>: Leaf {}
extension List where SelectionValue == Never { public nonisolated init(@ViewBuilder content: () -> Content) {} }
public struct NavigationStack<Data, Root: View>: Leaf {}
extension NavigationStack where Data == Never { public nonisolated init(@ViewBuilder root: () -> Root) {} }
public struct ForEach<Data: RandomAccessCollection, ID: Hashable, Content: View>: Leaf {}
extension ForEach where Data.Element: Identifiable, ID == Data.Element.ID {
    public nonisolated init(_ data: Data, @ViewBuilder content: @escaping (Data.Element) -> Content) {}
}
extension ForEach {
    public nonisolated init(
        _ data: Data, id: KeyPath<Data.Element, ID>, @ViewBuilder content: @escaping (Data.Element) -> Content
    ) {}
}
public struct VStack<Content: View>: Leaf {
    public nonisolated init(
        alignment: HorizontalAlignment = .center, spacing: CGFloat? = nil, @ViewBuilder content: () -> Content
    ) {}
}
public struct HStack<Content: View>: Leaf {
    public nonisolated init(spacing: CGFloat? = nil, @ViewBuilder content: () -> Content) {}
}
public struct ZStack<Content: View>: Leaf {
    public nonisolated init(alignment: Alignment = .center, @ViewBuilder content: () -> Content) {}
}
public struct Group<Content: View>: Leaf { public nonisolated init(@ViewBuilder content: () -> Content) {} }
public struct Spacer: Leaf { public nonisolated init(minLength: CGFloat? = nil) {} }
public struct Rectangle: Leaf {
    public nonisolated init() {}; public nonisolated func fill<S: ShapeStyle>(_ style: S) -> some View { Modified() }
}
public struct ProgressView<Label: View, CurrentValueLabel: View>: Leaf {}
extension ProgressView where CurrentValueLabel == EmptyView, Label == EmptyView {
    public nonisolated init() {}
    public nonisolated init<V: BinaryFloatingPoint>(value: V?, total: V = 1.0) {}
}
public struct Gauge<Label: View, CurrentValueLabel: View, BoundsLabel: View, MarkedValueLabels: View>: Leaf {}
extension Gauge where BoundsLabel == EmptyView, MarkedValueLabels == EmptyView {
    public nonisolated init<V: BinaryFloatingPoint>(
        value: V, in bounds: ClosedRange<V> = 0...1, @ViewBuilder label: () -> Label,
        @ViewBuilder currentValueLabel: () -> CurrentValueLabel
    ) {}
}
public protocol GaugeStyle {}
public struct AccessoryCircularCapacityGaugeStyle: GaugeStyle {}
extension GaugeStyle where Self == AccessoryCircularCapacityGaugeStyle {
    public static var accessoryCircularCapacity: Self { .init() }
}
public enum TextAlignment: Hashable, Sendable { case leading, center, trailing }
public enum ContentMode: Hashable, Sendable { case fit, fill }
#if canImport(UIKit)
extension View {
    // Not on a Mac.
    public nonisolated func textInputAutocapitalization(_ autocapitalization: TextInputAutocapitalization?) -> some View
    { Modified() }
}
extension Image { public nonisolated init(uiImage: UIImage) {} }
@MainActor open class UIHostingController<Content: View>: UIViewController {
    public init(rootView: Content) { self.rootView = rootView; super.init(nibName: nil, bundle: nil) }
    public required init?(coder: NSCoder) { nil }
    public var rootView: Content
}
@MainActor @preconcurrency public protocol UIViewControllerRepresentable: View where Body == Never {
    associatedtype UIViewControllerType: UIViewController
    associatedtype Coordinator = Void
    typealias Context = UIViewControllerRepresentableContext<Self>
    @MainActor @preconcurrency func makeUIViewController(context: Context) -> UIViewControllerType
    @MainActor @preconcurrency func updateUIViewController(_ controller: UIViewControllerType, context: Context)
    @MainActor @preconcurrency static func dismantleUIViewController(
        _ controller: UIViewControllerType, coordinator: Coordinator)
    @MainActor @preconcurrency func makeCoordinator() -> Coordinator
}
extension UIViewControllerRepresentable {
    public var body: Never { fatalError() }
    public static func dismantleUIViewController(_ controller: UIViewControllerType, coordinator: Coordinator) {}
}
extension UIViewControllerRepresentable where Coordinator == Void { public func makeCoordinator() {} }
@MainActor @preconcurrency public struct UIViewControllerRepresentableContext<Representable: UIViewControllerRepresentable> {
    public var coordinator: Representable.Coordinator { fatalError() }
}
@MainActor @preconcurrency public protocol UIViewRepresentable: View where Body == Never {
    associatedtype UIViewType: UIView
    associatedtype Coordinator = Void
    typealias Context = UIViewRepresentableContext<Self>
    @MainActor @preconcurrency func makeUIView(context: Context) -> UIViewType
    @MainActor @preconcurrency func updateUIView(_ view: UIViewType, context: Context)
    @MainActor @preconcurrency func makeCoordinator() -> Coordinator
}
extension UIViewRepresentable { public var body: Never { fatalError() } }
extension UIViewRepresentable where Coordinator == Void { public func makeCoordinator() {} }
@MainActor @preconcurrency public struct UIViewRepresentableContext<Representable: UIViewRepresentable> {
    public var coordinator: Representable.Coordinator { fatalError() }
}
#elseif canImport(AppKit)
@MainActor @preconcurrency public protocol NSViewRepresentable: View where Body == Never {
    associatedtype NSViewType: NSView
    associatedtype Coordinator = Void
    typealias Context = NSViewRepresentableContext<Self>
    @MainActor @preconcurrency func makeNSView(context: Context) -> NSViewType
    @MainActor @preconcurrency func updateNSView(_ view: NSViewType, context: Context)
    @MainActor @preconcurrency func makeCoordinator() -> Coordinator
}
extension NSViewRepresentable { public var body: Never { fatalError() } }
extension NSViewRepresentable where Coordinator == Void { public func makeCoordinator() {} }
@MainActor @preconcurrency public struct NSViewRepresentableContext<Representable: NSViewRepresentable> {
    public var coordinator: Representable.Coordinator { fatalError() }
}
#endif

// MARK: Modifiers

extension View {
    public nonisolated func modifier<T: ViewModifier>(_ modifier: T) -> some View { Modified() }
    public nonisolated func overlay<V: View>(alignment: Alignment = .center, @ViewBuilder content: () -> V) -> some View
    { Modified() }
    public nonisolated func background<S: ShapeStyle>(_ style: S, ignoresSafeAreaEdges edges: Edge.Set = .all)
        -> some View
    { Modified() }
    public nonisolated func background<V: View>(alignment: Alignment = .center, @ViewBuilder content: () -> V) -> some View
    { Modified() }
    public nonisolated func id<ID: Hashable>(_ id: ID) -> some View { Modified() }
    public nonisolated func blur(radius: CGFloat, opaque: Bool = false) -> some View { Modified() }
    public nonisolated func padding(_ edges: Edge.Set = .all, _ length: CGFloat? = nil) -> some View { Modified() }
    public nonisolated func padding(_ length: CGFloat) -> some View { Modified() }
    public nonisolated func frame(
        minWidth: CGFloat? = nil, idealWidth: CGFloat? = nil, maxWidth: CGFloat? = nil, minHeight: CGFloat? = nil,
        idealHeight: CGFloat? = nil, maxHeight: CGFloat? = nil, alignment: Alignment = .center)
        -> some View
    { Modified() }
    public nonisolated func ignoresSafeArea() -> some View { Modified() }
    public nonisolated func font(_ font: Font?) -> some View { Modified() }
    public nonisolated func foregroundStyle<S: ShapeStyle>(_ style: S) -> some View { Modified() }
    public nonisolated func tint(_ tint: Color?) -> some View { Modified() }
    public nonisolated func disabled(_ disabled: Bool) -> some View { Modified() }
    public nonisolated func allowsHitTesting(_ enabled: Bool) -> some View { Modified() }
    public nonisolated func privacySensitive(_ sensitive: Bool = true) -> some View { Modified() }
    public nonisolated func buttonStyle<S: PrimitiveButtonStyle>(_ style: S) -> some View { Modified() }
    public nonisolated func tag<V: Hashable>(_ tag: V) -> some View { Modified() }
    public nonisolated func animation<V: Equatable>(_ animation: Animation?, value: V) -> some View { Modified() }
    public nonisolated func accessibilityHidden(_ hidden: Bool) -> some View { Modified() }
    public nonisolated func accessibilityAddTraits(_ traits: AccessibilityTraits) -> some View { Modified() }
    public nonisolated func environment<T: AnyObject & Observable>(_ object: T?) -> some View { Modified() }
    public nonisolated func environment<V>(_ keyPath: WritableKeyPath<EnvironmentValues, V>, _ value: V) -> some View {
        Modified()
    }
    public nonisolated func onAppear(perform action: (() -> Void)? = nil) -> some View { Modified() }
    public nonisolated func onChange<V: Equatable>(
        of value: V, initial: Bool = false, _ action: @escaping (V, V) -> Void
    ) -> some View { Modified() }
    public nonisolated func onChange<V: Equatable>(of value: V, initial: Bool = false, _ action: @escaping () -> Void)
        -> some View
    { Modified() }
    public nonisolated func task(
        priority: TaskPriority = .userInitiated,
        @_inheritActorContext _ action: sending @escaping @isolated(any) () async -> Void
    ) -> some View { Modified() }
    public nonisolated func task<T: Equatable>(
        id: T, priority: TaskPriority = .userInitiated,
        @_inheritActorContext _ action: sending @escaping @isolated(any) () async -> Void
    ) -> some View { Modified() }
    public nonisolated func sheet<Content: View>(
        isPresented: Binding<Bool>, onDismiss: (() -> Void)? = nil, @ViewBuilder content: @escaping () -> Content
    ) -> some View { Modified() }
    public nonisolated func sheet<Item: Identifiable, Content: View>(
        item: Binding<Item?>, onDismiss: (() -> Void)? = nil, @ViewBuilder content: @escaping (Item) -> Content
    ) -> some View { Modified() }
    public nonisolated func fileImporter(
        isPresented: Binding<Bool>, allowedContentTypes: [UTType], onCompletion: @escaping (Result<URL, any Error>) -> Void
    ) -> some View { Modified() }
    public nonisolated func gaugeStyle<S: GaugeStyle>(_ style: S) -> some View { Modified() }
    public nonisolated func presentationDetents(_ detents: Set<PresentationDetent>) -> some View { Modified() }
    public nonisolated func presentationDragIndicator(_ visibility: Visibility) -> some View { Modified() }
    public nonisolated func interactiveDismissDisabled(_ disabled: Bool = true) -> some View { Modified() }
    public nonisolated func alert<A: View, M: View>(
        _ title: Text, isPresented: Binding<Bool>, @ViewBuilder actions: () -> A, @ViewBuilder message: () -> M
    ) -> some View { Modified() }
    public nonisolated func confirmationDialog<A: View, M: View>(
        _ title: Text, isPresented: Binding<Bool>, titleVisibility: Visibility = .automatic,
        @ViewBuilder actions: () -> A, @ViewBuilder message: () -> M
    ) -> some View { Modified() }
    public nonisolated func onSubmit(_ action: @escaping () -> Void) -> some View { Modified() }
    public nonisolated func focused(_ condition: FocusState<Bool>.Binding) -> some View { Modified() }
    public nonisolated func tabItem<V: View>(@ViewBuilder _ label: () -> V) -> some View { Modified() }
    public nonisolated func multilineTextAlignment(_ alignment: TextAlignment) -> some View { Modified() }
    public nonisolated func lineLimit(_ number: Int?) -> some View { Modified() }
    public nonisolated func aspectRatio(_ ratio: CGFloat? = nil, contentMode: ContentMode) -> some View { Modified() }
    public nonisolated func autocorrectionDisabled(_ disable: Bool = true) -> some View { Modified() }
    public nonisolated func textSelection<S: TextSelectability>(_ selectability: S) -> some View { Modified() }
    public nonisolated func navigationTitle(_ title: Text) -> some View { Modified() }
    public nonisolated func accessibilityLabel(_ label: Text) -> some View { Modified() }
    public nonisolated func accessibilityHint(_ hint: Text) -> some View { Modified() }
    public nonisolated func accessibilityValue(_ value: Text) -> some View { Modified() }
    public nonisolated func accessibilityElement(children: AccessibilityChildBehavior = .ignore) -> some View {
        Modified()
    }
    public nonisolated func onDisappear(perform action: (() -> Void)? = nil) -> some View { Modified() }
    public nonisolated func monospacedDigit() -> some View { Modified() }
    public nonisolated func keyboardShortcut(_ key: KeyEquivalent, modifiers: EventModifiers = .command) -> some View {
        Modified()
    }
}
public func withAnimation<Result>(_ animation: Animation? = .default, _ body: () throws -> Result) rethrows -> Result {
    try body()
}
