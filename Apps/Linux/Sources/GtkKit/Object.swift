package import CAdw

/// A strong reference to a GObject. GTK's package structs arrive in Swift as `UnsafeMutablePointer<GtkX>` and its
/// opaque ones as `OpaquePointer`; the two accessors below give whichever a C call asks for.
@MainActor package class Object {
    package let raw: UnsafeMutableRawPointer

    /// Takes a reference to what this program has made; a floating one is sunk.
    package required init(_ raw: UnsafeMutableRawPointer) {
        self.raw = raw
        g_object_ref_sink(raw)
    }
    /// Takes a reference to what GTK has made. It may not have placed it yet: a floating reference stays GTK's, which
    /// would otherwise find it gone.
    package init(borrowing raw: UnsafeMutableRawPointer) {
        self.raw = raw
        g_object_ref(raw)
    }
    package convenience init<T>(_ pointer: UnsafeMutablePointer<T>) { self.init(UnsafeMutableRawPointer(pointer)) }
    package convenience init(_ pointer: OpaquePointer) { self.init(UnsafeMutableRawPointer(pointer)) }

    isolated deinit { g_object_unref(raw) }

    package func pointer<T>(as type: T.Type = T.self) -> UnsafeMutablePointer<T> { raw.assumingMemoryBound(to: T.self) }
    package var opaque: OpaquePointer { OpaquePointer(raw) }

    package func set(_ property: String, _ value: Bool) {
        var boxed = GValue()
        g_value_init(&boxed, cadw_type_boolean())
        defer { g_value_unset(&boxed) }
        g_value_set_boolean(&boxed, value ? 1 : 0)
        g_object_set_property(pointer(), property, &boxed)
    }

    package func bool(_ property: String) -> Bool {
        var boxed = GValue()
        g_value_init(&boxed, cadw_type_boolean())
        defer { g_value_unset(&boxed) }
        g_object_get_property(pointer(), property, &boxed)
        return g_value_get_boolean(&boxed) != 0
    }
}

/// Anything on the screen.
package class Widget: Object {
    package var widget: UnsafeMutablePointer<GtkWidget> { pointer() }

    package var isVisible: Bool {
        get { gtk_widget_get_visible(widget) != 0 }
        set {
            if !newValue { giveUpFocus() }
            gtk_widget_set_visible(widget, newValue ? 1 : 0)
        }
    }
    package var isSensitive: Bool {
        get { gtk_widget_get_sensitive(widget) != 0 }
        set { gtk_widget_set_sensitive(widget, newValue ? 1 : 0) }
    }
    /// Whether it or anything in it has the keyboard.
    package var hasFocus: Bool { gtk_widget_get_focus_child(widget) != nil || gtk_widget_has_focus(widget) != 0 }

    package func focus() { gtk_widget_grab_focus(widget) }

    /// Takes the keyboard away from what is in it. What goes away with the keyboard keeps it until the next frame: a
    /// shortcut that is pressed meanwhile reaches nobody.
    func giveUpFocus() {
        guard let root = gtk_widget_get_root(widget), let focused = gtk_root_get_focus(root) else { return }
        if focused == widget || gtk_widget_is_ancestor(focused, widget) != 0 { gtk_root_set_focus(root, nil) }
    }

    package func setClass(_ name: String, _ isSet: Bool) {
        if isSet { gtk_widget_add_css_class(widget, name) } else { gtk_widget_remove_css_class(widget, name) }
    }
    /// What a screen reader calls it.
    package func accessibleLabel(_ text: String) { cadw_accessible_label(widget, text) }
    /// What a screen reader adds.
    package func accessibleDescription(_ text: String) { cadw_accessible_description(widget, text) }
}
