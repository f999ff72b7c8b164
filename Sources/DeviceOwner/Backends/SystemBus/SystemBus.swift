internal import CSystemd
internal import SystemCalls

/// Where a bus is. The system bus is named by its own path and never by the environment: otherwise anyone who can set a
/// variable could answer for a sensor.
package struct BusAddress: Sendable, Hashable {
    /// As D-Bus writes it: `unix:path=...`.
    package let text: String

    package init(_ text: String) { self.text = text }

    /// The machine's own.
    package static let system = BusAddress("unix:path=/run/dbus/system_bus_socket")
}

/// What went wrong on a bus.
struct BusFailure: Error, Hashable {
    /// `org.freedesktop.DBus.Error...`, or empty.
    let name: String
    /// The positive error number.
    let number: Int32

    /// The name has no owner, or its owner went away.
    var isGone: Bool {
        [
            "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner",
            "org.freedesktop.DBus.Error.UnknownMethod", "org.freedesktop.DBus.Error.UnknownObject",
            "org.freedesktop.DBus.Error.Disconnected",
        ].contains(name) || number == ENOTCONN || number == ECONNRESET
    }

    /// It is there and does not answer.
    var isSilence: Bool {
        number == ETIMEDOUT || name == "org.freedesktop.DBus.Error.NoReply"
            || name == "org.freedesktop.DBus.Error.Timeout"
    }
}

/// The functions of libsystemd, loaded when a bus is needed for the first time.
@safe struct Systemd: @unchecked Sendable {  // written once, before it is shared
    let call: csystemd

    static let loaded: Systemd? = {
        var table = csystemd()
        guard unsafe csystemd_load(&table) == 1 else { return nil }
        return Systemd(call: table)
    }()
}

/// One connection, used by one thread at a time.
@safe final class SystemBus {
    let systemd: Systemd
    let bus: OpaquePointer

    /// Connects, without waiting for more than the bus's own greeting.
    /// - Throws: ``BusFailure``.
    convenience init(_ address: BusAddress) throws(BusFailure) {
        try unsafe self.init { systemd, bus in
            var status = unsafe systemd.call.new(&bus)
            if status >= 0 { status = unsafe systemd.call.set_address(bus, address.text) }
            if status >= 0 { status = unsafe systemd.call.set_bus_client(bus, 1) }
            return status >= 0 ? unsafe systemd.call.start(bus) : status
        }
    }

    /// The user's session bus, as the environment names it: what comes from there can only lock.
    convenience init(session: Void) throws(BusFailure) {
        try unsafe self.init { systemd, bus in unsafe systemd.call.open_user(&bus) }
    }

    private init(_ open: (Systemd, inout OpaquePointer?) -> Int32) throws(BusFailure) {
        guard let systemd = Systemd.loaded else { throw BusFailure(name: "", number: ENOENT) }
        var opened: OpaquePointer?
        let status = unsafe open(systemd, &opened)
        guard status >= 0, let bus = unsafe opened else {
            if let bus = unsafe opened { unsafe _ = systemd.call.close_unref(bus) }
            throw BusFailure(name: "", number: -status)
        }
        self.systemd = systemd
        unsafe self.bus = bus
    }

    deinit { unsafe _ = systemd.call.close_unref(bus) }

    /// For `poll(2)`; what is waited for is told by ``events``.
    var descriptor: Int32 { unsafe systemd.call.get_fd(bus) }

    var events: Int16 { Int16(truncatingIfNeeded: unsafe systemd.call.get_events(bus)) }

    /// An argument of a call.
    enum Argument {
        case text(String)
        case path(String)
        case number(UInt32)
        case paths([String])
        /// A variant of bytes.
        case bytes([UInt8])
    }

    /// Where a call goes.
    struct Target {
        let service: String
        let path: String
        let interface: String
    }

    /// Calls and waits for the answer.
    /// - Parameter patience: Milliseconds.
    /// - Throws: ``BusFailure``.
    @discardableResult
    func call(
        _ target: Target, _ member: String, _ arguments: [Argument] = [], patience: UInt64
    ) throws(BusFailure) -> BusMessage {
        var made: OpaquePointer?
        var status = unsafe systemd.call.message_new_method_call(
            bus, &made, target.service, target.path, target.interface, member)
        guard status >= 0, let message = unsafe made else { throw BusFailure(name: "", number: -status) }
        defer { unsafe _ = systemd.call.message_unref(message) }
        for argument in arguments {
            switch argument {
            case .text(let text): status = unsafe append(message, "s", text)
            case .path(let path): status = unsafe append(message, "o", path)
            case .number(var number):
                status = unsafe systemd.call.message_append_basic(message, CChar(UInt8(ascii: "u")), &number)
            case .paths(let paths):
                status = unsafe container(message, "a", "o") {
                    for path in paths {
                        let status = unsafe append(message, "o", path)
                        guard status >= 0 else { return status }
                    }
                    return 0
                }
            case .bytes(let bytes):
                status = unsafe container(message, "v", "ay") {
                    unsafe bytes.withUnsafeBufferPointer { bytes in
                        unsafe systemd.call.message_append_array(
                            message, CChar(UInt8(ascii: "y")), bytes.baseAddress, bytes.count)
                    }
                }
            }
            guard status >= 0 else { throw BusFailure(name: "", number: -status) }
        }
        var error = unsafe sd_bus_error()
        defer { unsafe systemd.call.error_free(&error) }
        var reply: OpaquePointer?
        status = unsafe systemd.call.call(bus, message, patience * 1000, &error, &reply)
        guard status >= 0, let reply = unsafe reply else {
            let name = unsafe error.name.map { unsafe String(cString: $0) } ?? ""
            throw BusFailure(name: name, number: -status)
        }
        return unsafe BusMessage(owning: reply, systemd)
    }

    private func append(_ message: OpaquePointer, _ type: Unicode.Scalar, _ text: String) -> Int32 {
        unsafe text.withCString { unsafe systemd.call.message_append_basic(message, CChar(UInt8(ascii: type)), $0) }
    }

    private func container(
        _ message: OpaquePointer, _ type: Unicode.Scalar, _ contents: String, _ body: () -> Int32
    ) -> Int32 {
        var status = unsafe systemd.call.message_open_container(message, CChar(UInt8(ascii: type)), contents)
        if status >= 0 { status = body() }
        return status >= 0 ? unsafe systemd.call.message_close_container(message) : status
    }

    /// Asks the bus for signals; they come out of ``next()``.
    func subscribe(_ rule: String, patience: UInt64) throws(BusFailure) {
        try call(.bus, "AddMatch", [.text(rule)], patience: patience)
    }

    /// The unique name of a name's current owner.
    func owner(of name: String, patience: UInt64) throws(BusFailure) -> String {
        let reply = try call(.bus, "GetNameOwner", [.text(name)], patience: patience)
        guard let owner = reply.text() else { throw BusFailure(name: "", number: EBADMSG) }
        return owner
    }

    /// The user that the connection with this unique name runs as, by the kernel's word to the bus.
    func user(of name: String, patience: UInt64) throws(BusFailure) -> UInt32 {
        let reply = try call(.bus, "GetConnectionUnixUser", [.text(name)], patience: patience)
        guard let user = reply.number() else { throw BusFailure(name: "", number: EBADMSG) }
        return user
    }

    /// One property.
    func property(_ name: String, of target: Target, patience: UInt64) throws(BusFailure) -> BusMessage {
        let properties = Target(
            service: target.service, path: target.path, interface: "org.freedesktop.DBus.Properties")
        return try call(properties, "Get", [.text(target.interface), .text(name)], patience: patience)
    }

    /// The next unsolicited message; nil if there is none.
    /// - Parameter deadline: When to stop where libsystemd itself answers one message after the other.
    /// - Throws: ``BusFailure`` when the connection is gone.
    func next(until deadline: UInt64 = .max) throws(BusFailure) -> BusMessage? {
        while deadline == .max || MonotonicClock.milliseconds < deadline {
            var message: OpaquePointer?
            let status = unsafe systemd.call.process(bus, &message)
            guard status >= 0 else { throw BusFailure(name: "", number: -status) }
            if let message = unsafe message { return unsafe BusMessage(owning: message, systemd) }
            if status == 0 { return nil }
        }
        return nil
    }
}

extension SystemBus.Target {
    /// The bus itself.
    static let bus = SystemBus.Target(
        service: "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus")
}
