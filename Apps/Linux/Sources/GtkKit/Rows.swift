import CAdw

/// A row that folds others away below it.
package final class ExpanderRow: Widget {
    package convenience init(title: String) {
        self.init(adw_expander_row_new()!)
        adw_preferences_row_set_use_markup(pointer(), 0)
        adw_preferences_row_set_title(pointer(), title)
    }
    package var subtitle: String {
        get { String(cString: adw_expander_row_get_subtitle(pointer())) }
        set { adw_expander_row_set_subtitle(pointer(), newValue) }
    }
    package var isExpanded: Bool {
        get { adw_expander_row_get_expanded(pointer()) != 0 }
        set { adw_expander_row_set_expanded(pointer(), newValue ? 1 : 0) }
    }
    package func add(_ row: Widget) { adw_expander_row_add_row(pointer(), row.widget) }
}

/// A whole number between two bounds.
package final class SpinButton: Widget {
    package convenience init(_ range: ClosedRange<Int>) {
        self.init(gtk_spin_button_new_with_range(Double(range.lowerBound), Double(range.upperBound), 1)!)
        gtk_widget_set_valign(widget, GTK_ALIGN_CENTER)
    }
    package var value: Int {
        get { Int(gtk_spin_button_get_value_as_int(opaque)) }
        set { gtk_spin_button_set_value(opaque, Double(newValue)) }
    }
    package var range: ClosedRange<Int> {
        get {
            var (low, high) = (0.0, 0.0)
            gtk_spin_button_get_range(opaque, &low, &high)
            return Int(low)...Int(high)
        }
        set { gtk_spin_button_set_range(opaque, Double(newValue.lowerBound), Double(newValue.upperBound)) }
    }
    package func onChange(_ action: @escaping () -> Void) { on("value-changed", action) }
}

extension Editable {
    /// An entry row; a secret's text is hidden, and lies in memory that is wiped.
    package static func row(_ title: String, isSecret: Bool) -> Editable {
        let row = Editable(isSecret ? adw_password_entry_row_new()! : adw_entry_row_new()!)
        adw_preferences_row_set_use_markup(row.pointer(), 0)
        row.title = title
        return row
    }
    /// Puts something at the end of an entry row.
    package func addSuffix(_ child: Widget) { adw_entry_row_add_suffix(pointer(), child.widget) }
}

extension Label {
    /// A heading between rows of a list, which nobody chooses.
    package static func heading(_ text: String) -> Widget {
        let label = Label(text)
        gtk_label_set_xalign(label.opaque, 0)
        label.setClass("heading", true)
        gtk_widget_set_margin_top(label.widget, 12)
        let row = Widget(gtk_list_box_row_new()!)
        gtk_list_box_row_set_child(row.pointer(), label.widget)
        gtk_list_box_row_set_activatable(row.pointer(), 0)
        gtk_list_box_row_set_selectable(row.pointer(), 0)
        gtk_widget_set_can_focus(row.widget, 0)
        row.accessibleLabel(text)
        return row
    }
}

extension Button {
    /// A wide button with an icon before its text.
    package static func choice(icon: String, _ text: String) -> Button {
        let content = Widget(gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 10)!)
        gtk_box_append(content.pointer(), gtk_image_new_from_icon_name(icon))
        gtk_box_append(content.pointer(), gtk_label_new(text))
        let button = Button(gtk_button_new()!)
        gtk_button_set_child(button.pointer(), content.widget)
        button.accessibleLabel(text)
        return button
    }
}
