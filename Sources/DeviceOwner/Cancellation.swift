internal import SystemCalls

/// Triggered once from any thread, and seen by a thread that waits in `poll(2)`.
package final class Cancellation: Sendable {
    /// Readable from the moment of the cancel on; -1 where no pipe could be had.
    package let descriptor: Int32
    private let writer: Int32

    package init() {
        var ends: [Int32] = [-1, -1]
        if unsafe pipe(&ends) == 0 {
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        }
        descriptor = ends[0]
        writer = ends[1]
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
        if writer >= 0 { close(writer) }
    }

    /// Without a pipe nothing can be cancelled, and nothing is begun.
    package var isPossible: Bool { descriptor >= 0 }

    package func cancel() {
        var byte: UInt8 = 1
        _ = unsafe write(writer, &byte, 1)
    }

    /// Resets it, for callers that use it more than once.
    package func take() {
        var byte: UInt8 = 0
        _ = unsafe read(descriptor, &byte, 1)
    }

    /// Whether it was told. Fails closed: a wait that fails counts as a cancel.
    package var isCancelled: Bool {
        guard isPossible else { return true }
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        var status = unsafe poll(&waiting, 1, 0)
        while status < 0, errno == EINTR { status = unsafe poll(&waiting, 1, 0) }
        return status != 0
    }
}

extension Cancellation {
    /// Waits until one of them was told. Blocks.
    /// - Parameter deadline: Milliseconds of the `MonotonicClock`.
    /// - Returns: The first that was told, in the order given; nil when time ran out or the wait failed.
    static func wait(_ cancellations: [Cancellation], until deadline: UInt64) -> Cancellation? {
        var waiting = cancellations.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        while true {
            let now = MonotonicClock.milliseconds
            let left = Int32(clamping: deadline > now ? deadline - now : 0)
            let status = unsafe poll(&waiting, nfds_t(waiting.count), left)
            if status < 0, errno == EINTR { continue }
            if status > 0 { return zip(cancellations, waiting).first { $0.1.revents != 0 }?.0 }
            if status < 0 || MonotonicClock.milliseconds >= deadline { return nil }
        }
    }
}
