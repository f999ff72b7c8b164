import SystemCalls

/// What only the C library puts into a folder. Without Foundation, which on Linux exports a C library of its own.
enum Planting {
    static var isRoot: Bool { geteuid() == 0 }

    static func unlinks(_ path: String) -> Bool { unsafe unlink(path) == 0 }

    static func makesPipe(_ path: String) -> Bool { unsafe mkfifo(path, 0o600) == 0 }

    /// A character device: the one behind /dev/null on Linux.
    static func makesDevice(_ path: String) -> Bool { unsafe mknod(path, S_IFCHR | 0o600, 0x103) == 0 }

    /// A socket that listens to nobody.
    static func bindsSocket(_ path: String) -> Bool {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return false }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        #if canImport(Glibc) && !canImport(Darwin)
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        #else
        let listener = socket(AF_UNIX, SOCK_STREAM, 0)
        #endif
        defer { close(listener) }
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
    }
}
