internal import CSystemd

/// The answer to a call, or a signal, built from front to back. What cannot be added makes it one that is not sent.
@safe package final class BusReply {
    private let message: OpaquePointer
    private let bus: SystemBus
    private var isWhole = true

    init?(to call: BusMessage, _ bus: SystemBus) {
        var made: OpaquePointer?
        guard unsafe bus.systemd.call.message_new_method_return(call.message, &made) >= 0, let made = unsafe made else {
            return nil
        }
        unsafe message = made
        self.bus = bus
        // Overwritten when it was sent: it may hold a secret.
        unsafe _ = bus.systemd.call.message_sensitive(message)
    }

    /// A signal.
    /// - Parameter client: The only one that is told; nil for all who listen.
    init?(signal member: String, of interface: String, on path: String, to client: String?, _ bus: SystemBus) {
        var made: OpaquePointer?
        guard unsafe bus.systemd.call.message_new_signal(bus.bus, &made, path, interface, member) >= 0,
            let made = unsafe made
        else { return nil }
        unsafe message = made
        self.bus = bus
        if let client { note(unsafe bus.systemd.call.message_set_destination(message, client)) }
    }

    deinit { unsafe _ = bus.systemd.call.message_unref(message) }

    private func note(_ status: Int32) { if status < 0 { isWhole = false } }

    package func text(_ text: String) { basic("s", text) }

    package func path(_ path: String) { basic("o", path) }

    private func basic(_ type: Unicode.Scalar, _ text: String) {
        note(
            unsafe text.withCString { text in
                unsafe bus.systemd.call.message_append_basic(message, CChar(UInt8(ascii: type)), text)
            })
    }

    package func flag(_ value: Bool) {
        var value: Int32 = value ? 1 : 0
        note(unsafe bus.systemd.call.message_append_basic(message, CChar(UInt8(ascii: "b")), &value))
    }

    /// An unsigned number of 64 bits.
    package func number(_ value: UInt64) {
        var value = value
        note(unsafe bus.systemd.call.message_append_basic(message, CChar(UInt8(ascii: "t")), &value))
    }

    /// An array of bytes.
    package func bytes(_ bytes: RawSpan) {
        note(
            unsafe bytes.withUnsafeBytes { bytes in
                unsafe bus.systemd.call.message_append_array(
                    message, CChar(UInt8(ascii: "y")), bytes.baseAddress, bytes.count)
            })
    }

    /// Adds an array (`a`), a structure (`r`), an entry of a dictionary (`e`) or a variant (`v`) with what the closure
    /// adds.
    package func container(_ type: Unicode.Scalar, _ contents: String, _ body: () -> Void) {
        note(
            unsafe contents.withCString { contents in
                unsafe bus.systemd.call.message_open_container(message, CChar(UInt8(ascii: type)), contents)
            })
        guard isWhole else { return }
        body()
        guard isWhole else { return }
        note(unsafe bus.systemd.call.message_close_container(message))
    }

    /// - Returns: False when it was not whole, and was not sent.
    @discardableResult
    package func send() -> Bool {
        guard isWhole else { return false }
        return unsafe bus.systemd.call.send(bus.bus, message, nil) >= 0
    }

    static func fail(_ call: BusMessage, _ bus: SystemBus, _ name: String, _ words: String) {
        unsafe name.withCString { name in
            unsafe words.withCString { words in
                var error = unsafe sd_bus_error(name: name, message: words, _need_free: 0)
                var made: OpaquePointer?
                guard unsafe bus.systemd.call.message_new_method_error(call.message, &made, &error) >= 0,
                    let made = unsafe made
                else { return }
                unsafe _ = bus.systemd.call.send(bus.bus, made, nil)
                unsafe _ = bus.systemd.call.message_unref(made)
            }
        }
    }
}
