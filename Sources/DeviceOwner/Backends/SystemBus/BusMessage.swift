internal import CSystemd

/// A message that came in, read from front to back. What does not have the type that is asked for is nil, and never a
/// trap.
@safe final class BusMessage {
    let message: OpaquePointer
    let systemd: Systemd

    @unsafe init(owning message: OpaquePointer, _ systemd: Systemd) {
        unsafe self.message = message
        self.systemd = systemd
    }

    deinit { unsafe _ = systemd.call.message_unref(message) }

    /// The sender's unique name, set by the bus.
    var sender: String { unsafe word(systemd.call.message_get_sender(message)) }
    var interface: String { unsafe word(systemd.call.message_get_interface(message)) }
    var member: String { unsafe word(systemd.call.message_get_member(message)) }
    var path: String { unsafe word(systemd.call.message_get_path(message)) }

    private func word(_ text: UnsafePointer<CChar>?) -> String {
        guard let text = unsafe text else { return "" }
        return unsafe String(cString: text)
    }

    /// A string.
    func text() -> String? { text(UInt8(ascii: "s")) }

    /// The path of an object.
    func objectPath() -> String? { text(UInt8(ascii: "o")) }

    private func text(_ type: UInt8) -> String? {
        guard isNext(type) else { return nil }
        var text: UnsafePointer<CChar>?
        guard unsafe systemd.call.message_read_basic(message, CChar(type), &text) > 0, let text = unsafe text else {
            return nil
        }
        return unsafe String(cString: text)
    }

    func flag() -> Bool? {
        guard isNext(UInt8(ascii: "b")) else { return nil }
        var value: Int32 = 0
        guard unsafe systemd.call.message_read_basic(message, CChar(UInt8(ascii: "b")), &value) > 0 else { return nil }
        return value != 0
    }

    /// An unsigned number of 32 bits.
    func number() -> UInt32? {
        guard isNext(UInt8(ascii: "u")) else { return nil }
        var value: UInt32 = 0
        guard unsafe systemd.call.message_read_basic(message, CChar(UInt8(ascii: "u")), &value) > 0 else { return nil }
        return value
    }

    /// An unsigned number of 64 bits.
    func longNumber() -> UInt64? {
        guard isNext(UInt8(ascii: "t")) else { return nil }
        var value: UInt64 = 0
        guard unsafe systemd.call.message_read_basic(message, CChar(UInt8(ascii: "t")), &value) > 0 else { return nil }
        return value
    }

    /// A descriptor, the message's own: duplicate it to keep it.
    func descriptor() -> Int32? {
        guard isNext(UInt8(ascii: "h")) else { return nil }
        var value: Int32 = -1
        guard unsafe systemd.call.message_read_basic(message, CChar(UInt8(ascii: "h")), &value) > 0, value >= 0 else {
            return nil
        }
        return value
    }

    /// Strings of an array, at most 256.
    func texts() -> [String] {
        guard enter(UInt8(ascii: "a"), "s") else { return [] }
        var all: [String] = []
        while all.count < 256, let next = text() { all.append(next) }
        leave()
        return all
    }

    /// Paths of an array, at most 256.
    func objectPaths() -> [String] {
        guard enter(UInt8(ascii: "a"), "o") else { return [] }
        var all: [String] = []
        while all.count < 256, let next = objectPath() { all.append(next) }
        leave()
        return all
    }

    /// Goes into a container: `v` and what is in it, `a` and its elements, `r` and its members.
    func enter(_ type: UInt8, _ contents: String) -> Bool {
        guard isNext(type) else { return false }
        return unsafe contents.withCString { contents in
            unsafe systemd.call.message_enter_container(message, CChar(type), contents)
        } > 0
    }

    func leave() { unsafe _ = systemd.call.message_exit_container(message) }

    /// Values inside of one that is left out: more than any program has, and done in a few milliseconds.
    private static let mostSkipped = 65_536
    /// What an array has that is passed over in one step.
    private static let numbers = Array("ybnqiuxtd".utf8)

    /// Leaves one value out, of whatever type.
    /// - Returns: False for one with too many values inside.
    func skip() -> Bool {
        var rest = BusMessage.mostSkipped
        return skip(&rest)
    }

    /// As libsystemd's own does, but that takes each byte of an array by itself: 1.5 s for a large message, in which
    /// nobody else on the bus is answered.
    private func skip(_ rest: inout Int) -> Bool {
        var (type, contents): (CChar, UnsafePointer<CChar>?) = (0, nil)
        guard rest > 0, unsafe systemd.call.message_peek_type(message, &type, &contents) > 0 else { return false }
        rest -= 1
        guard let contents = unsafe contents else {
            let types = [type, 0]
            return unsafe systemd.call.message_skip(message, types) > 0
        }
        let element = unsafe UInt8(bitPattern: contents.pointee)
        if type == CChar(UInt8(ascii: "a")), BusMessage.numbers.contains(element) {
            var (start, count): (UnsafeRawPointer?, Int) = (nil, 0)
            return unsafe systemd.call.message_read_array(message, CChar(element), &start, &count) >= 0
        }
        guard unsafe systemd.call.message_enter_container(message, type, contents) > 0 else { return false }
        while true {
            let isThere = unsafe systemd.call.message_peek_type(message, &type, nil)
            guard isThere > 0 else {
                return unsafe isThere == 0 && systemd.call.message_exit_container(message) >= 0
            }
            guard skip(&rest) else { return false }
        }
    }

    private func isNext(_ wanted: UInt8) -> Bool {
        var type: CChar = 0
        guard unsafe systemd.call.message_peek_type(message, &type, nil) > 0 else { return false }
        return UInt8(bitPattern: type) == wanted
    }
}
