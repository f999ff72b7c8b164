internal import CPlatform
internal import SystemCalls

/// What every executable that touches secrets does first.
package enum ProcessHardening {
    /// Forbids other processes of the user to read this one, core files, and crash reports with register contents.
    ///
    /// Swift's own crash report prints the bytes that registers point at; with the fatal signals back at their default
    /// the process just ends. Call before any secret is read. Returns what could not be done, empty when all was.
    @discardableResult
    package static func apply() -> [String] {
        var missed: [String] = []
        #if os(Linux) && !canImport(Darwin)
        if cplatform_set_dumpable(0) != 0 { missed.append("the process stays readable to its user") }
        #endif
        var noCore = rlimit(rlim_cur: 0, rlim_max: 0)
        #if os(Linux) && !canImport(Darwin)
        let limited = unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &noCore)
        #else
        let limited = unsafe setrlimit(RLIMIT_CORE, &noCore)
        #endif
        if limited != 0 { missed.append("core files stay allowed") }
        for fatal in [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGQUIT] {
            signal(fatal, SIG_DFL)
        }
        return missed
    }

    /// Whether secrets lie in memory that even the kernel does not map.
    package static var kernelHidesSecrets: Bool { LockedPages.kernelHidesSecrets }

    /// How secrets are kept out of reach on this system; shown by diagnostics.
    package static var memoryProtection: String {
        kernelHidesSecrets
            ? "memfd_secret (removed from the kernel's map)" : "locked pages (kept out of swap)"
    }
}

/// What the system calls this process in its lists.
package enum ProcessTitle {
    /// - Parameter name: At most 15 bytes; the system cuts what is longer.
    package static func set(_ name: String) {
        #if os(Linux) && !canImport(Darwin)
        _ = unsafe name.withCString { unsafe cplatform_set_name($0) }
        #endif
    }
}

/// Files that lie in memory and not on a disk.
package enum MemoryFiles {
    /// Whether what is written through a descriptor stays in memory (tmpfs, ramfs). Memory may still be swapped out.
    /// False where the system does not say.
    package static func contains(_ descriptor: Int32) -> Bool {
        #if os(Linux) && !canImport(Darwin)
        return cplatform_is_memory(descriptor) == 1
        #else
        return false
        #endif
    }

    /// Makes an empty file in memory that no folder names, for this user alone: it goes with the last descriptor of it,
    /// however a program ends.
    /// - Returns: Its descriptor, which other programs do not inherit; nil, with `errno`, where the system makes none.
    package static func make() -> Int32? {
        #if os(Linux) && !canImport(Darwin)
        let descriptor = unsafe cplatform_memfd("holdfast")
        guard descriptor >= 0 else { return nil }
        guard fchmod(descriptor, 0o600) == 0 else {
            close(descriptor)
            return nil
        }
        return descriptor
        #else
        errno = ENOSYS
        return nil
        #endif
    }
}
