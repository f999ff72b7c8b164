import SystemCalls
package import VaultHeader

/// A clock in a file, so that a test and its processes have the same time, and time passes only when one of them says
/// so.
package struct FileClock: BootClock {
    package let path: String

    package init(_ path: String) { self.path = path }

    /// Milliseconds; an absent file is the time zero.
    package var milliseconds: UInt64 {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return 0 }
        defer { close(file) }
        var time: UInt64 = 0
        let size = unsafe pread(file, &time, MemoryLayout<UInt64>.size, 0)
        return size == MemoryLayout<UInt64>.size ? time : 0
    }

    package func now() -> BootInstant {
        BootInstant(bootID: [UInt8](repeating: 0x42, count: 16), milliseconds: milliseconds)
    }

    /// Lets time pass. Only one process does that at a time.
    package func advance(milliseconds passed: UInt64) {
        var time = milliseconds + passed
        let file = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { return }
        defer { close(file) }
        unsafe pwrite(file, &time, MemoryLayout<UInt64>.size, 0)
    }
}
