import CAdw
import Dispatch  // autolinks libdispatch, whose queue `cadw_attach_main_queue` drains

/// The program: its loop, its actions and their keys.
package final class Application: Object {
    /// - Parameter isUnique: Whether a second start only raises the window of the first.
    package convenience init(id: String, isUnique: Bool) {
        self.init(adw_application_new(id, isUnique ? GApplicationFlags(rawValue: 0) : G_APPLICATION_NON_UNIQUE)!)
    }

    /// Runs GTK's loop on this thread until the last window closes. Main-actor tasks run from the same loop.
    package func run(_ activate: @escaping () -> Void) -> Int32 {
        let source = cadw_attach_main_queue()
        defer { g_source_remove(source) }
        on("activate", activate)
        return g_application_run(pointer(), 0, nil)
    }

    package func quit() { g_application_quit(pointer()) }

    /// An action by name, with the keys that start it.
    package func action(_ name: String, keys: [String], _ body: @escaping () -> Void) -> Action {
        let made = Action(g_simple_action_new(name, nil)!)
        made.on("activate", body)
        g_action_map_add_action(opaque, made.opaque)
        g_object_unref(made.raw)
        let names = keys.map { strdup($0) }
        defer { names.forEach { free($0) } }
        var list = names.map { UnsafePointer<CChar>($0) } + [nil]
        gtk_application_set_accels_for_action(pointer(), "app.\(name)", &list)
        return made
    }

    /// An action with one of several values, as a menu shows them.
    package func choice(_ name: String, _ value: String, _ chosen: @escaping (String) -> Void) -> Action {
        let type = g_variant_type_new("s")!
        defer { g_variant_type_free(type) }
        let made = Action(g_simple_action_new_stateful(name, type, g_variant_new_string(value))!)
        made.onEmission("change-state") { arguments, count in
            if count > 1, let value = g_value_get_variant(arguments + 1) {
                chosen(String(cString: g_variant_get_string(value, nil)))
            }
            return nil
        }
        g_action_map_add_action(opaque, made.opaque)
        g_object_unref(made.raw)
        return made
    }

    package func addStyle(_ css: [UInt8]) {
        let provider = gtk_css_provider_new()!
        css.withUnsafeBufferPointer { bytes in
            bytes.withMemoryRebound(to: CChar.self) {
                gtk_css_provider_load_from_data(provider, $0.baseAddress, gssize($0.count))
            }
        }
        gtk_style_context_add_provider_for_display(
            gdk_display_get_default(), OpaquePointer(provider), guint(GTK_STYLE_PROVIDER_PRIORITY_APPLICATION))
        g_object_unref(provider)
    }

    /// Where icons are looked for beside the system's places.
    package func addIcons(_ folder: String) {
        gtk_icon_theme_add_search_path(gtk_icon_theme_get_for_display(gdk_display_get_default()), folder)
    }
}

/// Something that a menu or a key starts.
package final class Action: Object {
    package var isEnabled: Bool {
        get { g_action_get_enabled(opaque) != 0 }
        set { g_simple_action_set_enabled(opaque, newValue ? 1 : 0) }
    }
}

extension Action {
    /// Which of several values it has now.
    package func choose(_ value: String) { g_simple_action_set_state(opaque, g_variant_new_string(value)) }
}

/// A top-level window.
package final class Window: Widget {
    package func setApplication(_ app: Application) { gtk_window_set_application(pointer(), app.pointer()) }
    package func present() { gtk_window_present(pointer()) }
    /// Has the system open an address, in a browser for example.
    package func open(_ address: String) { gtk_show_uri(pointer(), address, guint32(GDK_CURRENT_TIME)) }
    package func close() { gtk_window_close(pointer()) }
    package var isActive: Bool { bool("is-active") }
    package var isMinimised: Bool { cadw_is_minimised(widget) != 0 }
    /// Takes the keyboard away from whatever has it: a focused entry that is hidden keeps half its focus otherwise.
    package func dropFocus() { gtk_window_set_focus(pointer(), nil) }
    package func setModalParent(_ parent: Window) {
        gtk_window_set_transient_for(pointer(), parent.pointer())
        gtk_window_set_modal(pointer(), 1)
    }

    /// Called when the window system changes its state; the window must be on the screen.
    package func onSurfaceState(_ action: @escaping () -> Void) {
        cadw_surface_on_state(
            widget,
            makeClosure { _, _ in
                action()
                return nil
            })
    }

    /// Called for each thing that the person in front does: keys, pointer, touch.
    package func onActivity(_ action: @escaping () -> Void) {
        let controller = gtk_event_controller_legacy_new()!
        gtk_event_controller_set_propagation_phase(controller, GTK_PHASE_CAPTURE)
        gtk_widget_add_controller(widget, controller)
        Object(controller).onEmission("event") { _, _ in
            action()
            return false
        }
    }

    /// Called once, when the first frame is on the screen.
    package func onFirstFrame(_ action: @escaping () -> Void) {
        guard let clock = gtk_widget_get_frame_clock(widget) else { return }
        var isDone = false
        Object(clock).on("after-paint") {
            guard !isDone else { return }
            isDone = true
            action()
        }
    }

    /// Called once, when what is shown now is on the screen.
    package func onNextFrame(_ action: @escaping () -> Void) {
        let once = Once(action)
        gtk_widget_add_tick_callback(
            widget,
            { widget, clock, data in
                nonisolated(unsafe) let (clock, data) = (clock!, data!)
                MainActor.assumeIsolated {
                    let once = Unmanaged<Once>.fromOpaque(data).takeUnretainedValue()
                    Object(clock).on("after-paint") { once.run() }
                }
                return 0
            }, Unmanaged.passRetained(once).toOpaque(), { Unmanaged<AnyObject>.fromOpaque($0!).release() })
        gtk_widget_queue_draw(widget)
    }

    /// Asks for a file. The dialog is a window of its own: whoever covers this window calls `FileDialog.close()`.
    package func chooseFile(
        _ title: String, saveAs name: String? = nil, _ chosen: @escaping (String?) -> Void
    ) -> FileDialog {
        FileDialog(title, self, name == nil ? GTK_FILE_CHOOSER_ACTION_OPEN : GTK_FILE_CHOOSER_ACTION_SAVE, name, chosen)
    }

    /// As ``chooseFile(_:saveAs:_:)``, for a folder.
    package func chooseFolder(_ title: String, _ chosen: @escaping (String?) -> Void) -> FileDialog {
        FileDialog(title, self, GTK_FILE_CHOOSER_ACTION_SELECT_FOLDER, nil, chosen)
    }
}

/// A dialog that asks for a file.
package final class FileDialog {
    private let native: Object
    private var chosen: ((String?) -> Void)?

    init(
        _ title: String, _ parent: Window, _ action: GtkFileChooserAction, _ name: String?,
        _ chosen: @escaping (String?) -> Void
    ) {
        let made = cadw_file_chooser(title, parent.pointer(), action)!
        native = Object(made)
        g_object_unref(native.raw)
        self.chosen = chosen
        gtk_native_dialog_set_modal(native.pointer(), 1)
        if let name { gtk_file_chooser_set_current_name(native.opaque, name) }
        native.onEmission("response") { [weak self] arguments, count in
            let isAccepted = count > 1 && g_value_get_int(arguments + 1) == GTK_RESPONSE_ACCEPT.rawValue
            self?.end(isAccepted)
            return nil
        }
        gtk_native_dialog_show(native.pointer())
    }

    package func close() {
        gtk_native_dialog_hide(native.pointer())
        end(false)
    }

    private func end(_ isAccepted: Bool) {
        guard let chosen else { return }
        self.chosen = nil
        var path: String?
        if isAccepted, let file = gtk_file_chooser_get_file(native.opaque) {
            if let text = g_file_get_path(file) {
                path = String(cString: text)
                g_free(text)
            }
            g_object_unref(UnsafeMutableRawPointer(file))
        }
        gtk_native_dialog_hide(native.pointer())
        chosen(path)
    }
}

/// An action that runs once.
private final class Once {
    private var action: (() -> Void)?
    init(_ action: @escaping () -> Void) { self.action = action }

    func run() {
        let action = action
        self.action = nil
        action?()
    }
}
