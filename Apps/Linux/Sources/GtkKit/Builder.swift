import CAdw

/// Widgets made from a GtkBuilder document, looked up by id.
package final class Builder {
    private let builder: Object

    /// Traps on a document that GTK cannot read: it is part of the program.
    package init(_ xml: [UInt8]) {
        let made = xml.withUnsafeBufferPointer { bytes in
            bytes.withMemoryRebound(to: CChar.self) { characters in
                let made = gtk_builder_new()!
                gtk_builder_set_translation_domain(made, Translation.domain)
                var error: UnsafeMutablePointer<GError>?
                if gtk_builder_add_from_string(made, characters.baseAddress, gssize(characters.count), &error) == 0 {
                    fatalError(error.map { String(cString: $0.pointee.message) } ?? "unreadable layout")
                }
                return made
            }
        }
        builder = Object(made)
        g_object_unref(builder.raw)
    }

    /// The widget of this id; traps where the layout has none.
    package func widget<W: Widget>(_ id: String, as type: W.Type = W.self) -> W {
        guard let found = gtk_builder_get_object(builder.opaque, id), cadw_is_widget(found) != 0 else {
            fatalError("the layout has no widget named \(id)")
        }
        return W(UnsafeMutableRawPointer(found))
    }
}
