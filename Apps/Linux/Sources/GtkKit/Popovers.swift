import CAdw

/// A button that opens a small window over its page.
package final class MenuButton: Widget {
    package convenience init(icon: String, label: String, content: Widget) {
        self.init(gtk_menu_button_new()!)
        gtk_menu_button_set_icon_name(opaque, icon)
        gtk_widget_set_tooltip_text(widget, label)
        gtk_widget_set_valign(widget, GTK_ALIGN_CENTER)
        setClass("flat", true)
        let popover = Widget(gtk_popover_new()!)
        gtk_popover_set_child(popover.pointer(), content.widget)
        gtk_menu_button_set_popover(opaque, popover.widget)
        addLockKeys()
        accessibleLabel(label)
    }

    private var popover: Widget? {
        gtk_menu_button_get_popover(opaque).map { Widget(borrowing: UnsafeMutableRawPointer($0)) }
    }
    /// Whether it is open.
    package var isOpen: Bool { popover?.isVisible ?? false }
    package func close() { gtk_menu_button_popdown(opaque) }
    package func onChange(_ action: @escaping (_ isOpen: Bool) -> Void) {
        popover?.on("notify::visible") { [weak self] in if let self { action(isOpen) } }
    }
}

/// Widgets below each other.
package final class Column: Widget {
    package convenience init(spacing: Int32, margin: Int32 = 0) {
        self.init(gtk_box_new(GTK_ORIENTATION_VERTICAL, spacing)!)
        gtk_widget_set_margin_top(widget, margin)
        gtk_widget_set_margin_bottom(widget, margin)
        gtk_widget_set_margin_start(widget, margin)
        gtk_widget_set_margin_end(widget, margin)
    }
    package func append(_ child: Widget) { gtk_box_append(pointer(), child.widget) }
    package func width(_ pixels: Int32) { gtk_widget_set_size_request(widget, pixels, -1) }
}

extension ListBox {
    /// A list whose rows look as those of a card.
    package static func card(_ name: String) -> ListBox {
        let list = ListBox(gtk_list_box_new()!)
        gtk_list_box_set_selection_mode(list.opaque, GTK_SELECTION_NONE)
        list.setClass("boxed-list", true)
        list.accessibleLabel(name)
        return list
    }
}

extension LevelBar {
    /// A bar of so many steps.
    package static func steps(_ count: Int, _ name: String) -> LevelBar {
        let bar = LevelBar(gtk_level_bar_new_for_interval(0, Double(count))!)
        gtk_level_bar_set_mode(bar.opaque, GTK_LEVEL_BAR_MODE_DISCRETE)
        bar.accessibleLabel(name)
        return bar
    }
}

extension Label {
    /// A text that breaks its lines anywhere, as one that has no words.
    package static func wrapping(_ style: String) -> Label {
        let label = Label("")
        gtk_label_set_wrap(label.opaque, 1)
        gtk_label_set_wrap_mode(label.opaque, PANGO_WRAP_WORD_CHAR)
        gtk_label_set_xalign(label.opaque, 0)
        gtk_label_set_max_width_chars(label.opaque, 30)
        label.setClass(style, true)
        return label
    }
}

extension TextView {
    /// Several lines of text as a row of a list, below what they are called; and what can be put beside that.
    package static func row(_ title: String, beside: Widget? = nil) -> (row: Widget, text: TextView) {
        let text = TextView(gtk_text_view_new()!)
        gtk_text_view_set_wrap_mode(text.pointer(), GTK_WRAP_WORD_CHAR)
        gtk_text_view_set_accepts_tab(text.pointer(), 0)
        text.accessibleLabel(title)
        text.setClass("lines", true)
        let scrolled = Widget(gtk_scrolled_window_new()!)
        gtk_scrolled_window_set_child(scrolled.opaque, text.widget)
        gtk_scrolled_window_set_propagate_natural_height(scrolled.opaque, 1)
        gtk_scrolled_window_set_min_content_height(scrolled.opaque, 66)
        gtk_scrolled_window_set_max_content_height(scrolled.opaque, 220)
        let head = Widget(gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6)!)
        let name = Label(title)
        gtk_label_set_xalign(name.opaque, 0)
        gtk_widget_set_hexpand(name.widget, 1)
        name.setClass("caption", true)
        name.setClass("dim-label", true)
        gtk_box_append(head.pointer(), name.widget)
        if let beside { gtk_box_append(head.pointer(), beside.widget) }
        let box = Column(spacing: 6, margin: 12)
        box.append(head)
        box.append(scrolled)
        let row = Widget(gtk_list_box_row_new()!)
        gtk_list_box_row_set_child(row.pointer(), box.widget)
        gtk_list_box_row_set_activatable(row.pointer(), 0)
        gtk_widget_set_focusable(row.widget, 0)
        row.accessibleLabel(title)
        return (row, text)
    }
}

extension Widget {
    /// Has the keys that lock do so while the window of a menu button is open: it keeps all keys to itself.
    package func addLockKeys() {
        guard let popover = gtk_menu_button_get_popover(opaque) else { return }
        let controller = gtk_shortcut_controller_new()!
        gtk_event_controller_set_propagation_phase(controller, GTK_PHASE_CAPTURE)
        for (keys, action) in [("<Control>l", "app.lock"), ("<Control><Shift>l", "app.panic")] {
            gtk_shortcut_controller_add_shortcut(
                controller,
                gtk_shortcut_new(gtk_shortcut_trigger_parse_string(keys), gtk_named_action_new(action)))
        }
        gtk_widget_add_controller(
            UnsafeMutableRawPointer(popover).assumingMemoryBound(to: GtkWidget.self), controller)
    }
}
