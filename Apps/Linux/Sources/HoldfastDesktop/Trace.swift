import CAdw

/// Figures for the benchmarks: lines in the file that `HOLDFAST_DESKTOP_TRACE` names. Nothing of the vault is in them.
enum Trace {
    private static let file = getenv("HOLDFAST_DESKTOP_TRACE").flatMap { fopen($0, "a") }
    private static var began: UInt64?

    /// Something that has to be covered happened.
    static func mark() { if file != nil, began == nil { began = now(CLOCK_MONOTONIC) } }

    /// The cover is on the screen.
    static func covered() {
        guard let began else { return }
        write("cover \((now(CLOCK_MONOTONIC) - began) / 1000)")
        self.began = nil
    }

    /// The first frame is on the screen; nanoseconds since 1970, to be compared with the start.
    static func firstFrame() { write("first-frame \(now(CLOCK_REALTIME))") }

    private static func write(_ line: String) {
        guard let file else { return }
        fputs(line + "\n", file)
        fflush(file)
    }

    private static func now(_ clock: Int32) -> UInt64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
