#if canImport(SwiftUI)
internal import SwiftUI

#if canImport(UIKit)
internal import UIKit
#elseif canImport(AppKit)
internal import AppKit
#endif

/// Prints a page of text. What the system's printing keeps of it is the system's.
@MainActor
enum Paper {
    /// - Parameters:
    ///   - title: The name of the job; nothing secret.
    ///   - text: The page.
    static func print(_ title: String, _ text: String) {
        #if canImport(UIKit)
        let info = UIPrintInfo.printInfo()
        info.jobName = title
        info.outputType = .grayscale
        let formatter = UISimpleTextPrintFormatter(text: text)
        formatter.font = UIFont.monospacedSystemFont(ofSize: 14, weight: .regular)
        formatter.perPageContentInsets = UIEdgeInsets(top: 72, left: 72, bottom: 72, right: 72)
        let controller = UIPrintInteractionController.shared
        controller.printInfo = info
        controller.printFormatter = formatter
        // The formatter has the text: it goes when the sheet does.
        controller.present(animated: true) { controller, _, _ in controller.printFormatter = nil }
        #elseif canImport(AppKit)
        let page = NSTextView(frame: CGRect(x: 0, y: 0, width: 468, height: 648))
        page.font = NSFont.monospacedSystemFont(ofSize: 14, weight: .regular)
        page.string = text
        let operation = NSPrintOperation(view: page)
        operation.jobTitle = title
        operation.run()
        page.string = ""
        #endif
    }

    /// Whether there is anything to print with.
    static var isAvailable: Bool {
        #if canImport(UIKit)
        UIPrintInteractionController.isPrintingAvailable
        #else
        true
        #endif
    }
}
#endif
