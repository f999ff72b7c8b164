import CAdw
package import Holdfast

/// Any widget with one line of text: entries, password entries, entry rows.
package final class Editable: Widget {
    package var text: String {
        get { String(cString: gtk_editable_get_text(opaque)) }
        set { gtk_editable_set_text(opaque, newValue) }
    }
    package var isEmpty: Bool { gtk_editable_get_text(opaque).pointee == 0 }
    package func onChange(_ action: @escaping () -> Void) { on("changed", action) }
    /// Enter was pressed, in an entry.
    package func onActivate(_ action: @escaping () -> Void) { on("activate", action) }
    /// Enter was pressed, in an entry row.
    package func onEntryActivate(_ action: @escaping () -> Void) { on("entry-activated", action) }
    package var title: String {
        get { String(cString: adw_preferences_row_get_title(pointer())) }
        set { adw_preferences_row_set_title(pointer(), newValue) }
    }

    /// What was typed, read from the widget's own memory straight into locked memory; the widget is empty afterwards.
    /// A password entry keeps its text in memory of its own that it wipes.
    package func takeSecret() throws(SecretMemoryError) -> SecretBytes {
        defer { clear() }
        return try copySecret()
    }

    /// As ``takeSecret()``, and the text stays.
    package func copySecret() throws(SecretMemoryError) -> SecretBytes {
        let text = gtk_editable_get_text(opaque)!
        let count = strlen(text)
        return try SecretBytes(copying: RawSpan(_unsafeStart: UnsafeRawPointer(text), byteCount: count))
    }

    /// Lends what was typed where it lies.
    package func withBytes<R>(_ body: (RawSpan) -> R) -> R {
        let text = gtk_editable_get_text(opaque)!
        return body(RawSpan(_unsafeStart: UnsafeRawPointer(text), byteCount: strlen(text)))
    }

    /// Puts a secret into it.
    package func setSecret(_ bytes: RawSpan) {
        withTerminated(bytes) { gtk_editable_set_text(opaque, $0) }
    }

    package func clear() { gtk_editable_set_text(opaque, "") }
}

/// Several lines of text.
package final class TextView: Widget {
    private var buffer: UnsafeMutablePointer<GtkTextBuffer> { gtk_text_view_get_buffer(pointer()) }

    /// What was typed, in locked memory; GTK's own copy of it is freed, not wiped. The view is empty afterwards.
    package func takeSecret() throws(SecretMemoryError) -> SecretBytes {
        let secret = try copySecret()
        clear()
        return secret
    }

    /// As ``takeSecret()``, and the text stays.
    package func copySecret() throws(SecretMemoryError) -> SecretBytes {
        var (start, end) = (GtkTextIter(), GtkTextIter())
        gtk_text_buffer_get_bounds(buffer, &start, &end)
        let text = gtk_text_buffer_get_text(buffer, &start, &end, 0)!
        let count = strlen(text)
        defer {
            explicit_bzero(text, count)
            g_free(text)
        }
        return try SecretBytes(copying: RawSpan(_unsafeStart: UnsafeRawPointer(text), byteCount: count))
    }

    package func setSecret(_ bytes: RawSpan) {
        gtk_text_buffer_begin_irreversible_action(buffer)
        withTerminated(bytes) { gtk_text_buffer_set_text(buffer, $0, -1) }
        gtk_text_buffer_end_irreversible_action(buffer)
    }

    package func clear() {
        gtk_text_buffer_begin_irreversible_action(buffer)
        gtk_text_buffer_set_text(buffer, "", 0)
        gtk_text_buffer_end_irreversible_action(buffer)
    }
}

extension Label {
    /// Shows a secret. GTK lays it out in memory of its own; that is what showing means.
    package func show(_ bytes: RawSpan, behind prefix: String = "") {
        withTerminated(bytes, behind: prefix) { gtk_label_set_text(opaque, $0) }
    }
}

extension Row {
    /// Shows a secret below the title. GTK lays it out in memory of its own; that is what showing means.
    package func show(_ bytes: RawSpan, ending: String = "") {
        adw_preferences_row_set_use_markup(pointer(), 0)
        withTerminated(bytes, ending: ending) { adw_action_row_set_subtitle(pointer(), $0) }
    }
}

/// Lends bytes with the zero behind them that C wants, in locked memory.
func withTerminated(
    _ bytes: RawSpan, behind prefix: String = "", ending: String = "", _ body: (UnsafePointer<CChar>) -> Void
) {
    let (start, end) = (Array(prefix.utf8), Array(ending.utf8))
    guard
        let secret = try? SecretBytes(
            count: start.count + bytes.byteCount + end.count + 1,
            { memory in
                memory.withUnsafeMutableBytes { memory in
                    memory.copyBytes(from: start)
                    bytes.withUnsafeBytes { bytes in
                        let rest = UnsafeMutableRawBufferPointer(rebasing: memory[start.count...])
                        if bytes.count > 0 { rest.copyMemory(from: bytes) }
                    }
                    UnsafeMutableRawBufferPointer(rebasing: memory[(start.count + bytes.byteCount)...]).copyBytes(
                        from: end)
                }
            })
    else { return body("") }
    secret.withBytes { span in
        span.withUnsafeBytes { body($0.baseAddress!.assumingMemoryBound(to: CChar.self)) }
    }
}

/// A secret on its way into a task, which takes it once: a closure cannot give away what it captured.
package final class SecretCarrier {
    private var secret: SecretBytes?
    package init(_ secret: consuming SecretBytes) { self.secret = consume secret }

    /// The secret; an empty one for who comes a second time.
    package func take() -> SecretBytes {
        switch secret.take() {
        case .some(let secret): return secret
        case .none: return try! SecretBytes(zeroed: 0)  // because: no memory is asked for
        }
    }
}

/// A secret that C code holds for a while.
private final class SecretBox {
    nonisolated let secret: SecretBytes
    init(_ secret: consuming SecretBytes) { self.secret = secret }
}

/// The clipboard of the window's display.
package final class Clipboard {
    let clipboard = Object(borrowing: UnsafeMutableRawPointer(gdk_display_get_clipboard(gdk_display_get_default())!))
    private var clearing: Task<Void, Never>?
    private var secretContent: Object?

    package init() {}

    /// Copies what is no secret.
    package func copy(_ text: String) { gdk_clipboard_set_text(clipboard.opaque, text) }

    /// Copies a secret, with the mark that clipboard histories are asked to skip it, and takes it back after a while
    /// unless something else was copied by then. It lies in locked memory for as long as it is offered.
    package func copySecret(_ bytes: RawSpan, for seconds: UInt32) throws(SecretMemoryError) {
        let secret = try SecretBytes(copying: bytes)
        let count = secret.count
        let box = Unmanaged.passRetained(SecretBox(secret))
        let start = box.takeUnretainedValue().secret.withBytes { $0.withUnsafeBytes { $0.baseAddress } }
        let content = g_bytes_new_with_free_func(
            start, gsize(count), { Unmanaged<AnyObject>.fromOpaque($0!).release() }, box.toOpaque())
        let hint = Array("secret".utf8).withUnsafeBytes { g_bytes_new($0.baseAddress, gsize($0.count)) }
        var parts: [UnsafeMutablePointer<GdkContentProvider>?] = [
            gdk_content_provider_new_for_bytes("text/plain;charset=utf-8", content),
            gdk_content_provider_new_for_bytes("x-kde-passwordManagerHint", hint),
        ]
        g_bytes_unref(content)
        g_bytes_unref(hint)
        let union = gdk_content_provider_new_union(&parts, gsize(parts.count))!
        gdk_clipboard_set_content(clipboard.opaque, union)
        let held = Object(union)
        g_object_unref(union)
        secretContent = held
        clearing?.cancel()
        clearing = Task { [weak self] in
            try? await Task.sleep(for: .seconds(seconds))
            if !Task.isCancelled { self?.clearSecret() }
        }
    }

    /// Takes the secret back that was copied last, unless something else was copied since.
    package func clearSecret() {
        clearing?.cancel()
        if let held = secretContent, gdk_clipboard_get_content(clipboard.opaque) == held.pointer() {
            gdk_clipboard_set_content(clipboard.opaque, nil)
        }
        secretContent = nil
    }
}
