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

/// A ring that empties while the time of something runs. A screen reader is told of the time elsewhere.
package final class Ring: Widget {
    package convenience init() { self.init(cadw_ring_new()!) }
    /// From 1, all of it, to 0.
    package func show(_ share: Double) { cadw_ring_set(widget, share) }
}

/// A bar and words below an entry, as a row of its list.
package final class LevelRow: Widget {
    private let bar = LevelBar(gtk_level_bar_new_for_interval(0, 4)!)
    private let text = Label("")

    package convenience init(label: String) {
        self.init(gtk_list_box_row_new()!)
        let box = Widget(gtk_box_new(GTK_ORIENTATION_VERTICAL, 6)!)
        gtk_level_bar_set_mode(bar.opaque, GTK_LEVEL_BAR_MODE_DISCRETE)
        bar.accessibleLabel(label)
        for (child, margin) in [(bar as Widget, Int32(6)), (text, 0)] {
            gtk_widget_set_margin_start(child.widget, 12)
            gtk_widget_set_margin_end(child.widget, 12)
            gtk_widget_set_margin_top(child.widget, margin)
            gtk_box_append(box.pointer(), child.widget)
        }
        gtk_widget_set_margin_bottom(box.widget, 8)
        gtk_label_set_xalign(text.opaque, 0)
        gtk_label_set_wrap(text.opaque, 1)
        text.setClass("dim-label", true)
        text.setClass("caption", true)
        gtk_list_box_row_set_child(pointer(), box.widget)
        gtk_list_box_row_set_activatable(pointer(), 0)
        gtk_list_box_row_set_selectable(pointer(), 0)
        gtk_widget_set_can_focus(widget, 0)
        isVisible = false
    }

    /// - Parameter level: From 0 to 4; nil to show nothing.
    package func show(_ level: Int?, _ words: String) {
        bar.value = Double(level ?? 0)
        text.text = words
        isVisible = level != nil
    }
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
