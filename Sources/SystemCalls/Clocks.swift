/// A clock that only goes forward, from an arbitrary start. On Linux it stands still while the machine sleeps.
package enum MonotonicClock {
    package static var nanoseconds: UInt64 { reading(CLOCK_MONOTONIC).nanoseconds }
    package static var milliseconds: UInt64 { reading(CLOCK_MONOTONIC).milliseconds }
    package static var seconds: Double {
        let time = reading(CLOCK_MONOTONIC)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

/// A clock that only goes forward from the boot on, also while the machine sleeps.
package enum SuspendAwareClock {
    package static var milliseconds: UInt64 {
        #if os(Linux) && !canImport(Darwin)
        reading(CLOCK_BOOTTIME).milliseconds
        #else
        reading(CLOCK_MONOTONIC).milliseconds  // continues during sleep on Apple systems
        #endif
    }
}

/// The time in UTC, which anybody may set.
package enum WallClock {
    /// Milliseconds since 1970.
    package static var milliseconds: Int64 {
        let time = reading(CLOCK_REALTIME)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}

/// The processor time that this thread has used.
package enum ThreadClock {
    package static var nanoseconds: UInt64 { reading(CLOCK_THREAD_CPUTIME_ID).nanoseconds }
}

/// The processor time that this process has used.
package enum ProcessClock {
    package static var seconds: Double { Double(reading(CLOCK_PROCESS_CPUTIME_ID).nanoseconds) / 1e9 }
}

private func reading(_ clock: clockid_t) -> timespec {
    var time = timespec()
    unsafe clock_gettime(clock, &time)
    return time
}

extension timespec {
    fileprivate var nanoseconds: UInt64 { UInt64(tv_sec) * 1_000_000_000 + UInt64(tv_nsec) }
    fileprivate var milliseconds: UInt64 { UInt64(tv_sec) * 1000 + UInt64(tv_nsec) / 1_000_000 }
}
