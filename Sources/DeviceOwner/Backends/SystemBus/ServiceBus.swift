internal import CSystemd
package import SecretMemory
internal import SystemCalls

/// A connection to the user's session bus that answers calls. Used by one thread; it never waits, but for the bus itself when a name is
/// claimed and a client is looked up.
package final class ServiceBus {
    /// Why there is no connection, or no name.
    package enum Problem: Error, Sendable, Hashable {
        /// There is no session bus, or no libsystemd; the error number.
        case unavailable(Int32)
        /// Another process has the name; its number where the bus tells.
        case taken(process: Int32?)
    }

    private let bus: SystemBus
    /// Milliseconds that the bus has to answer.
    private static let patience: UInt64 = 2000

    /// Connects, claims a name that no other process has, and asks to be told of clients that leave.
    /// - Throws: ``Problem``.
    package init(claiming name: String) throws(Problem) {
        do throws(BusFailure) {
            bus = try SystemBus(session: ())
            let rule =
                "type='signal',sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',"
                + "member='NameOwnerChanged',arg2=''"
            try bus.subscribe(rule, patience: ServiceBus.patience)
            // 4: without waiting for the name. Without 1 no other process can take it from us.
            let reply = try bus.call(.bus, "RequestName", [.text(name), .number(4)], patience: ServiceBus.patience)
            guard reply.number() != 1 else { return }
        } catch { throw .unavailable(error.number) }
        let owner = try? bus.call(
            .bus, "GetConnectionUnixProcessID", [.text(name)], patience: ServiceBus.patience)
        throw .taken(process: owner?.number().flatMap { Int32(exactly: $0) })
    }

    /// For `poll(2)`; with it ``events``.
    package var descriptor: Int32 { bus.descriptor }

    package var events: Int16 { bus.events }

    /// Something that came in.
    package enum Incoming {
        case call(BusCall)
        /// The client with this unique name has left the bus.
        case left(String)
    }

    /// The next of what came in; nil if there is none.
    /// - Throws: ``Problem`` when the connection is gone, and the name with it.
    package func next() throws(Problem) -> Incoming? {
        do throws(BusFailure) {
            while let message = try bus.next() {
                if message.isCall { return .call(BusCall(message, bus)) }
                guard message.isSignal, message.sender == "org.freedesktop.DBus",
                    message.member == "NameOwnerChanged", let name = message.text(), name.hasPrefix(":")
                else { continue }
                return .left(name)
            }
            return nil
        } catch { throw .unavailable(error.number) }
    }

    /// The user that a client runs as; nil when it has left or the bus does not tell.
    package func user(of client: String) -> UInt32? { try? bus.user(of: client, patience: ServiceBus.patience) }
}

/// A call that came in: its arguments are read in their order, then it is answered once.
package final class BusCall {
    private let message: BusMessage
    private let bus: SystemBus

    init(_ message: BusMessage, _ bus: SystemBus) {
        self.message = message
        self.bus = bus
        message.wipeLater()
    }

    package var sender: String { message.sender }
    package var path: String { message.path }
    package var interface: String { message.interface }
    package var member: String { message.member }
    /// The types of all arguments.
    package var signature: String { message.signature }

    /// A text of at most so many bytes; nil for a longer one and for another type.
    package func text(atMost longest: Int) -> String? { message.text("s", atMost: longest) }

    /// As ``text(atMost:)``, the path of an object.
    package func objectPath(atMost longest: Int) -> String? { message.text("o", atMost: longest) }

    package func flag() -> Bool? { message.flag() }

    /// Bytes, copied into locked memory; nil for more, and for another type.
    package func bytes(atMost longest: Int) -> SecretBytes? { message.bytes(atMost: longest) }

    /// Goes into an array (`a`), a structure (`r`), an entry of a dictionary (`e`) or a variant (`v`) of these types.
    /// - Returns: False for another type, and at the end of an array.
    package func enter(_ type: Unicode.Scalar, _ contents: String) -> Bool {
        message.enter(UInt8(ascii: type), contents)
    }

    package func leave() { message.leave() }

    /// Leaves one value out.
    package func skip(_ types: String) -> Bool { message.skip(types) }

    /// A reply without content yet; nil without memory for one.
    package func reply() -> BusReply? { BusReply(to: message, bus) }

    /// Answers with an error.
    package func fail(_ name: String, _ words: String) { BusReply.fail(message, bus, name, words) }
}

extension BusMessage {
    fileprivate var isCall: Bool { unsafe systemd.call.message_is_method_call(message, nil, nil) > 0 }
    fileprivate var isSignal: Bool { unsafe systemd.call.message_is_signal(message, nil, nil) > 0 }

    fileprivate var signature: String {
        guard let text = unsafe systemd.call.message_get_signature(message, 1) else { return "" }
        return unsafe String(cString: text)
    }

    /// Has libsystemd overwrite the message when it is done with.
    fileprivate func wipeLater() { unsafe _ = systemd.call.message_sensitive(message) }

    fileprivate func text(_ type: Unicode.Scalar, atMost longest: Int) -> String? {
        var next: CChar = 0
        guard unsafe systemd.call.message_peek_type(message, &next, nil) > 0,
            UInt8(bitPattern: next) == UInt8(ascii: type)
        else { return nil }
        var text: UnsafePointer<CChar>?
        guard unsafe systemd.call.message_read_basic(message, next, &text) > 0, let text = unsafe text,
            unsafe strnlen(text, longest + 1) <= longest
        else { return nil }
        return unsafe String(validatingCString: text)
    }

    fileprivate func bytes(atMost longest: Int) -> SecretBytes? {
        var (next, contents): (CChar, UnsafePointer<CChar>?) = (0, nil)
        guard unsafe systemd.call.message_peek_type(message, &next, &contents) > 0,
            UInt8(bitPattern: next) == UInt8(ascii: "a"), let contents = unsafe contents,
            unsafe String(cString: contents) == "y"
        else { return nil }
        var (start, count): (UnsafeRawPointer?, Int) = (nil, 0)
        guard unsafe systemd.call.message_read_array(message, CChar(UInt8(ascii: "y")), &start, &count) >= 0,
            count <= longest
        else { return nil }
        guard count > 0, let start = unsafe start else { return try? SecretBytes(zeroed: 0) }
        let bytes = unsafe RawSpan(_unsafeStart: start, byteCount: count)
        return try? SecretBytes(copying: bytes)
    }
}
