// The views and modifiers that Holdfast uses, with what they put into the tree.
import CoreImage
@_exported import Foundation
import UniformTypeIdentifiers
#if canImport(UIKit)
import UIKit
#endif

// MARK: Views

public struct Text: Leaf, Equatable, Sendable {
    enum Words: Equatable, @unchecked Sendable { case key(LocalizedStringKey, Bundle?), plain(String) }
    let words: Words
    public nonisolated init(
        _ key: LocalizedStringKey, tableName: String? = nil, bundle: Bundle? = nil, comment: StaticString? = nil
    ) {
        words = .key(key, bundle)
    }
    public nonisolated init<S: StringProtocol>(_ content: S) { words = .plain(String(content)) }
    public nonisolated init(verbatim content: String) { words = .plain(content) }
    @MainActor public func _evaluate(_ here: Evaluation) { here.add(.text).node.text = resolved(here) }
    func resolved(_ here: Evaluation) -> String {
        switch words {
        case .key(let key, let bundle): here.graph.words(key, bundle)
        case .plain(let text): text
        }
    }
}
public struct Image: Leaf, Equatable, Sendable {
    let name: String
    public nonisolated init(systemName: String) { name = systemName }
    public nonisolated func resizable() -> Image { self }
    public enum Interpolation: Sendable { case none, low, medium, high }
    public nonisolated func interpolation(_ interpolation: Interpolation) -> Image { self }
    @MainActor public func _evaluate(_ here: Evaluation) { _ = here.add(.image, name) }
}
extension Image {
    public nonisolated init(decorative cgImage: CGImage, scale: CGFloat, orientation: Orientation = .up) { name = "" }
    public enum Orientation: UInt8, Sendable { case up }
}
/// What only holds other views (ours): its parts, one after the other.
@MainActor @preconcurrency public protocol Holder: Leaf { var parts: [@MainActor (Evaluation) -> Void] { get } }
extension Holder {
    @MainActor public func _evaluate(_ here: Evaluation) {
        let inside = here.add(.group, "\(Self.self)".components(separatedBy: "<")[0])
        for (index, part) in parts.enumerated() { part(inside.step("\(index)")) }
    }
}

public struct Label<Title: View, Icon: View>: Holder {
    public let parts: [@MainActor (Evaluation) -> Void]
    public nonisolated init(@ViewBuilder title: () -> Title, @ViewBuilder icon: () -> Icon) {
        let (title, icon) = (title(), icon())
        parts = [{ icon._evaluate($0) }, { title._evaluate($0) }]
    }
}
extension Label where Title == Text, Icon == Image {
    public nonisolated init(_ titleKey: LocalizedStringKey, systemImage name: String) {
        self.init {
            Text(titleKey)
        } icon: {
            Image(systemName: name)
        }
    }
}
public struct LabeledContent<Label: View, Content: View>: Holder {
    public let parts: [@MainActor (Evaluation) -> Void]
    public nonisolated init(@ViewBuilder content: () -> Content, @ViewBuilder label: () -> Label) {
        let (label, content) = (label(), content())
        parts = [{ label._evaluate($0) }, { content._evaluate($0) }]
    }
}
public struct TextField<Label: View>: Leaf {
    let text: Binding<String>
    nonisolated(unsafe) let label: Label
    @MainActor public func _evaluate(_ here: Evaluation) { field(here, .field, text, label) }
}
@MainActor func field<Label: View>(_ here: Evaluation, _ kind: Node.Kind, _ text: Binding<String>, _ label: Label) {
    let inside = here.add(kind)
    label._evaluate(inside)
    inside.node.value = ({ text.read() }, { text.write($0) })
    inside.node.isFocused = here.graph.keyboard == inside.path
}
extension TextField {
    public nonisolated init(text: Binding<String>, prompt: Text? = nil, axis: Axis, @ViewBuilder label: () -> Label) {
        (self.text, self.label) = (text, label())
    }
    public nonisolated init(text: Binding<String>, prompt: Text? = nil, @ViewBuilder label: () -> Label) {
        (self.text, self.label) = (text, label())
    }
}
public enum Axis: Int8, Sendable { case horizontal, vertical }
public struct TabView<SelectionValue, Content: View>: Leaf {
    nonisolated(unsafe) let content: Content
    /// Only the tab in front is made.
    @MainActor public func _evaluate(_ here: Evaluation) {
        let inside = here.add(.tabs)
        let parts = (content as? any Several)?.parts ?? [{ content._evaluate($0) }]
        let chosen = here.graph.kept(inside.path) { Kept("0", here.graph.flag) }
        inside.node.value = ({ chosen.value }, { chosen.set($0) })
        let index = min(Int(chosen.value) ?? 0, parts.count - 1)
        inside.appearing("tab\(index)") { parts[index]($0) }
    }
}
extension TabView where SelectionValue == Int {
    public nonisolated init(@ViewBuilder content: () -> Content) { self.content = content() }
}
public struct ScrollView<Content: View>: Holder {
    public let parts: [@MainActor (Evaluation) -> Void]
    public nonisolated init(@ViewBuilder content: () -> Content) {
        let content = content(); parts = [{ content._evaluate($0) }]
    }
}
public struct GridItem: Sendable {
    public enum Size: Sendable { case adaptive(minimum: CGFloat, maximum: CGFloat = .infinity) }
    public init(_ size: Size = .adaptive(minimum: 0), spacing: CGFloat? = nil, alignment: Alignment? = nil) {}
}
public struct LazyVGrid<Content: View>: Holder {
    public let parts: [@MainActor (Evaluation) -> Void]
    public nonisolated init(
        columns: [GridItem], alignment: HorizontalAlignment = .center, spacing: CGFloat? = nil,
        @ViewBuilder content: () -> Content
    ) { let content = content(); parts = [{ content._evaluate($0) }] }
}
public struct Button<Label: View>: Leaf {
    let role: ButtonRole?
    let action: @MainActor () -> Void
    nonisolated(unsafe) let label: Label
    public nonisolated init(
        role: ButtonRole? = nil, action: @escaping @MainActor () -> Void, @ViewBuilder label: () -> Label
    ) {
        (self.role, self.action, self.label) = (role, action, label())
    }
    @MainActor public func _evaluate(_ here: Evaluation) {
        let inside = here.add(.button)
        (inside.node.role, inside.node.act) = (role, action)
        label._evaluate(inside)
    }
}
extension Button where Label == Text {
    public nonisolated init(_ titleKey: LocalizedStringKey, action: @escaping @MainActor () -> Void) {
        self.init(action: action) { Text(titleKey) }
    }
    @_disfavoredOverload
    public nonisolated init<S: StringProtocol>(_ title: S, action: @escaping @MainActor () -> Void) {
        self.init(action: action) { Text(title) }
    }
}
public struct Toggle<Label: View>: Leaf {
    let isOn: Binding<Bool>
    nonisolated(unsafe) let label: Label
    public nonisolated init(isOn: Binding<Bool>, @ViewBuilder label: () -> Label) {
        (self.isOn, self.label) = (isOn, label())
    }
    @MainActor public func _evaluate(_ here: Evaluation) {
        let inside = here.add(.toggle)
        inside.node.value = ({ isOn.read() ? "on" : "off" }, { isOn.write($0 == "on") })
        inside.node.act = { isOn.write(!isOn.read()) }
        label._evaluate(inside)
    }
}
extension Toggle where Label == Text {
    public nonisolated init(_ titleKey: LocalizedStringKey, isOn: Binding<Bool>) {
        self.init(isOn: isOn) { Text(titleKey) }
    }
}
public struct Picker<Label: View, Selection: Hashable, Content: View>: Leaf {
    nonisolated(unsafe) let selection: Binding<Selection>
    nonisolated(unsafe) let content: Content
    nonisolated(unsafe) let label: Label
    @MainActor public func _evaluate(_ here: Evaluation) {
        let inside = here.add(.picker)
        label._evaluate(inside)
        let options = Node(.group, inside.path + "/options")
        content._evaluate(inside.with(options, options.path))
        let tagged = options.all.filter { $0.tag != nil }
        let chosen = tagged.first { $0.tag == AnyHashable(selection.read()) }?.label
        inside.node.value = (
            { chosen ?? "<no option>" },
            { words in
                if let tag = tagged.first(where: { $0.label == words })?.tag?.base as? Selection {
                    selection.write(tag)
                }
            }
        )
    }
}
extension Picker {
    public nonisolated init(
        selection: Binding<Selection>, @ViewBuilder content: () -> Content, @ViewBuilder label: () -> Label
    ) {
        (self.selection, self.content, self.label) = (selection, content(), label())
    }
}
public struct SecureField<Label: View>: Leaf {
    let text: Binding<String>
    nonisolated(unsafe) let label: Label
    @MainActor public func _evaluate(_ here: Evaluation) { field(here, .secureField, text, label) }
}
extension SecureField {
    public nonisolated init(text: Binding<String>, prompt: Text?, @ViewBuilder label: () -> Label) {
        (self.text, self.label) = (text, label())
    }
}
public struct Section<Parent: View, Content: View, Footer: View>: Holder {
    public let parts: [@MainActor (Evaluation) -> Void]
    public nonisolated init(
        @ViewBuilder content: () -> Content, @ViewBuilder header: () -> Parent, @ViewBuilder footer: () -> Footer
    ) {
        let (header, content, footer) = (header(), content(), footer())
        parts = [{ header._evaluate($0) }, { content._evaluate($0) }, { footer._evaluate($0) }]
    }
}
extension Section where Parent == EmptyView {
    public nonisolated init(@ViewBuilder content: () -> Content, @ViewBuilder footer: () -> Footer) {
        self.init(content: content, header: { EmptyView() }, footer: footer)
    }
}
extension Section where Footer == EmptyView {
    public nonisolated init(@ViewBuilder content: () -> Content, @ViewBuilder header: () -> Parent) {
        self.init(content: content, header: header, footer: { EmptyView() })
    }
}
extension Section where Parent == EmptyView, Footer == EmptyView {
    public nonisolated init(@ViewBuilder content: () -> Content) {
        self.init(content: content, header: { EmptyView() }, footer: { EmptyView() })
    }
}
public struct Form<Content: View>: Holder {
    public let parts: [@MainActor (Evaluation) -> Void]
    public nonisolated init(@ViewBuilder content: () -> Content) {
        let content = content(); parts = [{ content._evaluate($0) }]
    }
}
public struct List<SelectionValue, Content: View>: Holder { public let parts: [@MainActor (Evaluation) -> Void] }
extension List where SelectionValue == Never {
    public nonisolated init(@ViewBuilder content: () -> Content) {
        let content = content(); parts = [{ content._evaluate($0) }]
    }
}
public struct NavigationStack<Data, Root: View>: Holder { public let parts: [@MainActor (Evaluation) -> Void] }
extension NavigationStack where Data == Never {
    public nonisolated init(@ViewBuilder root: () -> Root) { let root = root(); parts = [{ root._evaluate($0) }] }
}
public struct ForEach<Data: RandomAccessCollection, ID: Hashable, Content: View>: Leaf {
    nonisolated(unsafe) let data: Data
    nonisolated(unsafe) let name: (Data.Element) -> ID
    nonisolated(unsafe) let content: (Data.Element) -> Content
    @MainActor public func _evaluate(_ here: Evaluation) {
        for element in data { here.appearing("\(name(element))") { content(element)._evaluate($0) } }
    }
}
extension ForEach where Data.Element: Identifiable, ID == Data.Element.ID {
    public nonisolated init(_ data: Data, @ViewBuilder content: @escaping (Data.Element) -> Content) {
        (self.data, name, self.content) = (data, { $0.id }, content)
    }
}
extension ForEach {
    public nonisolated init(
        _ data: Data, id: KeyPath<Data.Element, ID>, @ViewBuilder content: @escaping (Data.Element) -> Content
    ) {
        (self.data, name, self.content) = (data, { $0[keyPath: id] }, content)
    }
}
public struct VStack<Content: View>: Holder {
    public let parts: [@MainActor (Evaluation) -> Void]
    public nonisolated init(
        alignment: HorizontalAlignment = .center, spacing: CGFloat? = nil, @ViewBuilder content: () -> Content
    ) {
        let content = content()
        parts = [{ content._evaluate($0) }]
    }
}
public struct HStack<Content: View>: Holder {
    public let parts: [@MainActor (Evaluation) -> Void]
    public nonisolated init(spacing: CGFloat? = nil, @ViewBuilder content: () -> Content) {
        let content = content()
        parts = [{ content._evaluate($0) }]
    }
}
public struct ZStack<Content: View>: Holder {
    public let parts: [@MainActor (Evaluation) -> Void]
    public nonisolated init(alignment: Alignment = .center, @ViewBuilder content: () -> Content) {
        let content = content()
        parts = [{ content._evaluate($0) }]
    }
}
public struct Group<Content: View>: Holder {
    public let parts: [@MainActor (Evaluation) -> Void]
    public nonisolated init(@ViewBuilder content: () -> Content) {
        let content = content(); parts = [{ content._evaluate($0) }]
    }
}
public struct Spacer: Leaf {
    public nonisolated init(minLength: CGFloat? = nil) {}
    @MainActor public func _evaluate(_ here: Evaluation) {}
}
public struct Rectangle: Leaf {
    public nonisolated init() {}
    public nonisolated func fill<S: ShapeStyle>(_ style: S) -> some View { self.marked { $0.covers = true } }
    @MainActor public func _evaluate(_ here: Evaluation) { _ = here.add(.shape) }
}
public struct ProgressView<Label: View, CurrentValueLabel: View>: Leaf {
    @MainActor public func _evaluate(_ here: Evaluation) { _ = here.add(.progress) }
}
extension ProgressView where CurrentValueLabel == EmptyView, Label == EmptyView {
    public nonisolated init() {}
    public nonisolated init<V: BinaryFloatingPoint>(value: V?, total: V = 1.0) {}
}
/// The circular ones show what is in them, and tell a reader what they are called.
public struct Gauge<Label: View, CurrentValueLabel: View, BoundsLabel: View, MarkedValueLabels: View>: Leaf {
    nonisolated(unsafe) let label: Label
    nonisolated(unsafe) let value: CurrentValueLabel
    @MainActor public func _evaluate(_ here: Evaluation) {
        let named = Node(.group, here.path + "/label")
        label._evaluate(here.with(named, named.path))
        let inside = here.add(.progress)
        value._evaluate(inside)
        inside.node.accessibilityText = named.label
    }
}
extension Gauge where BoundsLabel == EmptyView, MarkedValueLabels == EmptyView {
    public nonisolated init<V: BinaryFloatingPoint>(
        value: V, in bounds: ClosedRange<V> = 0...1, @ViewBuilder label: () -> Label,
        @ViewBuilder currentValueLabel: () -> CurrentValueLabel
    ) {
        precondition(bounds.contains(value), "a gauge outside of its bounds")
        (self.label, self.value) = (label(), currentValueLabel())
    }
}
public protocol GaugeStyle {}
public struct AccessoryCircularCapacityGaugeStyle: GaugeStyle {}
extension GaugeStyle where Self == AccessoryCircularCapacityGaugeStyle {
    public static var accessoryCircularCapacity: Self { .init() }
}
extension Color { @MainActor public func _evaluate(_ here: Evaluation) { here.add(.shape).node.covers = true } }
public enum TextAlignment: Hashable, Sendable { case leading, center, trailing }
public enum ContentMode: Hashable, Sendable { case fit, fill }
#if canImport(UIKit)
extension View {
    // Not on a Mac.
    public nonisolated func textInputAutocapitalization(_ autocapitalization: TextInputAutocapitalization?) -> some View
    { same }
}
extension Image { public nonisolated init(uiImage: UIImage) { name = "" } }
@MainActor open class UIHostingController<Content: View>: UIViewController {
    public init(rootView: Content) {
        self.rootView = rootView
        super.init(nibName: nil, bundle: nil)
        let screen = Screen(in: { [weak self] in self?.view }) { [weak self] in self.map { AnyView($0.rootView) } }
        standInContent = screen
        view.standInEditing = { [weak screen] in screen?.endEditing() }
    }
    public required init?(coder: NSCoder) { nil }
    public var rootView: Content
}
@MainActor @preconcurrency public protocol UIViewRepresentable: Leaf {
    associatedtype UIViewType: UIView
    associatedtype Coordinator = Void
    typealias Context = UIViewRepresentableContext<Self>
    @MainActor @preconcurrency func makeUIView(context: Context) -> UIViewType
    @MainActor @preconcurrency func updateUIView(_ view: UIViewType, context: Context)
    @MainActor @preconcurrency func makeCoordinator() -> Coordinator
}
extension UIViewRepresentable {
    /// The view lives as long as it is there; it comes into the window after it was made.
    @MainActor public func _evaluate(_ here: Evaluation) {
        let inside = here.add(.group, "view")
        let (graph, path, place) = (here.graph, inside.path, here.level.controller)
        let kept = graph.kept(path + "#view") { () -> Kept<(UIViewType, Context)> in
            let context = UIViewRepresentableContext<Self>(coordinator: makeCoordinator())
            return Kept((makeUIView(context: context), context), nil)
        }
        let view = kept.value.0
        updateUIView(view, context: kept.value.1)
        _ = graph.comes(path)
        graph.effects.append { if view.superview !== place.view { place.view.addSubview(view) } }
        graph.disappearances[path] = { view.removeFromSuperview() }
    }
}
extension UIViewRepresentable where Coordinator == Void { public func makeCoordinator() {} }
@MainActor @preconcurrency public struct UIViewRepresentableContext<Representable: UIViewRepresentable> {
    public let coordinator: Representable.Coordinator
}
@MainActor @preconcurrency public protocol UIViewControllerRepresentable: Leaf {
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
    public static func dismantleUIViewController(_ controller: UIViewControllerType, coordinator: Coordinator) {}
    /// The controller lives as long as it is there, and stands in the tree as what it is.
    @MainActor public func _evaluate(_ here: Evaluation) {
        let inside = here.add(.group, "controller")
        let kept = here.graph.kept(inside.path + "#controller") { () -> Kept<(UIViewControllerType, Context)> in
            let context = UIViewControllerRepresentableContext<Self>(coordinator: makeCoordinator())
            return Kept((makeUIViewController(context: context), context), nil)
        }
        inside.node.controller = kept.value.0
        updateUIViewController(kept.value.0, context: kept.value.1)
        _ = here.graph.comes(inside.path)
        here.graph.disappearances[inside.path] = {
            Self.dismantleUIViewController(kept.value.0, coordinator: kept.value.1.coordinator)
        }
    }
}
extension UIViewControllerRepresentable where Coordinator == Void { public func makeCoordinator() {} }
@MainActor @preconcurrency public struct UIViewControllerRepresentableContext<Representable: UIViewControllerRepresentable> {
    public let coordinator: Representable.Coordinator
}
extension UIWindow {
    /// What is shown in it (ours).
    public var screen: Screen? {
        func find(_ controller: UIViewController?) -> Screen? {
            guard let controller else { return nil }
            _ = controller.view
            return controller.standInContent as? Screen ?? controller.children.lazy.compactMap { find($0) }.first
        }
        return find(rootViewController)
    }
}
extension UIWindowScene {
    /// What stands in its windows that can be seen, from the top down, as far as one does not hide those below it
    /// (ours).
    public var screens: [Screen] {
        // What is covered continues, too.
        for window in windows { window.screen?.update() }
        let shown = windows.filter { !$0.isHidden }.reversed().sorted { $0.windowLevel.rawValue > $1.windowLevel.rawValue }
        let screens = shown.compactMap(\.screen)
        return Array(screens.prefix((screens.firstIndex(where: \.hidesAll) ?? screens.count - 1) + 1))
    }
}
#endif

// MARK: Modifiers

extension View {
    public nonisolated func modifier<T: ViewModifier>(_ modifier: T) -> some View {
        changed { here, content in
            let here = here.step("\(T.self)")
            here.graph.bind(modifier, here)
            here.graph.now.insert(here.path)
            withoutActuallyEscaping(content) { content in
                modifier.body(content: ViewModifierContent(evaluate: content))._evaluate(here)
            }
        }
    }
    public nonisolated func overlay<V: View>(alignment: Alignment = .center, @ViewBuilder content: () -> V) -> some View
    {
        let above = content()
        return changed { here, content in
            let inside = here.add(.overlay)
            content(inside.add(.group, "below"))
            above._evaluate(inside.add(.group, "above"))
        }
    }
    public nonisolated func background<V: View>(alignment: Alignment = .center, @ViewBuilder content: () -> V) -> some View {
        let behind = content()
        return changed { here, content in
            behind._evaluate(here.add(.group, "behind"))
            content(here)
        }
    }
    /// Another identity is another view: nothing is kept from one to the other.
    public nonisolated func id<ID: Hashable>(_ id: ID) -> some View {
        changed { here, content in content(here.step("id \(id.hashValue)")) }
    }
    /// A background behind something that fills its place is as good as a shape of that size.
    public nonisolated func background<S: ShapeStyle>(_ style: S, ignoresSafeAreaEdges edges: Edge.Set = .all)
        -> some View
    {
        marked { $0.covers = $0.children.contains { $0.text == "<fills>" } }
    }
    public nonisolated func frame(
        minWidth: CGFloat? = nil, idealWidth: CGFloat? = nil, maxWidth: CGFloat? = nil, minHeight: CGFloat? = nil,
        idealHeight: CGFloat? = nil, maxHeight: CGFloat? = nil, alignment: Alignment = .center)
        -> some View
    {
        marked { if maxWidth == .infinity, maxHeight == .infinity { $0.text = "<fills>" } }
    }
    public nonisolated func disabled(_ disabled: Bool) -> some View {
        changed { here, content in
            var next = here
            next.isDisabled = here.isDisabled || disabled
            content(next)
        }
    }
    public nonisolated func allowsHitTesting(_ enabled: Bool) -> some View {
        marked { if !enabled { for node in $0.all { node.takesTouches = false } } }
    }
    public nonisolated func accessibilityHidden(_ hidden: Bool) -> some View {
        marked { if hidden { for node in $0.all { node.isHiddenFromReaders = true } } }
    }
    public nonisolated func accessibilityLabel(_ label: Text) -> some View {
        changed { here, content in
            let inside = here.add(.group)
            content(inside)
            inside.node.accessibilityText = label.resolved(here)
        }
    }
    public nonisolated func tag<V: Hashable>(_ tag: V) -> some View { marked { $0.tag = AnyHashable(tag) } }
    public nonisolated func animation<V: Equatable>(_ animation: Animation?, value: V) -> some View {
        changed { here, content in
            var next = here
            if let before = here.graph.watched[here.path] as? V, before != value { next.isAnimated = animation != nil }
            here.graph.watched[here.path] = value
            here.graph.now.insert(here.path)
            content(next)
        }
    }
    public nonisolated func environment<T: AnyObject & Observable>(_ object: T?) -> some View {
        changed { here, content in
            var next = here
            next.environment.objects[ObjectIdentifier(T.self)] = object
            content(next)
        }
    }
    public nonisolated func environment<V>(_ keyPath: WritableKeyPath<EnvironmentValues, V>, _ value: V) -> some View {
        changed { here, content in
            var next = here
            next.environment[keyPath: keyPath] = value
            content(next)
        }
    }
    public nonisolated func onAppear(perform action: (() -> Void)? = nil) -> some View {
        changed { here, content in
            content(here)
            if here.graph.comes(here.path), let action {
                let action = Loose(action)
                here.graph.effects.append { action.value() }
            }
        }
    }
    public nonisolated func onDisappear(perform action: (() -> Void)? = nil) -> some View {
        changed { here, content in
            content(here)
            _ = here.graph.comes(here.path)
            let action = Loose(action)
            here.graph.disappearances[here.path] = { action.value?() }
        }
    }
    public nonisolated func onChange<V: Equatable>(
        of value: V, initial: Bool = false, _ action: @escaping (V, V) -> Void
    ) -> some View {
        changed { here, content in
            content(here)
            let before = here.graph.comes(here.path) ? nil : here.graph.watched[here.path] as? V
            here.graph.watched[here.path] = value
            if before == nil ? initial : before != value {
                here.graph.effects.append { action(before ?? value, value) }
            }
        }
    }
    public nonisolated func onChange<V: Equatable>(of value: V, initial: Bool = false, _ action: @escaping () -> Void)
        -> some View
    {
        onChange(of: value, initial: initial) { _, _ in action() }
    }
    public nonisolated func task(
        priority: TaskPriority = .userInitiated,
        @_inheritActorContext _ action: sending @escaping @isolated(any) () async -> Void
    ) -> some View {
        task(id: 0, priority: priority, action)
    }
    public nonisolated func task<T: Equatable>(
        id: T, priority: TaskPriority = .userInitiated,
        @_inheritActorContext _ action: sending @escaping @isolated(any) () async -> Void
    ) -> some View {
        changed { here, content in
            content(here)
            let (graph, path) = (here.graph, here.path)
            let isNew = graph.comes(path)
            guard isNew || graph.watched[path] as? T != id else { return }
            graph.watched[path] = id
            graph.effects.append {
                graph.tasks[path]?.cancel()
                graph.tasks[path] = Task { @MainActor in await action() }
            }
        }
    }
    public nonisolated func onSubmit(_ action: @escaping () -> Void) -> some View {
        let action = Loose(action)
        return marked {
            for node in $0.all where [.field, .secureField].contains(node.kind) {
                node.submit = node.submit ?? { action.value() }
            }
        }
    }
    /// "If a caller sets the value to true programmatically, then focus moves to the modified view"; false lets it go.
    /// [View.focused(_:)]
    public nonisolated func focused(_ condition: FocusState<Bool>.Binding) -> some View {
        changed { here, content in
            let inside = here.add(.group)
            content(inside)
            let fields = inside.node.all.filter { $0.kind == .field || $0.kind == .secureField }
            guard let field = fields.first else { return }
            let (graph, wants) = (here.graph, condition.wrappedValue)
            let before = graph.comes(inside.path) ? nil : graph.watched[inside.path] as? Bool
            graph.watched[inside.path] = wants
            if wants, before != true, !field.isDisabled {
                if Screen.lastGetsKeyboard || !graph.isKeyboardTaken { graph.keyboard = field.path }
                graph.isKeyboardTaken = true
            } else if !wants, before == true, graph.keyboard == field.path {
                graph.keyboard = nil
            } else if wants, graph.keyboard != field.path {
                // Taken by another field, or away.
                graph.effects.append { condition.wrappedValue = false }
            }
            field.isFocused = graph.keyboard == field.path
            field.focus = { condition.wrappedValue = $0 }
        }
    }
    public nonisolated func interactiveDismissDisabled(_ disabled: Bool = true) -> some View {
        marked { if disabled { $0.children.append(Node(.unknown, "<modal>")); $0.children.last?.text = "<modal>" } }
    }
    nonisolated func presenting(
        _ kind: Level.Request.Kind, _ isPresented: @escaping @MainActor () -> Bool,
        _ end: @escaping @MainActor () -> Void,
        _ dismissed: Loose<(() -> Void)?> = Loose(nil), _ made: @escaping @MainActor (Evaluation) -> Void
    ) -> Modified<Self> {
        changed { here, content in
            content(here)
            here.level.requests.append(
                .init(
                    kind: kind, path: here.path + "/\(kind)", isPresented: isPresented(), end: end,
                    dismissed: { dismissed.value?() },
                    content: made, environment: here.environment))
        }
    }
    public nonisolated func sheet<Content: View>(
        isPresented: Binding<Bool>, onDismiss: (() -> Void)? = nil, @ViewBuilder content: @escaping () -> Content
    ) -> some View {
        presenting(.sheet, { isPresented.read() }, { isPresented.write(false) }, Loose(onDismiss)) {
            content()._evaluate($0)
        }
    }
    public nonisolated func fullScreenCover<Content: View>(
        isPresented: Binding<Bool>, onDismiss: (() -> Void)? = nil, @ViewBuilder content: @escaping () -> Content
    ) -> some View {
        presenting(.cover, { isPresented.read() }, { isPresented.write(false) }, Loose(onDismiss)) {
            content()._evaluate($0)
        }
    }
    public nonisolated func sheet<Item: Identifiable, Content: View>(
        item: Binding<Item?>, onDismiss: (() -> Void)? = nil, @ViewBuilder content: @escaping (Item) -> Content
    ) -> some View {
        presenting(.sheet, { item.read() != nil }, { item.write(nil) }, Loose(onDismiss)) { here in
            // One that goes shows what it showed.
            let shown = here.graph.kept(here.path + "#item") { Kept(item.read(), nil) }
            if let now = item.read() { shown.value = now }
            if let shown = shown.value { content(shown)._evaluate(here.step("\(shown.id)")) }
        }
    }
    /// The system's own picker, in another process: it is put away, then the app is told. A person who chooses nothing
    /// tells nothing. Of two on one view the outer one alone works.
    public nonisolated func fileImporter(
        isPresented: Binding<Bool>, allowedContentTypes: [UTType], onCompletion: @escaping (Result<URL, any Error>) -> Void
    ) -> some View {
        let completion = Loose(onCompletion)
        return presenting(.files, { isPresented.read() }, { isPresented.write(false) }) { here in
            here.add(.unknown, "files").node.choose = { url in
                isPresented.write(false)
                if let url { completion.value(.success(url)) }
            }
        }
    }
    public nonisolated func gaugeStyle<S: GaugeStyle>(_ style: S) -> some View { same }
    public nonisolated func alert<A: View, M: View>(
        _ title: Text, isPresented: Binding<Bool>, @ViewBuilder actions: () -> A, @ViewBuilder message: () -> M
    ) -> some View {
        asking(.alert, title, isPresented, actions(), message())
    }
    public nonisolated func confirmationDialog<A: View, M: View>(
        _ title: Text, isPresented: Binding<Bool>, titleVisibility: Visibility = .automatic,
        @ViewBuilder actions: () -> A, @ViewBuilder message: () -> M
    ) -> some View {
        asking(.dialog, title, isPresented, actions(), message())
    }
    /// Each of its buttons puts it away: before or after what the button does, which is written nowhere.
    private nonisolated func asking<A: View, M: View>(
        _ kind: Level.Request.Kind, _ title: Text, _ isPresented: Binding<Bool>, _ actions: A, _ message: M
    ) -> some View {
        presenting(kind, { isPresented.read() }, { isPresented.write(false) }) { here in
            title._evaluate(here.step("title"))
            message._evaluate(here.step("message"))
            actions._evaluate(here.step("actions"))
            for button in here.node.all where button.kind == .button {
                let act = button.act
                button.act = {
                    if !Screen.actsFirst { isPresented.write(false) }
                    act?()
                    if Screen.actsFirst { isPresented.write(false) }
                    if isPresented.read() {
                        here.graph.report("\(kind) was put away and its binding says that it is there")
                    }
                }
            }
        }
    }
    public nonisolated func blur(radius: CGFloat, opaque: Bool = false) -> some View { same }
    public nonisolated func padding(_ edges: Edge.Set = .all, _ length: CGFloat? = nil) -> some View { passed }
    public nonisolated func padding(_ length: CGFloat) -> some View { passed }
    public nonisolated func ignoresSafeArea() -> some View { same }
    public nonisolated func font(_ font: Font?) -> some View { same }
    public nonisolated func foregroundStyle<S: ShapeStyle>(_ style: S) -> some View { same }
    public nonisolated func tint(_ tint: Color?) -> some View { same }
    /// Hides nothing where nobody asks for redaction: not in the system's picture either.
    public nonisolated func privacySensitive(_ sensitive: Bool = true) -> some View { same }
    public nonisolated func buttonStyle<S: PrimitiveButtonStyle>(_ style: S) -> some View { same }
    public nonisolated func accessibilityAddTraits(_ traits: AccessibilityTraits) -> some View { same }
    public nonisolated func presentationDetents(_ detents: Set<PresentationDetent>) -> some View { same }
    public nonisolated func presentationDragIndicator(_ visibility: Visibility) -> some View { same }
    /// Stands in the bar of tabs as a button.
    public nonisolated func tabItem<V: View>(@ViewBuilder _ label: () -> V) -> some View {
        let words = label()
        return changed { here, content in
            content(here)
            words._evaluate(here.add(.button, "tab"))
        }
    }
    public nonisolated func multilineTextAlignment(_ alignment: TextAlignment) -> some View { same }
    public nonisolated func lineLimit(_ number: Int?) -> some View { same }
    public nonisolated func aspectRatio(_ ratio: CGFloat? = nil, contentMode: ContentMode) -> some View { same }
    public nonisolated func autocorrectionDisabled(_ disable: Bool = true) -> some View { same }
    public nonisolated func textSelection<S: TextSelectability>(_ selectability: S) -> some View { same }
    public nonisolated func navigationTitle(_ title: Text) -> some View {
        changed { here, content in
            title._evaluate(here.step("title"))
            content(here)
        }
    }
    public nonisolated func accessibilityHint(_ hint: Text) -> some View { same }
    public nonisolated func accessibilityValue(_ value: Text) -> some View { same }
    public nonisolated func accessibilityElement(children: AccessibilityChildBehavior = .ignore) -> some View { same }
    public nonisolated func monospacedDigit() -> some View { same }
    public nonisolated func keyboardShortcut(_ key: KeyEquivalent, modifiers: EventModifiers = .command) -> some View {
        marked { node in
            for control in node.all where control.kind == .button || control.kind == .toggle {
                control.shortcut = "\(key.character) \(modifiers.rawValue)"
            }
        }
    }
    private nonisolated var passed: Modified<Self> { same }
}
public func withAnimation<Result>(_ animation: Animation? = .default, _ body: () throws -> Result) rethrows -> Result {
    try body()
}
