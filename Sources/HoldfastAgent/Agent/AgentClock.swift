package import VaultHeader
package import VaultStorage
internal import SystemCalls

/// The clock of an agent, and its only timer.
package protocol AgentClock: BootClock {
    /// Becomes readable when the time has moved in a way that nothing else tells; nil where a signal tells it.
    var descriptor: Int32? { get }

    /// Reads what ``descriptor`` has.
    func drain()

    /// Sends SIGALRM at an instant, or never; replaces what was asked for before.
    func arm(_ instant: BootInstant?)
}

/// The kernel's clock that includes sleep, and a timer on it. The timer belongs to the process, as its signal does.
@safe package final class SystemAgentClock: AgentClock, @unchecked Sendable {  // the timer is never replaced
    private let clock = SystemBootClock()
    #if os(Linux) && !canImport(Darwin)
    /// The kernel's number for it, which C takes for a pointer: the first timer of a process is number 0, here nil.
    private let timer: timer_t?
    #endif

    /// - Throws: `agentUnavailable` when the system has no timer left.
    package init() throws(VaultError) {
        #if os(Linux) && !canImport(Darwin)
        var event = unsafe sigevent()
        unsafe event.sigev_notify = Int32(SIGEV_SIGNAL)
        unsafe event.sigev_signo = SIGALRM
        var made: timer_t?
        guard unsafe timer_create(CLOCK_BOOTTIME, &event, &made) == 0 else { throw .system("making a timer") }
        unsafe timer = made
        #endif
    }

    deinit {
        #if os(Linux) && !canImport(Darwin)
        unsafe timer_delete(timer)
        #endif
    }

    package var descriptor: Int32? { nil }

    package func drain() {}

    package func now() -> BootInstant { clock.now() }

    package func arm(_ instant: BootInstant?) {
        #if os(Linux) && !canImport(Darwin)
        var setting = itimerspec()
        if let instant {
            // Zero would disarm it.
            let milliseconds = max(1, instant.milliseconds)
            setting.it_value.tv_sec = time_t(clamping: milliseconds / 1000)
            setting.it_value.tv_nsec = Int(milliseconds % 1000) * 1_000_000
        }
        unsafe timer_settime(timer, TIMER_ABSTIME, &setting, nil)
        #else
        var setting = itimerval()
        if let instant {
            let milliseconds = max(1, instant.milliseconds - min(instant.milliseconds, clock.now().milliseconds))
            setting.it_value.tv_sec = time_t(clamping: milliseconds / 1000)
            setting.it_value.tv_usec = Int32(milliseconds % 1000) * 1000
        }
        unsafe setitimer(ITIMER_REAL, &setting, nil)
        #endif
    }
}
