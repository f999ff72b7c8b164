import CAdw

extension Widget {
    /// A picture of it at a sixteenth of its size: nothing legible is left in it, nor kept in memory, and scaling it up
    /// again does most of the blurring.
    package func illegiblePicture() -> Object? {
        let scale: Float = 1 / 16
        let (width, height) = (Float(gtk_widget_get_width(widget)), Float(gtk_widget_get_height(widget)))
        guard width > 0, height > 0, let native = gtk_widget_get_native(widget),
            let renderer = gtk_native_get_renderer(native), let live = gtk_widget_paintable_new(widget)
        else { return nil }
        defer { g_object_unref(UnsafeMutableRawPointer(live)) }
        let snapshot = gtk_snapshot_new()!
        // Blurred once, here: a filter of the style would be computed anew whenever the caret blinks.
        gtk_snapshot_push_blur(snapshot, 1.5)
        gtk_snapshot_scale(snapshot, scale, scale)
        gdk_paintable_snapshot(live, snapshot, Double(width), Double(height))
        gtk_snapshot_pop(snapshot)
        guard let node = gtk_snapshot_free_to_node(snapshot) else { return nil }
        defer { gsk_render_node_unref(node) }
        var bounds = graphene_rect_t()
        graphene_rect_init(&bounds, 0, 0, width * scale, height * scale)
        guard let texture = gsk_renderer_render_texture(renderer, node, &bounds) else { return nil }
        defer { g_object_unref(UnsafeMutableRawPointer(texture)) }
        return Object(texture)
    }
}

package final class Picture: Widget {
    package func show(_ paintable: Object?) { gtk_picture_set_paintable(opaque, paintable?.opaque) }
}

extension Picture {
    /// Shows a PNG or JPEG picture.
    /// - Returns: False for what is none.
    package func show(encoded bytes: RawSpan) -> Bool {
        guard let texture = bytes.withUnsafeBytes({ cadw_texture($0.baseAddress, gsize($0.count)) }) else {
            return false
        }
        gtk_picture_set_paintable(opaque, texture)
        g_object_unref(UnsafeMutableRawPointer(texture))
        return true
    }

    /// Shows a square of dark and light modules, each a whole number of pixels, so that its edges stay sharp.
    /// - Parameters:
    ///   - modules: In a row, the light margin included.
    ///   - size: Pixels that it should fill at least.
    package func show(modules: Int, size: Int, isDark: (_ row: Int, _ column: Int) -> Bool) {
        let scale = max(2, (size + modules - 1) / modules)
        let width = modules * scale
        var pixels = [UInt8](repeating: 255, count: width * width * 3)
        for row in 0..<modules {
            for column in 0..<modules where isDark(row, column) {
                for line in row * scale..<(row + 1) * scale {
                    let start = (line * width + column * scale) * 3
                    for offset in start..<start + scale * 3 { pixels[offset] = 0 }
                }
            }
        }
        let bytes = pixels.withUnsafeBytes { g_bytes_new($0.baseAddress, gsize($0.count)) }
        defer { g_bytes_unref(bytes) }
        let texture = gdk_memory_texture_new(Int32(width), Int32(width), GDK_MEMORY_R8G8B8, bytes, gsize(width * 3))!
        defer { g_object_unref(UnsafeMutableRawPointer(texture)) }
        gtk_picture_set_paintable(opaque, texture)
        gtk_widget_set_size_request(widget, Int32(width), Int32(width))
    }
}
