import CAdw
import Holdfast
package import SecretMemory

extension Clipboard {
    /// Reads an image that was copied, such as a screenshot, as the other program writes it: nothing of it is decoded
    /// here.
    /// - Parameters:
    ///   - limit: Bytes of it.
    ///   - take: Called once; with nil where no PNG or JPEG image is copied, or a larger one.
    package func readImage(limit: Int, _ take: @escaping (consuming SecretBytes?) -> Void) {
        let reading = CopiedImage(limit: limit, take)
        let kinds: [UnsafeMutablePointer<CChar>?] = ["image/png", "image/jpeg"].map { (kind: String) in strdup(kind) }
        defer { kinds.forEach { free($0) } }
        var names: [UnsafePointer<CChar>?] = kinds.map { $0.map { UnsafePointer($0) } } + [nil]
        gdk_clipboard_read_async(
            clipboard.opaque, &names, G_PRIORITY_DEFAULT, nil,
            { clipboard, result, context in
                nonisolated(unsafe) let (clipboard, result, context) = (clipboard, result, context)
                MainActor.assumeIsolated {
                    let reading = Unmanaged<CopiedImage>.fromOpaque(context!).takeRetainedValue()
                    let stream = gdk_clipboard_read_finish(OpaquePointer(clipboard), result, nil, nil)
                    guard let stream else { return reading.end(false) }
                    let held = Object(stream)
                    g_object_unref(stream)
                    reading.read(held)
                }
            }, Unmanaged.passRetained(reading).toOpaque())
    }
}

/// An image that comes from the clipboard, piece by piece.
private final class CopiedImage {
    private var image: SecretBuffer
    private var take: ((consuming SecretBytes?) -> Void)?

    init(limit: Int, _ take: @escaping (consuming SecretBytes?) -> Void) {
        image = SecretBuffer(limit: limit)
        self.take = take
    }

    /// Asks for the next piece.
    func read(_ stream: Object) {
        g_input_stream_read_bytes_async(
            stream.pointer(), 65_536, G_PRIORITY_DEFAULT, nil,
            { stream, result, context in
                nonisolated(unsafe) let (stream, result, context) = (stream!, result, context)
                MainActor.assumeIsolated {
                    let reading = Unmanaged<CopiedImage>.fromOpaque(context!).takeRetainedValue()
                    let held = Object(stream)
                    guard let piece = g_input_stream_read_bytes_finish(held.pointer(), result, nil) else {
                        return reading.end(false)
                    }
                    defer { g_bytes_unref(piece) }
                    var count: gsize = 0
                    guard let start = g_bytes_get_data(piece, &count), count > 0 else { return reading.end(true) }
                    let bytes = RawSpan(_unsafeStart: start, byteCount: Int(count))
                    guard reading.append(bytes) else { return reading.end(false) }
                    reading.read(held)
                }
            }, Unmanaged.passRetained(self).toOpaque())
    }

    private func append(_ piece: RawSpan) -> Bool { (try? image.append(piece)) != nil }

    /// Gives what came, if all of it did.
    func end(_ isWhole: Bool) {
        let take = take
        self.take = nil
        take?(isWhole && image.count > 0 ? try? image.bytes() : nil)
    }
}
