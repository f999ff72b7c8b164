internal import CAdw

/// What a ``ListView`` shows one thing with; it is used for another one once that is scrolled away.
@MainActor package protocol ListRow: AnyObject {
    init()
    /// The row's widget.
    var root: Widget { get }
    /// Which of the list it shows.
    var index: Int { get set }
    /// Forgets what it shows.
    func clear()
}

/// A list of any length: only as many rows are made as are seen. GTK is told how many there are and nothing else; what
/// they show stays with the program.
package final class ListView<Row: ListRow>: Widget {
    private let positions = ListView.owned(gtk_string_list_new(nil))
    /// The rows that show something, by the list item that they are in.
    private var bound: [UnsafeMutableRawPointer: Row] = [:]
    private var made: [UnsafeMutableRawPointer: Row] = [:]
    private var show: (Row, Int) -> Void = { _, _ in }

    /// - Parameters:
    ///   - prepare: Called once for each row that is made.
    ///   - show: Has a row show one of the list.
    ///   - activate: Called for the one that is clicked, or chosen with the keyboard.
    package func begin(
        _ prepare: @escaping (Row) -> Void, _ show: @escaping (Row, Int) -> Void, _ activate: @escaping (Int) -> Void
    ) {
        self.show = show
        let factory = Object(gtk_signal_list_item_factory_new()!)
        g_object_unref(factory.raw)
        factory.onItem("setup") { [weak self] item in
            guard let self else { return }
            let row = Row()
            made[item] = row
            prepare(row)
            gtk_list_item_set_child(OpaquePointer(item), row.root.widget)
        }
        factory.onItem("bind") { [weak self] item in
            guard let self, let row = made[item] else { return }
            bound[item] = row
            row.index = Int(gtk_list_item_get_position(OpaquePointer(item)))
            show(row, row.index)
        }
        factory.onItem("unbind") { [weak self] item in self?.bound.removeValue(forKey: item)?.clear() }
        factory.onItem("teardown") { [weak self] item in self?.made.removeValue(forKey: item) }
        let selection = gtk_no_selection_new(OpaquePointer(g_object_ref(positions.raw)))!
        gtk_list_view_set_factory(opaque, factory.opaque)
        gtk_list_view_set_model(opaque, selection)
        g_object_unref(UnsafeMutableRawPointer(selection))
        gtk_list_view_set_single_click_activate(opaque, 1)
        onEmission("activate") { arguments, count in
            if count > 1 { activate(Int(g_value_get_uint(arguments + 1))) }
            return nil
        }
    }

    /// How many there are, or that they are others than before.
    package func show(_ count: Int) {
        let before = Int(g_list_model_get_n_items(positions.opaque))
        if count < before {
            gtk_string_list_splice(positions.opaque, guint(count), guint(before - count), nil)
        } else if count > before {
            let empty = strdup("")
            defer { free(empty) }
            var texts = [UnsafePointer<CChar>?](repeating: empty, count: count - before) + [nil]
            gtk_string_list_splice(positions.opaque, guint(before), 0, &texts)
        }
        refresh()
    }

    /// Shows anew what is seen.
    package func refresh() { for row in bound.values { show(row, row.index) } }

    /// Goes to its beginning.
    package func scrollUp() { if !bound.isEmpty { cadw_scroll_to(widget, 0) } }

    private static func owned(_ made: OpaquePointer) -> Object {
        let object = Object(made)
        g_object_unref(object.raw)
        return object
    }
}

extension Object {
    fileprivate func onItem(_ signal: String, _ action: @escaping (UnsafeMutableRawPointer) -> Void) {
        onEmission(signal) { arguments, count in
            if count > 1, let item = g_value_get_object(arguments + 1) { action(item) }
            return nil
        }
    }
}

/// A picture of a name: its first letters, or an icon, on a colour that follows from it.
package final class Avatar: Widget {
    package convenience init(size: Int32) { self.init(adw_avatar_new(size, nil, 1)!) }

    /// - Parameter icon: In place of the letters.
    package func show(_ name: String, icon: String?) {
        adw_avatar_set_text(opaque, name)
        adw_avatar_set_icon_name(opaque, icon)
        adw_avatar_set_show_initials(opaque, icon == nil ? 1 : 0)
    }
}

/// A box that is on or off, for the eye: what it stands for says that itself.
package final class CheckMark: Widget {
    package convenience init() {
        self.init(gtk_check_button_new()!)
        gtk_widget_set_can_target(widget, 0)
        gtk_widget_set_can_focus(widget, 0)
    }
    package var isOn: Bool {
        get { gtk_check_button_get_active(pointer()) != 0 }
        set { gtk_check_button_set_active(pointer(), newValue ? 1 : 0) }
    }
}

extension Widget {
    /// A click while Control is held down, before anybody else takes it for a click.
    package func onControlClick(_ action: @escaping () -> Void) {
        let gesture = gtk_gesture_click_new()!
        gtk_event_controller_set_propagation_phase(gesture, GTK_PHASE_CAPTURE)
        gtk_widget_add_controller(widget, gesture)
        Object(gesture).onEmission("pressed") { _, _ in
            guard gtk_event_controller_get_current_event_state(gesture).rawValue & GDK_CONTROL_MASK.rawValue != 0 else {
                return nil
            }
            gtk_gesture_set_state(gesture, GTK_EVENT_SEQUENCE_CLAIMED)
            action()
            return nil
        }
    }
}
