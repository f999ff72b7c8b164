internal import SystemCalls

/// What the process uses, under the names that Prometheus's own libraries have.
enum ProcessMetrics {
    private static let start = WallClock.milliseconds

    /// Remembers when the process began; called once at its start.
    static func begin() { _ = start }

    static func write(to text: inout MetricsText, version: String) {
        text.family("holdfast_build_info", .gauge, "The version of the program.")
        text.sample("holdfast_build_info", ["version": version], 1)
        text.gauge("process_start_time_seconds", Double(start) / 1000, "When the process began, in seconds since 1970.")
        text.counter(
            "process_cpu_seconds_total", ProcessClock.seconds, "Processor time of the process.")
        #if os(Linux) && !canImport(Darwin)
        if let pages = resident() {
            text.gauge("process_resident_memory_bytes", pages * Int(getpagesize()), "Memory of the process.")
        }
        #endif
        if let open = openDescriptors() { text.gauge("process_open_fds", open, "Open descriptors.") }
        var limit = rlimit()
        #if os(Linux) && !canImport(Darwin)
        let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
        let kind = RLIMIT_NOFILE
        #endif
        if unsafe getrlimit(kind, &limit) == 0 {
            text.gauge("process_max_fds", Int(clamping: limit.rlim_cur), "The most descriptors that may be open.")
        }
    }

    #if os(Linux) && !canImport(Darwin)
    private static func resident() -> Int? {
        guard let file = try? OwnedDescriptor("/proc/self/statm", O_RDONLY), let bytes = try? file.readPrefix(256)
        else {
            return nil
        }
        let words = String(decoding: bytes, as: UTF8.self).split(separator: " ")
        return words.count > 1 ? Int(words[1]) : nil
    }
    #endif

    private static func openDescriptors() -> Int? {
        guard let folder = unsafe opendir("/proc/self/fd") else { return nil }
        defer { unsafe closedir(folder) }
        var count = 0
        while unsafe readdir(folder) != nil { count += 1 }
        // Not those of the folder itself, its parent, and this look.
        return max(0, count - 3)
    }
}
