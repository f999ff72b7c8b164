#if canImport(SwiftUI)
internal import SwiftUI

#if canImport(UIKit)
internal import UIKit
#elseif canImport(AppKit)
internal import AppKit
#endif

/// Copies text so that it stays on this device and is gone after a while.
@MainActor
enum Clipboard {
    /// What the clipboard counted when a secret was put there last.
    private static var copied: Int?

    /// - Parameter seconds: How long it stays, where nothing else is copied meanwhile.
    static func copy(_ text: String, seconds: UInt32) {
        #if canImport(UIKit)
        UIPasteboard.general.setItems(
            [["public.utf8-plain-text": text]],
            options: [.localOnly: true, .expirationDate: Date(timeIntervalSinceNow: TimeInterval(seconds))])
        copied = UIPasteboard.general.changeCount
        #elseif canImport(AppKit)
        let board = NSPasteboard.general
        board.prepareForNewContents(with: .currentHostOnly)
        board.setString(text, forType: .string)
        // What programs that keep a history agreed to leave alone.
        board.setString("", forType: NSPasteboard.PasteboardType("org.nspasteboard.ConcealedType"))
        let change = board.changeCount
        copied = change
        Task {
            try? await Task.sleep(for: .seconds(seconds))
            if NSPasteboard.general.changeCount == change { NSPasteboard.general.clearContents() }
        }
        #endif
    }

    /// Takes back the secret that was copied last, unless something else was copied since.
    static func clear() {
        guard let change = copied else { return }
        copied = nil
        #if canImport(UIKit)
        if UIPasteboard.general.changeCount == change { UIPasteboard.general.setItems([]) }
        #elseif canImport(AppKit)
        if NSPasteboard.general.changeCount == change { NSPasteboard.general.clearContents() }
        #endif
    }
}
#endif
