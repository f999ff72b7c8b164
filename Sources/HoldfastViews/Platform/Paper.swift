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
    ///   - button: Where the button is that was pressed: anything but a telephone shows its printing there.
    /// - Returns: Whether there is something to print with now.
    static func print(_ title: String, _ text: String, from button: Surroundings) -> Bool {
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
        let isShown = present(controller, from: button) { controller, _, _ in controller.printFormatter = nil }
        if !isShown { controller.printFormatter = nil }
        return isShown
        #elseif canImport(AppKit)
        let page = NSTextView(frame: CGRect(x: 0, y: 0, width: 468, height: 648))
        page.font = NSFont.monospacedSystemFont(ofSize: 14, weight: .regular)
        page.string = text
        let operation = NSPrintOperation(view: page)
        operation.jobTitle = title
        operation.run()
        page.string = ""
        // What goes wrong is said by its own panel.
        return true
        #endif
    }

    #if canImport(UIKit)
    private static func present(
        _ controller: UIPrintInteractionController, from button: Surroundings,
        _ ended: @escaping UIPrintInteractionController.CompletionHandler
    ) -> Bool {
        if UIDevice.current.userInterfaceIdiom == .phone {
            return controller.present(animated: true, completionHandler: ended)
        }
        guard let view = button.view else { return false }
        return controller.present(from: view.bounds, in: view, animated: true, completionHandler: ended)
    }
    #endif

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
