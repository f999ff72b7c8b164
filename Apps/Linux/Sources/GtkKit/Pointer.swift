import CAdw

extension Widget {
    /// Whether the session has a touch screen, where nothing can be pointed at before it is chosen.
    package static var isTouched: Bool {
        guard let seat = gdk_display_get_default_seat(gdk_display_get_default()) else { return false }
        return gdk_seat_get_capabilities(seat).rawValue & GDK_SEAT_CAPABILITY_TOUCH.rawValue != 0
    }

    /// Called when a finger touches it or anything in it; what is touched still gets that.
    package func onTouch(_ action: @escaping () -> Void) {
        let gesture = Object(gtk_gesture_click_new()!)
        gtk_gesture_single_set_touch_only(gesture.opaque, 1)
        gtk_event_controller_set_propagation_phase(gesture.opaque, GTK_PHASE_CAPTURE)
        gesture.on("pressed", action)
        // The widget takes the first reference.
        g_object_ref(gesture.raw)
        gtk_widget_add_controller(widget, gesture.opaque)
    }

    package func tooltip(_ text: String) { gtk_widget_set_tooltip_text(widget, text) }
}

extension Row {
    /// Widgets at the end of the row, as one, of a style class.
    package func addSuffixes(_ children: [Widget], styled name: String) {
        let box = Widget(gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0)!)
        box.setClass(name, true)
        for child in children { gtk_box_append(box.pointer(), child.widget) }
        addSuffix(box)
    }

    /// Shows an address below the title that opens when it is chosen. The caller knows that it is one of the web.
    package func showLink(_ address: String, title: String) {
        let (shown, name) = (g_markup_escape_text(address, -1)!, g_markup_escape_text(title, -1)!)
        defer {
            g_free(shown)
            g_free(name)
        }
        let text = String(cString: shown)
        // Both texts are read in the same way.
        adw_preferences_row_set_use_markup(pointer(), 1)
        adw_preferences_row_set_title(pointer(), name)
        adw_action_row_set_subtitle(pointer(), "<a href=\"\(text)\">\(text)</a>")
    }
}

extension Editable {
    /// The key that goes down from it.
    package func onDown(_ action: @escaping () -> Void) {
        let controller = gtk_event_controller_key_new()!
        gtk_event_controller_set_propagation_phase(controller, GTK_PHASE_CAPTURE)
        gtk_widget_add_controller(widget, controller)
        Object(controller).onEmission("key-pressed") { arguments, count in
            guard count > 1, g_value_get_uint(arguments + 1) == guint(GDK_KEY_Down) else { return false }
            action()
            return true
        }
    }
}
