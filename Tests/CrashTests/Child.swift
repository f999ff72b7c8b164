#if os(Linux) && !canImport(Darwin)
import Foundation
import RealParts
import SystemCalls
import TestSupport

/// A process of ours with channels to its input and from its output. It never outlives this object.
final class Child {
    /// How a process ended.
    enum End: Hashable {
        case exited(Int32)
        case killed(Int32)
    }

    private var process = pid_t()
    private var input: Int32
    private let output: Int32
    private let life: Int32
    private var buffer: [UInt8] = []
    private var ended: End?

    /// The built products lie beside the test's own executable.
    static let products = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        .path

    /// Starts the crash subject, or another command found in PATH.
    init(_ arguments: [String], command: String = "\(products)/CrashSubject", environment: [String: String] = [:])
        throws
    {
        let toChild = try Child.channel()
        let fromChild = try Child.channel()
        let alive = try Child.channel()
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, toChild.theirs, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, fromChild.theirs, 1)
        unsafe posix_spawn_file_actions_adddup2(&actions, alive.theirs, 300)
        var merged = ProcessInfo.processInfo.environment
        merged["SWIFT_BACKTRACE"] = "enable=no"
        merged.merge(environment) { $1 }
        var words = unsafe ([command] + arguments).map { unsafe strdup($0) } + [nil]
        var variables = unsafe merged.map { unsafe strdup("\($0.key)=\($0.value)") } + [nil]
        defer {
            unsafe words.forEach { unsafe free($0) }
            unsafe variables.forEach { unsafe free($0) }
        }
        let attributes = ChildAttributes()
        let status = unsafe posix_spawnp(&process, command, &actions, &attributes.raw, &words, &variables)
        close(toChild.theirs)
        close(fromChild.theirs)
        close(alive.theirs)
        life = alive.ours
        input = toChild.ours
        output = fromChild.ours
        guard status == 0 else {
            ended = .exited(status)
            throw Problem("\(command) cannot be started: \(status)")
        }
    }

    deinit {
        if ended == nil { kill() }
        if input >= 0 { close(input) }
        close(output)
        close(life)
    }

    /// Sockets, because these can be made so that processes started meanwhile by other tests do not inherit them.
    private static func channel() throws -> (ours: Int32, theirs: Int32) {
        var ends: [Int32] = [0, 0]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw Problem("no channel: \(errno)") }
        return (ends[0], ends[1])
    }

    /// The next line; nil when the process has ended or closed its output. One that says nothing for too long is ended.
    func line() throws -> String? {
        while true {
            if let end = buffer.firstIndex(of: 10) {
                let line = String(decoding: buffer[..<end], as: UTF8.self)
                buffer.removeFirst(end + 1)
                return line
            }
            var waiting = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&waiting, 1, Patience.milliseconds) != 0 else {
                kill()
                throw Problem("the subject hangs; begun: \(String(decoding: buffer, as: UTF8.self))")
            }
            var block = [UInt8](repeating: 0, count: 65_536)
            let got = unsafe read(output, &block, block.count)
            if got < 0 && errno == EINTR { continue }
            guard got > 0 else { return nil }
            buffer.append(contentsOf: block[..<got])
        }
    }

    /// The next line, which must be there.
    func expect() throws -> String {
        guard let line = try line() else { throw Problem("the subject ended early: \(wait())") }
        return line
    }

    /// Every line until the process ends.
    func rest() throws -> [String] {
        var lines: [String] = []
        while let line = try line() { lines.append(line) }
        return lines
    }

    func send(_ line: String) throws {
        let bytes = Array((line + "\n").utf8)
        guard unsafe write(input, bytes, bytes.count) == bytes.count else {
            throw Problem("the subject does not listen")
        }
    }

    func closeInput() {
        close(input)
        input = -1
    }

    /// `kill -9`, and what the process had said until then.
    @discardableResult
    func kill() -> End {
        if ended == nil, process > 0 { _ = SystemCalls.kill(process, SIGKILL) }
        return reap()
    }

    /// Waits for its end. What does not end by itself is killed, which its test sees.
    @discardableResult
    func wait() -> End {
        if ended == nil, !hasEnded(within: Patience.milliseconds) { return kill() }
        return reap()
    }

    /// Its end is seen by a descriptor that only it has.
    private func hasEnded(within milliseconds: Int32) -> Bool {
        var waiting = pollfd(fd: life, events: Int16(POLLIN), revents: 0)
        while true {
            let count = unsafe poll(&waiting, 1, milliseconds)
            if count >= 0 || errno != EINTR { return count != 0 }
        }
    }

    private func reap() -> End {
        if let ended { return ended }
        var status: Int32 = 0
        while unsafe waitpid(process, &status, 0) < 0 && errno == EINTR {}
        let end: End = status & 0x7F == 0 ? .exited(status >> 8 & 0xFF) : .killed(status & 0x7F)
        ended = end
        return end
    }
}

extension Child {
    /// Kills at a random moment: after a random number of acknowledgements and a random spin after the last of them.
    /// - Returns: Every line that was said, those still on the way included.
    static func killed(
        _ arguments: [String], after lines: Int, spinning nanoseconds: UInt64, environment: [String: String] = [:]
    ) throws -> [String] {
        let child = try Child(arguments, environment: environment)
        var said: [String] = []
        while said.count < lines, let line = try child.line() { said.append(line) }
        spin(nanoseconds: nanoseconds)
        let end = child.kill()
        said += try child.rest()
        if let line = said.first(where: { $0.hasPrefix("error") || $0.hasPrefix("usage") }) {
            throw Problem("the subject failed by itself (\(end)): \(line)")
        }
        return said
    }
}
#endif
