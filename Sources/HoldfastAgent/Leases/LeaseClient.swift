/// A process by its number and its start: the number alone may be used again.
package struct ProcessName: Sendable, Hashable {
    package let process: Int32
    /// Ticks from the boot to its start.
    package let start: UInt64

    package init(process: Int32, start: UInt64) {
        self.process = process
        self.start = start
    }
}

/// The file of a program, whatever its path.
package struct ProgramFile: Sendable, Hashable {
    package let device: UInt64
    package let inode: UInt64

    package init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }
}

/// Who a lease is for: a program in a session. Its processes come and go; the session ends with its terminal.
package struct LeaseClient: Sendable, Hashable {
    /// The leader of the session.
    package let session: ProcessName
    package let program: ProgramFile

    package init(session: ProcessName, program: ProgramFile) {
        self.session = session
        self.program = program
    }
}

/// Who asks, as far as it can be told.
package enum LeaseAsker: Sendable, Hashable {
    /// A program that can have leases.
    case client(LeaseClient)
    /// A process that can have none, because what would name it next time is missing: the leader of its session has
    /// ended, its program is not to be seen or has changed since it connected, or a forwarded connection brings the
    /// requests of another machine.
    case process(ProcessName)
    /// The process has ended; who sends in its name is unknown.
    case gone
}
