package import VaultFormat

/// About what a client may use without the user being asked again.
package enum LeasingRequest: RequestArea {
    /// Ask the user whether this client may use an item, or items with a tag, for so many seconds, or until the lock
    /// where nil.
    case lease(LeasedName, seconds: UInt32?)
    /// Send the leases.
    case list
    /// End one lease, or all.
    case revoke(UInt64?)

    package enum Kind: UInt8, CaseIterable {
        case lease = 43, list = 44, revoke = 45
    }

    init(_ kind: Kind, _ cursor: inout Cursor, _ body: RawSpan) throws(MessageError) {
        switch kind {
        case .lease:
            let target = try LeasedName(&cursor, body)
            let seconds = try cursor.optional(body, UInt32.self, "time")
            guard seconds != 0 else { throw .invalid(field: "time") }
            self = .lease(target, seconds: seconds)
        case .list: self = .list
        case .revoke: self = .revoke(try cursor.optional(body, UInt64.self, "number"))
        }
    }

    func write(_ writer: inout Writer) -> Kind {
        switch self {
        case .lease(let target, let seconds):
            target.write(&writer)
            writer.optional(seconds)
            return .lease
        case .list: return .list
        case .revoke(let number):
            writer.optional(number)
            return .revoke
        }
    }

    var request: Request { .leases(self) }
}

/// What a client says of itself, for the questions that the user is asked about it. The agent goes by the kernel where
/// the kernel tells.
package struct Introduction: Sendable, Hashable {
    /// The file of the program, which a process that hides itself can only tell.
    package var program: Program?
    /// Where a question can be shown: `DISPLAY`, `WAYLAND_DISPLAY`, `TERM`. Empty where there is none.
    package var display: String
    package var waylandDisplay: String
    package var terminalType: String

    /// A file by device and inode.
    package struct Program: Sendable, Hashable {
        package let device: UInt64
        package let inode: UInt64

        package init(device: UInt64, inode: UInt64) {
            self.device = device
            self.inode = inode
        }
    }

    package init(
        program: Program? = nil, display: String = "", waylandDisplay: String = "", terminalType: String = ""
    ) {
        self.program = program
        self.display = display
        self.waylandDisplay = waylandDisplay
        self.terminalType = terminalType
    }

    /// Bytes of each text.
    package static let sizes = 0...256

    init(_ cursor: inout Cursor, _ bytes: RawSpan) throws(MessageError) {
        if try cursor.flag(bytes, "flags") {
            let device = try cursor.integer(bytes, UInt64.self)
            program = Program(device: device, inode: try cursor.integer(bytes, UInt64.self))
        }
        display = try cursor.text(bytes, Introduction.sizes, "display")
        waylandDisplay = try cursor.text(bytes, Introduction.sizes, "display")
        terminalType = try cursor.text(bytes, Introduction.sizes, "terminal")
    }

    func write(_ writer: inout Writer) {
        writer.flag(program != nil)
        if let program {
            writer.integer(program.device)
            writer.integer(program.inode)
        }
        for text in [display, waylandDisplay, terminalType] {
            writer.text(text, atMost: Introduction.sizes.upperBound)
        }
    }
}

/// What a lease is for, as clients name it.
package enum LeasedName: Sendable, Hashable {
    case item(RecordName)
    case tag(String)

    /// Bytes of a tag.
    package static let tagSizes = 1...64

    init(_ cursor: inout Cursor, _ bytes: RawSpan) throws(MessageError) {
        switch try cursor.integer(bytes, UInt8.self) {
        case 1: self = .item(try RecordName(&cursor, bytes))
        case 2: self = .tag(try cursor.text(bytes, LeasedName.tagSizes, "tag"))
        default: throw .invalid(field: "target")
        }
    }

    func write(_ writer: inout Writer) {
        switch self {
        case .item(let path):
            writer.integer(UInt8(1))
            path.write(&writer)
        case .tag(let tag):
            writer.integer(UInt8(2))
            writer.text(tag, atMost: LeasedName.tagSizes.upperBound)
        }
    }

    fileprivate var encodedSize: Int {
        switch self {
        case .item(let path): 5 + path.collection.utf8.count + path.name.utf8.count
        case .tag(let tag): 3 + tag.utf8.count
        }
    }
}

/// One line of the list of leases.
package struct LeaseEntry: Sendable, Hashable {
    package let number: UInt64
    /// The process that leads the session.
    package let session: UInt32
    /// The program, as it was called when the lease was given.
    package let program: String
    package let target: LeasedName
    /// Milliseconds that are left; nil until the vault locks.
    package let remaining: UInt64?

    package static let programSizes = 0...1024

    package init(number: UInt64, session: UInt32, program: String, target: LeasedName, remaining: UInt64?) {
        self.number = number
        self.session = session
        self.program = program
        self.target = target
        self.remaining = remaining
    }

    /// Bytes in a message, at most.
    package var encodedSize: Int { 23 + program.utf8.count + target.encodedSize }

    init(_ cursor: inout Cursor, _ bytes: RawSpan) throws(MessageError) {
        number = try cursor.integer(bytes, UInt64.self)
        session = try cursor.integer(bytes, UInt32.self)
        remaining = try cursor.optional(bytes, UInt64.self, "time")
        program = try cursor.text(bytes, LeaseEntry.programSizes, "program")
        target = try LeasedName(&cursor, bytes)
    }

    func write(_ writer: inout Writer) {
        writer.integer(number)
        writer.integer(session)
        writer.optional(remaining)
        writer.text(program, atMost: LeaseEntry.programSizes.upperBound)
        target.write(&writer)
    }
}
