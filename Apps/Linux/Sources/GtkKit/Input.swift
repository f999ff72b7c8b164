import CAdw

/// What comes in at a descriptor, on the main thread.
package final class Input {
    private let descriptor: Int32
    private let action: () -> Void
    private var source: guint = 0

    /// - Parameter action: Called when something can be read, or when the other end has been closed, until ``end()``.
    package init(_ descriptor: Int32, _ action: @escaping () -> Void) {
        self.descriptor = descriptor
        self.action = action
        let conditions = GIOCondition(rawValue: G_IO_IN.rawValue | G_IO_HUP.rawValue | G_IO_ERR.rawValue)
        source = g_unix_fd_add_full(
            G_PRIORITY_DEFAULT, descriptor, conditions,
            { _, _, data in
                nonisolated(unsafe) let data = data!
                return MainActor.assumeIsolated {
                    let input = Unmanaged<Input>.fromOpaque(data).takeUnretainedValue()
                    input.action()
                    return input.source == 0 ? 0 : 1
                }
            }, Unmanaged.passUnretained(self).toOpaque(), nil)
    }

    /// Nothing is told any more.
    package func end() { source = 0 }

    /// What can be read now; empty when the other end has been closed.
    package func take() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 1024)
        let count = read(descriptor, &bytes, bytes.count)
        return count > 0 ? Array(bytes[..<count]) : []
    }
}
