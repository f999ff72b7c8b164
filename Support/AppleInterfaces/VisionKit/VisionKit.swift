// VisionKit as far as Holdfast uses it: a camera that reads codes, played by a test.
@_exported import Foundation
import UIKit

@nonexhaustive public enum RecognizedItem: Identifiable, Sendable {
    case barcode(Barcode)
    public var id: UUID { switch self { case .barcode(let code): code.id } }
    public struct Barcode: Identifiable, Sendable {
        public let id = UUID()
        public let payloadStringValue: String?
        // Ours: what the camera sees.
        public init(played text: String) { payloadStringValue = text }
    }
}
@MainActor @preconcurrency public protocol DataScannerViewControllerDelegate: AnyObject {
    func dataScanner(_ dataScanner: DataScannerViewController, didAdd addedItems: [RecognizedItem], allItems: [RecognizedItem])
}
@MainActor @preconcurrency public class DataScannerViewController: UIViewController {
    public enum RecognizedDataType: Hashable, Sendable {
        case code
        public static func barcode() -> RecognizedDataType { .code }
    }
    public static var isSupported: Bool { true }
    public static var isAvailable: Bool { true }
    public weak var delegate: (any DataScannerViewControllerDelegate)?
    public private(set) var isScanning = false
    public init(recognizedDataTypes: Set<RecognizedDataType>, isHighlightingEnabled: Bool = false) {
        super.init(nibName: nil, bundle: nil)
    }
    public required init?(coder: NSCoder) { nil }
    public func startScanning() throws { isScanning = true }
    public func stopScanning() { isScanning = false }
    // Ours: the camera sees a code.
    public func played(_ text: String) {
        guard isScanning else { return }
        let item = RecognizedItem.barcode(.init(played: text))
        delegate?.dataScanner(self, didAdd: [item], allItems: [item])
    }
}
