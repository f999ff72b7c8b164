#if os(Linux) && !canImport(Darwin)
/// Starts a program in a session of its own, with the descriptors that are named and no other that this process must
/// not give away, and with signals as a shell would give them.
package enum Spawn {
    /// - Parameters:
    ///   - descriptors: Its descriptors, and ours behind each; `/dev/null` for nil. In this order.
    ///   - closesRest: Whether it gets none but them, whatever a library left open.
    /// - Returns: The process, or the system's number of what went wrong.
    package static func start(
        _ program: String, _ arguments: [String], environment: [[UInt8]], descriptors: [(Int32, Int32?)],
        closesRest: Bool = false
    ) -> Result<Int32, SystemError> {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        for (number, source) in descriptors {
            if let source {
                unsafe posix_spawn_file_actions_adddup2(&actions, source, number)
            } else {
                unsafe posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_RDWR, 0)
            }
        }
        var attributes = posix_spawnattr_t()
        let flags: Int32 = 0x80 | 0x08 | 0x04  // POSIX_SPAWN_SETSID, SETSIGMASK, SETSIGDEF
        let last = descriptors.map(\.0).max() ?? -1
        for stranger in closesRest ? openDescriptors() : [] where stranger > last {
            unsafe posix_spawn_file_actions_addclose(&actions, stranger)
        }
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        var all = sigset_t()
        unsafe sigemptyset(&none)
        unsafe sigfillset(&all)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &all)
        unsafe posix_spawnattr_setflags(&attributes, Int16(flags))
        var words = unsafe arguments.map { unsafe strdup($0) } + [nil]
        defer { unsafe words.forEach { unsafe free($0) } }
        var variables = unsafe environment.map { unsafe strdup(($0 + [0]).map { CChar(bitPattern: $0) }) } + [nil]
        defer { unsafe variables.forEach { unsafe free($0) } }
        var process: pid_t = 0
        let error = unsafe posix_spawn(&process, program, &actions, &attributes, &words, &variables)
        return error == 0 ? .success(process) : .failure(SystemError(error))
    }

    /// The descriptors of this process, with the one that lists them.
    package static func openDescriptors() -> [Int32] { numbers(in: "/proc/self/fd") ?? [] }

    /// The names in a folder of the kernel's that are numbers: processes, or descriptors; nil where it cannot be read.
    package static func numbers(in path: String) -> [Int32]? {
        guard let folder = unsafe opendir(path) else { return nil }
        defer { unsafe closedir(folder) }
        var found: [Int32] = []
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
                unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(validatingCString: $0) }
            }
            if let number = name.flatMap({ Int32($0) }) { found.append(number) }
        }
        return found
    }

    /// The variables of this process, `NAME=value` each.
    package static func environment() -> [[UInt8]] {
        var variables: [[UInt8]] = []
        var next = unsafe environ
        while let variable = unsafe next.pointee {
            unsafe variables.append(Array(UnsafeRawBufferPointer(start: variable, count: strlen(variable))))
            unsafe next += 1
        }
        return variables
    }
}
#endif
