// CoreImage as far as Holdfast uses it: one generator. Nothing is drawn.
@_exported import Foundation

public final class CGImage: @unchecked Sendable {}
open class CIImage: NSObject {
    open var extent: CGRect { .zero }
    open func transformed(by matrix: CGAffineTransform) -> CIImage { self }
}
public struct CGAffineTransform: Sendable { public init(scaleX: CGFloat, y: CGFloat) {} }
open class CIFilter: NSObject {
    public init?(name: String) {}
    open var outputImage: CIImage? { nil }
    open func setValue(_ value: Any?, forKey key: String) {}
}
open class CIContext: NSObject {
    open func createCGImage(_ image: CIImage, from rectangle: CGRect) -> CGImage? { nil }
}
