import CAdw

extension Widget {
    /// Files that are dragged here from another program come as their paths; what has none, as on another machine, is
    /// left out.
    /// - Parameter takes: Whether they were taken.
    package func onDrop(_ takes: @escaping ([String]) -> Bool) {
        let target = gtk_drop_target_new(gdk_file_list_get_type(), GDK_ACTION_COPY)!
        gtk_widget_add_controller(widget, target)
        Object(target).onEmission("drop") { arguments, count in
            guard count > 1, let names = cadw_dropped_paths(arguments + 1) else { return false }
            defer { g_strfreev(names) }
            var paths: [String] = []
            while let name = names[paths.count] { paths.append(String(cString: name)) }
            return takes(paths)
        }
    }
}
