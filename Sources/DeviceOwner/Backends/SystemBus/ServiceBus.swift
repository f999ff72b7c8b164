internal import CSystemd
package import SecretMemory
internal import SystemCalls

/// A connection to the user's session bus that answers calls. Used by one thread; it never waits, but for the bus
/// itself when a name is claimed and a client is looked up.
package final class ServiceBus {
    /// Why there is no connection, or no name.
    package enum Problem: Error, Sendable, Hashable {
        /// There is no session bus, or no libsystemd; the error number.
        case unavailable(Int32)
        /// Another process has the name; its number where the bus tells.
        case taken(process: Int32?)
    }

    private let bus: SystemBus
    /// Another connection, for questions to the bus: behind their answers on this one, all that clients have sent would
    /// be read first.
    private let connect: () throws(BusFailure) -> SystemBus
    private let name: String
    /// Whether the name is ours.
    package private(set) var isOwner = false
    /// Something may have come in that ``descriptor`` does not tell of: the claim waits for its answer, and libsystemd
    /// keeps what comes before that.
    package private(set) var hasMore = true
    /// Milliseconds that the bus has to answer. One that does not is taken for gone: nothing is waited for twice.
    private static let patience: UInt64 = 10_000
    private var isSilent = false

    /// Connects, claims a name that no other process has, and asks to be told of clients that leave.
    /// - Parameter waits: Whether to wait for a name that another process has: it is ours when that gives it up.
    /// - Throws: ``Problem``.
    package convenience init(claiming name: String, waits: Bool = false) throws(Problem) {
        try self.init(claiming: name, waits: waits) { () throws(BusFailure) in try SystemBus(session: ()) }
    }

    /// As ``init(claiming:waits:)``, on any bus.
    init(
        claiming name: String, waits: Bool = false, on connect: @escaping () throws(BusFailure) -> SystemBus
    ) throws(Problem) {
        (self.name, self.connect) = (name, connect)
        do throws(BusFailure) {
            bus = try connect()
            let rule =
                "type='signal',sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',"
                + "member='NameOwnerChanged',arg2=''"
            try bus.subscribe(rule, patience: ServiceBus.patience)
            // 4: without waiting for the name. Without 1 no other process can take it from us.
            let reply = try bus.call(
                .bus, "RequestName", [.text(name), .number(waits ? 0 : 4)], patience: ServiceBus.patience)
            isOwner = reply.number() == 1
        } catch { throw .unavailable(error.number) }
        guard isOwner || waits else { throw .taken(process: owner()) }
    }

    /// The process that has the name; nil where nobody has it, or the bus does not tell.
    package func owner() -> Int32? {
        let owner = try? connect().call(
            .bus, "GetConnectionUnixProcessID", [.text(name)], patience: ServiceBus.patience)
        return owner?.number().flatMap { Int32(exactly: $0) }
    }

    /// Whether a program of the session has a name now. Waits for the bus; false where there is none.
    package static func isOwned(_ name: String) -> Bool {
        guard let bus = try? SystemBus(session: ()) else { return false }
        let reply = try? bus.call(.bus, "NameHasOwner", [.text(name)], patience: 1000)
        return reply?.flag() ?? false
    }

    /// Has the session bus read again which programs it starts for whom. One that does not hear of it here does so
    /// when it starts.
    package static func reload() {
        guard let bus = try? SystemBus(session: ()) else { return }
        _ = try? bus.call(.bus, "ReloadConfig", patience: patience)
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
        hasMore = true
        guard !isSilent else { throw .unavailable(ETIMEDOUT) }
        do throws(BusFailure) {
            while let message = try bus.next() {
                if message.isCall { return .call(BusCall(message, bus)) }
                guard message.isSignal, message.sender == "org.freedesktop.DBus" else { continue }
                switch (message.member, message.text()) {
                case ("NameAcquired", name): isOwner = true
                case ("NameLost", name): isOwner = false
                case ("NameOwnerChanged", let client?) where client.hasPrefix(":"): return .left(client)
                default: break
                }
            }
            hasMore = false
            return nil
        } catch { throw .unavailable(error.number) }
    }

    /// The process of a client; nil when it has left or the bus does not tell.
    package func process(of client: String) -> BusProcess? {
        guard !isSilent else { return nil }
        do throws(BusFailure) {
            return BusProcess(
                try connect().call(.bus, "GetConnectionCredentials", [.text(client)], patience: ServiceBus.patience))
        } catch {
            isSilent = error.isSilence
            return nil
        }
    }

    /// A signal without content yet; nil without memory for one.
    /// - Parameter client: The only one that is told; nil for all who listen.
    package func signal(_ member: String, of interface: String, on path: String, to client: String? = nil) -> BusReply?
    {
        BusReply(signal: member, of: interface, on: path, to: client, bus)
    }
}

/// The process that made a client's connection, by the kernel's word to the bus when it did.
@safe package final class BusProcess {
    package let user: UInt32
    /// 0 where the bus does not tell.
    package let process: Int32
    private let descriptor: Int32?

    fileprivate init?(_ message: BusMessage) {
        var (user, process, descriptor): (UInt32?, UInt32?, Int32?)
        guard message.enter(UInt8(ascii: "a"), "{sv}") else { return nil }
        while message.enter(UInt8(ascii: "e"), "sv") {
            switch message.text() {
            case "UnixUserID":
                guard message.enter(UInt8(ascii: "v"), "u") else { return nil }
                user = message.number()
                message.leave()
            case "ProcessID":
                guard message.enter(UInt8(ascii: "v"), "u") else { return nil }
                process = message.number()
                message.leave()
            case "ProcessFD":
                guard message.enter(UInt8(ascii: "v"), "h") else { return nil }
                descriptor = message.descriptor()
                message.leave()
            default: guard message.skip() else { return nil }
            }
            message.leave()
        }
        guard let user else { return nil }
        self.user = user
        self.process = process.flatMap { Int32(exactly: $0) } ?? 0
        // The message closes its own.
        self.descriptor = descriptor.map { fcntl($0, F_DUPFD_CLOEXEC, 3) }.flatMap { $0 < 0 ? nil : $0 }
    }

    deinit { if let descriptor { close(descriptor) } }

    /// Whether it still runs. A bus before 1.15.8 gives no descriptor to tell by; then its number and its start must
    /// do.
    package var isAlive: Bool {
        guard let descriptor else { return true }
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&waiting, 1, 0) == 0
    }
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

    /// As ``bytes(atMost:)``, where they came in: nothing is copied.
    package func lentBytes(atMost longest: Int) -> BusBytes? { BusBytes(next: message, atMost: longest) }

    /// Goes into an array (`a`), a structure (`r`), an entry of a dictionary (`e`) or a variant (`v`) of these types.
    /// - Returns: False for another type, and at the end of an array.
    package func enter(_ type: Unicode.Scalar, _ contents: String) -> Bool {
        message.enter(UInt8(ascii: type), contents)
    }

    package func leave() { message.leave() }

    /// Leaves one value out, of whatever type; false for one with too many values inside.
    package func skip() -> Bool { message.skip() }

    /// A reply without content yet; nil without memory for one.
    package func reply() -> BusReply? { BusReply(to: message, bus) }

    /// Answers with an error.
    package func fail(_ name: String, _ words: String) { BusReply.fail(message, bus, name, words) }
}

extension BusMessage {
    fileprivate var isCall: Bool { unsafe systemd.call.message_is_method_call(message, nil, nil) > 0 }
    var isSignal: Bool { unsafe systemd.call.message_is_signal(message, nil, nil) > 0 }

    fileprivate var signature: String {
        guard let text = unsafe systemd.call.message_get_signature(message, 1) else { return "" }
        return unsafe String(cString: text)
    }

    /// Has libsystemd overwrite the message when it is done with.
    func wipeLater() { unsafe _ = systemd.call.message_sensitive(message) }

    func text(_ type: Unicode.Scalar, atMost longest: Int) -> String? {
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

    func bytes(atMost longest: Int) -> SecretBytes? {
        guard let bytes = BusBytes(next: self, atMost: longest) else { return nil }
        return bytes.withBytes { try? SecretBytes(copying: $0) }
    }
}

/// Bytes of a message, which stays for as long as they do. Used by the thread of its bus.
@safe package final class BusBytes {
    private let message: BusMessage
    private let start: UnsafeRawPointer?
    package let count: Int

    /// Nil for more, and for another type.
    init?(next message: BusMessage, atMost longest: Int) {
        var (next, contents): (CChar, UnsafePointer<CChar>?) = (0, nil)
        guard unsafe message.systemd.call.message_peek_type(message.message, &next, &contents) > 0,
            UInt8(bitPattern: next) == UInt8(ascii: "a"), let contents = unsafe contents,
            unsafe String(cString: contents) == "y"
        else { return nil }
        var (start, count): (UnsafeRawPointer?, Int) = (nil, 0)
        let status = unsafe message.systemd.call.message_read_array(
            message.message, CChar(UInt8(ascii: "y")), &start, &count)
        guard status >= 0, count <= longest else { return nil }
        self.message = message
        unsafe self.start = start
        self.count = unsafe start == nil ? 0 : count
    }

    package func withBytes<R: ~Copyable>(_ body: (RawSpan) -> R) -> R {
        guard let start = unsafe start, count > 0 else {
            let none: [UInt8] = []
            return unsafe body(none.span.bytes)
        }
        return unsafe body(RawSpan(_unsafeStart: start, byteCount: count))
    }
}
