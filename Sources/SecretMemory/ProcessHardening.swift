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
