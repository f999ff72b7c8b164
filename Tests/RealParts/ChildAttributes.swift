package import Foundation

/// How a process that a test starts begins: as from a shell, whatever the tests themselves were started by.
///
/// Threads of a task pool block signals, and `nohup` or a shell's `&` leave some of them ignored; a child inherits
/// both, and one that ignores SIGINT never ends by it. The one place of it (checked by scripts/check-layout).
package final class ChildAttributes {
    /// For `posix_spawn`.
    package var raw = posix_spawnattr_t()

    /// - Parameters:
    ///   - blocked: Signals that are blocked when it starts, as careless parents leave them.
    ///   - hasOwnSession: Whether it gets a session of its own, without a terminal.
    package init(blocked: [Int32] = [], hasOwnSession: Bool = false) {
        unsafe posix_spawnattr_init(&raw)
        var mask = sigset_t()
        unsafe sigemptyset(&mask)
        for signal in blocked { unsafe sigaddset(&mask, signal) }
        unsafe posix_spawnattr_setsigmask(&raw, &mask)
        var all = sigset_t()
        unsafe sigfillset(&all)
        unsafe posix_spawnattr_setsigdefault(&raw, &all)
        // POSIX_SPAWN_SETSID, POSIX_SPAWN_SETSIGMASK, POSIX_SPAWN_SETSIGDEF: macros that Swift does not import.
        unsafe posix_spawnattr_setflags(&raw, (hasOwnSession ? 0x80 : 0) | 0x08 | 0x04)
    }

    deinit { unsafe posix_spawnattr_destroy(&raw) }
}
