// UniformTypeIdentifiers as far as Holdfast uses it.
public struct UTType: Hashable, Sendable {
    public static var data: UTType { UTType() }
}
