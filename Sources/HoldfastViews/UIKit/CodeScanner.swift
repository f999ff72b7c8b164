#if canImport(SwiftUI) && canImport(VisionKit) && canImport(UIKit)
internal import SwiftUI
internal import UIKit
internal import VisionKit

/// The camera, looking for a QR code: what another device shows to be linked. Nothing of the picture is kept.
struct CodeScanner: UIViewControllerRepresentable {
    /// Called with the text of the first code that is seen.
    let found: @MainActor (String) -> Void

    /// Whether there is a camera that can do that, and this app says why it wants it: without such a sentence the
    /// system ends the app when the camera is turned on.
    static var isAvailable: Bool {
        Bundle.main.object(forInfoDictionaryKey: "NSCameraUsageDescription") != nil
            && DataScannerViewController.isSupported
    }

    func makeCoordinator() -> Finder { Finder(found) }

    func makeUIViewController(context: Context) -> DataScannerViewController {
        let scanner = DataScannerViewController(recognizedDataTypes: [.barcode()], isHighlightingEnabled: true)
        scanner.delegate = context.coordinator
        // Refused where the user does not allow the camera; the text field is still there.
        try? scanner.startScanning()
        return scanner
    }

    func updateUIViewController(_ scanner: DataScannerViewController, context: Context) {}

    static func dismantleUIViewController(_ scanner: DataScannerViewController, coordinator: Finder) {
        scanner.stopScanning()
    }

    /// Hears of what the camera sees.
    @MainActor
    final class Finder: DataScannerViewControllerDelegate {
        private var found: (@MainActor (String) -> Void)?

        init(_ found: @escaping @MainActor (String) -> Void) { self.found = found }

        func dataScanner(
            _ scanner: DataScannerViewController, didAdd added: [RecognizedItem], allItems: [RecognizedItem]
        ) {
            for case .barcode(let code) in added {
                guard let text = code.payloadStringValue, let found else { continue }
                // One is enough: the next picture has the same code.
                self.found = nil
                scanner.stopScanning()
                found(text)
            }
        }
    }
}
#endif
