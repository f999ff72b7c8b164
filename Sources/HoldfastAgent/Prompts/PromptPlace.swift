internal import SystemCalls

/// Where a question can be shown.
package enum PromptPlace: Sendable, Hashable {
    /// The terminal that the client is in the foreground of, by its device.
    case terminal(UInt32)
    /// A pinentry program.
    case dialog

    /// A terminal, where it is one that the kernel made and that this user may read and write; opened, because a path
    /// may change. Whose file it is says nothing more: after `sudo` it belongs to who was there before.
    static func open(terminal: UInt32) -> Int32? {
        #if os(Linux) && !canImport(Darwin)
        let (major, minor) = numbers(of: terminal)
        let path: String
        switch major {
        case 136...143: path = "/dev/pts/\((major - 136) * 256 + minor)"
        case 4 where minor < 64: path = "/dev/tty\(minor)"
        case 4: path = "/dev/ttyS\(minor - 64)"
        default: return nil
        }
        let descriptor = unsafe SystemCalls.open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return nil }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFCHR,
            status.st_rdev == makedev(major, minor)
        else {
            close(descriptor)
            return nil
        }
        return descriptor
        #else
        return nil
        #endif
    }

    /// Whether a process's terminal is the one that has its number here. One of another devpts that a process here was
    /// handed has a number of ours; two sessions never have one terminal.
    static func isOne(_ terminal: UInt32, of process: Int32) -> Bool {
        guard let session = ProcessStat(of: process)?.session, let processes = Spawn.numbers(in: "/proc") else {
            return false
        }
        return !processes.contains { other in
            guard let stat = ProcessStat(of: other), stat.terminal == terminal, stat.session != session else {
                return false
            }
            // A container's terminals have the same numbers.
            return ProcessFiles.areOurs(other)
        }
    }

    /// Whether a device is this terminal, under its own number or as `/dev/tty`.
    static func names(_ device: UInt64, _ terminal: UInt32) -> Bool {
        #if os(Linux) && !canImport(Darwin)
        let (major, minor) = numbers(of: terminal)
        return device == makedev(major, minor) || device == makedev(5, 0)
        #else
        return true
        #endif
    }

    /// Its major and minor number, as `/proc/PID/stat` has both in one.
    private static func numbers(of terminal: UInt32) -> (major: UInt32, minor: UInt32) {
        (terminal >> 8 & 0xFFF, terminal & 0xFF | terminal >> 12 & 0xFFF00)
    }

    /// Whether it is a pseudoterminal: a terminal emulator's window, tmux, or the other end of ssh.
    static func isWindow(terminal: UInt32) -> Bool { (136...143).contains(numbers(of: terminal).major) }

    /// The path of an open terminal.
    static func path(_ descriptor: Int32) -> String? {
        var name = [CChar](repeating: 0, count: 64)
        guard unsafe ttyname_r(descriptor, &name, name.count) == 0 else { return nil }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

#if os(Linux) && !canImport(Darwin)
/// As the C library's macro, which is not imported.
private func makedev(_ major: UInt32, _ minor: UInt32) -> dev_t {
    let (major, minor) = (UInt64(major), UInt64(minor))
    return dev_t((major & 0xFFF) << 8 | (major & ~0xFFF) << 32 | minor & 0xFF | (minor & ~0xFF) << 12)
}
#endif
