import CAdw
import Holdfast

/// Prints one page. The system's dialog is a window of its own: whoever covers the window calls ``cancel()``.
package final class PrintJob {
    private let operation: Object
    private let parent: Window
    private let onEnd: () -> Void

    /// - Parameters:
    ///   - title: Names the job for the printer's queue; nothing secret.
    ///   - draw: Draws the page, when the owner has chosen a printer.
    package init(
        _ title: String, _ parent: Window, draw: @escaping (PrintedPage) -> Void, onEnd: @escaping () -> Void
    ) {
        let made = gtk_print_operation_new()!
        operation = Object(made)
        g_object_unref(operation.raw)
        self.parent = parent
        self.onEnd = onEnd
        gtk_print_operation_set_job_name(made, title)
        gtk_print_operation_set_n_pages(made, 1)
        gtk_print_operation_set_allow_async(made, 1)
        operation.onEmission("draw-page") { arguments, count in
            if count > 1, let context = g_value_get_object(arguments + 1) {
                draw(PrintedPage(OpaquePointer(context)))
            }
            return nil
        }
        operation.onEmission("done") { _, _ in
            onEnd()
            return nil
        }
    }

    /// Asks for a printer.
    /// - Returns: False when nothing can be printed here.
    package func run() -> Bool {
        let result = gtk_print_operation_run(
            operation.pointer(), GTK_PRINT_OPERATION_ACTION_PRINT_DIALOG, parent.pointer(), nil)
        return result != GTK_PRINT_OPERATION_RESULT_ERROR
    }

    /// Nothing more is printed, and the dialog goes.
    package func cancel() {
        cadw_cancel_dialogs(parent.pointer())
        gtk_print_operation_cancel(operation.pointer())
    }
}

/// A page to draw on. What is drawn lies in the printer's queue from then on.
package final class PrintedPage {
    private let context: OpaquePointer
    private let cairo: OpaquePointer

    init(_ context: OpaquePointer) {
        self.context = context
        cairo = gtk_print_context_get_cairo_context(context)
    }

    package var width: Double { gtk_print_context_get_width(context) }

    /// Writes a line or a paragraph.
    /// - Parameters:
    ///   - font: As Pango names fonts: `Sans 12`.
    ///   - width: Where it wraps.
    /// - Returns: How high it is.
    @discardableResult
    package func write(_ text: String, _ font: String, x: Double, y: Double, width: Double) -> Double {
        draw(font, x, y, width) { pango_layout_set_text($0, text, -1) }
    }

    /// Writes a secret behind something.
    @discardableResult
    package func write(
        _ bytes: RawSpan, behind prefix: String, _ font: String, x: Double, y: Double, width: Double
    ) -> Double {
        draw(font, x, y, width) { layout in
            withTerminated(bytes, behind: prefix) { pango_layout_set_text(layout, $0, -1) }
        }
    }

    private func draw(
        _ font: String, _ x: Double, _ y: Double, _ width: Double, _ fill: (OpaquePointer) -> Void
    ) -> Double {
        let layout = gtk_print_context_create_pango_layout(context)!
        defer { g_object_unref(UnsafeMutableRawPointer(layout)) }
        let description = pango_font_description_from_string(font)
        defer { pango_font_description_free(description) }
        pango_layout_set_font_description(layout, description)
        pango_layout_set_width(layout, Int32(width * Double(PANGO_SCALE)))
        fill(layout)
        cairo_move_to(cairo, x, y)
        pango_cairo_show_layout(cairo, layout)
        var height: Int32 = 0
        pango_layout_get_size(layout, nil, &height)
        return Double(height) / Double(PANGO_SCALE)
    }
}
