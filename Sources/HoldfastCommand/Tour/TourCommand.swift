internal import CommandLineArguments
internal import Synchronization
internal import SystemCalls

extension Command {
    static let tour = Command(
        "tour", summary: "demonstrate every part in a temporary vault",
        details: [
            "Takes a few seconds, asks for nothing, and does not use your vault: it works in a temporary folder in "
                + "$TMPDIR or /tmp, which it removes. Every step is checked; the exit code is 0 only if all of them "
                + "succeeded."
        ],
        example: "holdfast tour",
        options: [], run: takeTour)
}

/// The one command that needs tasks, because an app's lock is an actor. They run on threads of their own; this one waits
/// for them and for signals, so that the scratch folder goes in any case.
private func takeTour(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let watch = try SignalWatch([SIGINT, SIGTERM, SIGHUP])
    let scratch = try ScratchFolder()
    defer { scratch.remove() }
    let ending = try Ending()
    let task = Task.detached {
        do throws(CommandError) {
            let isHeld = try await Tour(scratch: scratch.path).take(Chapter.all)
            ending.come(isHeld ? .success(.done) : .success(.failure))
        } catch { ending.come(.failure(error)) }
    }
    var isStopping = false
    while true {
        if let outcome = ending.wait(or: watch.descriptor) { return try outcome.get() }
        while watch.next() != nil {
            // The running step may finish; a second signal ends it at once.
            if isStopping { throw .interrupted }
            isStopping = true
            task.cancel()
        }
    }
}

/// The end of a task that a thread waits for.
private final class Ending: Sendable {
    private let outcome = Mutex<Result<ExitCode, CommandError>?>(nil)
    private let readEnd: Int32
    private let writeEnd: Int32

    init() throws(CommandError) {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw .failure("system", "pipe: \(SystemError.last)") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        readEnd = ends[0]
        writeEnd = ends[1]
    }

    deinit {
        close(readEnd)
        close(writeEnd)
    }

    func come(_ result: Result<ExitCode, CommandError>) {
        outcome.withLock { $0 = result }
        var byte: UInt8 = 1
        _ = unsafe write(writeEnd, &byte, 1)
    }

    /// Returns when the end has come, or nil when the other descriptor has something to read.
    func wait(or other: Int32) -> Result<ExitCode, CommandError>? {
        var waiting = [
            pollfd(fd: readEnd, events: Int16(POLLIN), revents: 0),
            pollfd(fd: other, events: Int16(POLLIN), revents: 0),
        ]
        unsafe poll(&waiting, 2, -1)
        return outcome.withLock { $0 }
    }
}
