import CAdw

package final class Label: Widget {
    package convenience init(_ text: String) { self.init(gtk_label_new(text)!) }

    package var text: String {
        get { String(cString: gtk_label_get_text(opaque)) }
        set { gtk_label_set_text(opaque, newValue) }
    }
    package var isSelectable: Bool {
        get { gtk_label_get_selectable(opaque) != 0 }
        set { gtk_label_set_selectable(opaque, newValue ? 1 : 0) }
    }
}

package class Button: Widget {
    package convenience init(icon: String, label: String) {
        self.init(gtk_button_new_from_icon_name(icon)!)
        gtk_widget_set_tooltip_text(widget, label)
        accessibleLabel(label)
        gtk_widget_set_valign(widget, GTK_ALIGN_CENTER)
        setClass("flat", true)
    }
    package convenience init(label: String) {
        self.init(gtk_button_new_with_label(label)!)
        gtk_widget_set_valign(widget, GTK_ALIGN_CENTER)
    }
    package var label: String {
        get { gtk_button_get_label(pointer()).map { String(cString: $0) } ?? "" }
        set { gtk_button_set_label(pointer(), newValue) }
    }
    package func setIcon(_ icon: String, label: String) {
        gtk_button_set_icon_name(pointer(), icon)
        gtk_widget_set_tooltip_text(widget, label)
        accessibleLabel(label)
    }
    /// - Parameter spoken: What a screen reader says in place of it.
    package func setLabel(_ text: String, spoken: String) {
        label = text
        // With the text comes its name, or, in later versions, that the text is its name.
        gtk_accessible_reset_relation(opaque, GTK_ACCESSIBLE_RELATION_LABELLED_BY)
        accessibleLabel(spoken)
    }
    package func onClick(_ action: @escaping () -> Void) { on("clicked", action) }
}

package final class Toggle: Widget {
    package var isOn: Bool {
        get { gtk_switch_get_active(opaque) != 0 }
        set { if isOn != newValue { gtk_switch_set_active(opaque, newValue ? 1 : 0) } }
    }
    package func onChange(_ action: @escaping (Bool) -> Void) {
        on("notify::active") { [unowned self] in action(isOn) }
    }
}

package final class ToggleButton: Widget {
    package var isOn: Bool {
        get { gtk_toggle_button_get_active(pointer()) != 0 }
        set { gtk_toggle_button_set_active(pointer(), newValue ? 1 : 0) }
    }
    package func onChange(_ action: @escaping (Bool) -> Void) {
        on("notify::active") { [unowned self] in action(isOn) }
    }
}

package class Row: Widget {
    package convenience init(title: String, subtitle: String = "", icon: String? = nil) {
        self.init(adw_action_row_new()!)
        adw_preferences_row_set_use_markup(pointer(), 0)
        self.title = title
        self.subtitle = subtitle
        if let icon { adw_action_row_set_icon_name(pointer(), icon) }
    }
    package var title: String {
        get { String(cString: adw_preferences_row_get_title(pointer())) }
        set {
            // Never markup: titles are names that their owner chose.
            adw_preferences_row_set_use_markup(pointer(), 0)
            adw_preferences_row_set_title(pointer(), newValue)
        }
    }
    package var subtitle: String {
        get { adw_action_row_get_subtitle(pointer()).map { String(cString: $0) } ?? "" }
        set {
            adw_preferences_row_set_use_markup(pointer(), 0)
            adw_action_row_set_subtitle(pointer(), newValue)
        }
    }
    package func addSuffix(_ child: Widget) { adw_action_row_add_suffix(pointer(), child.widget) }
    package func onActivate(_ action: @escaping () -> Void) {
        gtk_list_box_row_set_activatable(pointer(), 1)
        on("activated", action)
    }
}

/// A row with a choice among texts.
package final class ComboRow: Row {
    package func setChoices(_ texts: [String]) {
        let list = gtk_string_list_new(nil)!
        for text in texts { gtk_string_list_append(list, text) }
        adw_combo_row_set_model(pointer(), list)
        g_object_unref(UnsafeMutableRawPointer(list))
    }
    package var selected: Int {
        get { Int(adw_combo_row_get_selected(pointer())) }
        set { if selected != newValue { adw_combo_row_set_selected(pointer(), guint(newValue)) } }
    }
    package func onChange(_ action: @escaping (Int) -> Void) {
        on("notify::selected") { [unowned self] in
            if selected != Int(GTK_INVALID_LIST_POSITION) { action(selected) }
        }
    }
}

/// A button that opens a list of texts.
package final class DropDown: Widget {
    package func setChoices(_ texts: [String]) {
        let list = gtk_string_list_new(nil)!
        for text in texts { gtk_string_list_append(list, text) }
        gtk_drop_down_set_model(opaque, list)
        g_object_unref(UnsafeMutableRawPointer(list))
    }
    package var selected: Int { Int(gtk_drop_down_get_selected(opaque)) }
    package func onChange(_ action: @escaping (Int) -> Void) {
        on("notify::selected") { [unowned self] in
            if selected != Int(GTK_INVALID_LIST_POSITION) { action(selected) }
        }
    }
}

package final class Revealer: Widget {
    package var isRevealed: Bool {
        get { gtk_revealer_get_reveal_child(opaque) != 0 }
        set { gtk_revealer_set_reveal_child(opaque, newValue ? 1 : 0) }
    }
}

package final class Stack: Widget {
    package var page: String {
        get { gtk_stack_get_visible_child_name(opaque).map { String(cString: $0) } ?? "" }
        set { gtk_stack_set_visible_child_name(opaque, newValue) }
    }
    package func add(_ child: Widget, named name: String) { gtk_stack_add_named(opaque, child.widget, name) }
}

package final class ViewStack: Widget {
    package func add(_ child: Widget, named name: String, title: String, icon: String) {
        adw_view_stack_page_set_icon_name(adw_view_stack_add_titled(opaque, child.widget, name, title), icon)
    }
    package var page: String {
        get { adw_view_stack_get_visible_child_name(opaque).map { String(cString: $0) } ?? "" }
        set { adw_view_stack_set_visible_child_name(opaque, newValue) }
    }
}

package final class ListBox: Widget {
    package func removeAll() {
        while let row = gtk_list_box_get_row_at_index(opaque, 0) {
            gtk_list_box_remove(opaque, UnsafeMutableRawPointer(row).assumingMemoryBound(to: GtkWidget.self))
        }
    }
    package func append(_ row: Widget) { gtk_list_box_append(opaque, row.widget) }
    package func replace(with rows: [Widget]) {
        removeAll()
        rows.forEach(append)
    }
    package func select(_ index: Int) {
        gtk_list_box_select_row(opaque, gtk_list_box_get_row_at_index(opaque, Int32(index)))
    }
    package func onSelect(_ action: @escaping (Int) -> Void) {
        onEmission("row-activated") { arguments, count in
            if count > 1, let row = g_value_get_object(arguments + 1) {
                action(Int(gtk_list_box_row_get_index(row.assumingMemoryBound(to: GtkListBoxRow.self))))
            }
            return nil
        }
    }
}

package final class ToastOverlay: Widget {
    private var last: Object?

    /// - Parameters:
    ///   - button: What its button says; none without it.
    ///   - action: What its button does.
    package func show(
        _ text: String, seconds: UInt32 = 3, button: String? = nil, _ action: @escaping () -> Void = {}
    ) {
        dismiss()
        // A toast reads markup; names in it are text.
        let escaped = g_markup_escape_text(text, -1)!
        defer { g_free(escaped) }
        let toast = adw_toast_new(escaped)!
        adw_toast_set_timeout(toast, seconds)
        if let button { adw_toast_set_button_label(toast, button) }
        let made = Object(toast)
        if button != nil { made.on("button-clicked", action) }
        last = made
        adw_toast_overlay_add_toast(opaque, toast)
    }

    /// Takes the last one away, so that it does not stand before what comes next.
    package func dismiss() {
        if let last { adw_toast_dismiss(last.opaque) }
        last = nil
    }
}

package final class ProgressBar: Widget {
    /// 0 to 1.
    package var fraction: Double {
        get { gtk_progress_bar_get_fraction(opaque) }
        set { gtk_progress_bar_set_fraction(opaque, newValue) }
    }
    package func pulse() { gtk_progress_bar_pulse(opaque) }
}

package final class LevelBar: Widget {
    package var value: Double {
        get { gtk_level_bar_get_value(opaque) }
        set { gtk_level_bar_set_value(opaque, newValue) }
    }
}

package final class StatusPage: Widget {
    package var title: String {
        get { String(cString: adw_status_page_get_title(opaque)) }
        set { adw_status_page_set_title(opaque, newValue) }
    }
    package var detail: String {
        get { adw_status_page_get_description(opaque).map { String(cString: $0) } ?? "" }
        set {
            let escaped = g_markup_escape_text(newValue, -1)!
            adw_status_page_set_description(opaque, escaped)
            g_free(escaped)
        }
    }
}

package final class FlowBox: Widget {
    package func removeAll() {
        while let child = gtk_flow_box_get_child_at_index(opaque, 0) {
            gtk_flow_box_remove(opaque, UnsafeMutableRawPointer(child).assumingMemoryBound(to: GtkWidget.self))
        }
    }
    package func append(_ child: Widget) { gtk_flow_box_insert(opaque, child.widget, -1) }
}

package final class SearchBar: Widget {
    package var isOpen: Bool {
        get { gtk_search_bar_get_search_mode(opaque) != 0 }
        set { gtk_search_bar_set_search_mode(opaque, newValue ? 1 : 0) }
    }
}

/// A sidebar that folds away where there is no room.
package final class Flap: Widget {
    package var isRevealed: Bool {
        get { adw_flap_get_reveal_flap(opaque) != 0 }
        set { adw_flap_set_reveal_flap(opaque, newValue ? 1 : 0) }
    }
    /// Whether any of it is on the screen.
    package var isSeen: Bool { isRevealed || adw_flap_get_reveal_progress(opaque) > 0 }
    package var isFolded: Bool {
        get { adw_flap_get_folded(opaque) != 0 }
        set { adw_flap_set_fold_policy(opaque, newValue ? ADW_FLAP_FOLD_POLICY_ALWAYS : ADW_FLAP_FOLD_POLICY_NEVER) }
    }
}

/// Something to hold one widget.
package final class Bin: Widget {
    package var child: Widget? {
        willSet { child?.giveUpFocus() }
        didSet { adw_bin_set_child(pointer(), child?.widget) }
    }
}

/// Nothing to see: it tells how much room there is.
package final class Room: Widget {
    /// - Parameter action: Told the width in pixels when that was found out, or is another one. It must not change the
    ///   layout before it returns.
    package func onResize(_ action: @escaping (Int) -> Void) {
        onEmission("resize") { arguments, count in
            if count > 1 { action(Int(g_value_get_int(arguments + 1))) }
            return nil
        }
    }
}

/// A titled list of rows on a page of preferences.
package final class Group: Widget {
    package func add(_ row: Widget) { adw_preferences_group_add(pointer(), row.widget) }
}
