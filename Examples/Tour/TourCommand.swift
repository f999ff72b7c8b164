internal import Holdfast
internal import HoldfastCommand
internal import Synchronization
internal import SystemCalls

/// `holdfast-tour`: demonstrates every part in a temporary vault, in a folder in $TMPDIR or /tmp that it removes. It
/// asks for nothing. Every step is checked; the exit code is 0 only if all of them succeeded.
enum TourCommand {
    static func run() -> ExitCode {
        do throws(CommandError) {
            guard CommandLine.argc == 1 else { throw .usage("the tour takes no arguments") }
            return try take()
        } catch {
            if error.exit != .interrupted { Output.note(error.message) }
            return error.exit
        }
    }

    /// An app's lock is an actor, so the tour runs on threads of its own; this one waits for it and for signals, so
    /// that the scratch folder goes in any case.
    private static func take() throws(CommandError) -> ExitCode {
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
}

/// The end of a task that a thread waits for.
private final class Ending: Sendable {
    private let outcome = Mutex<Result<ExitCode, CommandError>?>(nil)
    private let readEnd: Int32
    private let writeEnd: Int32

    init() throws(CommandError) {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw .failure(.init(word: "system"), "pipe: \(SystemError.last)") }
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
