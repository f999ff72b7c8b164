import Foundation
import RealParts
import TestSupport
import Testing

/// The binary under test, next to the tests that were built with it.
enum Program {
    static let path = beside("holdfast")

    /// Another program that was built with the tests.
    static func beside(_ name: String) -> String {
        let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return URL(fileURLWithPath: tests).deletingLastPathComponent().appendingPathComponent(name).path
    }

    /// The root of the package.
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
}

/// What a descriptor of a child is.
enum Source {
    case null
    case closed
    /// Opened for reading.
    case file(String)
    /// Opened for writing, made new.
    case output(String)
    /// Opened for reading and writing; the first terminal that a new session opens becomes its own.
    case terminal(String)
    /// One of ours.
    case ours(Int32)
}

/// A process of the binary or of a shell, in a session of its own: it has no terminal unless it is given one.
final class Child {
    let pid: pid_t
    /// Ends when the process does; so a process that hangs can be told from one that works.
    private let life: Int32
    private var status: Int32?

    /// - Parameters:
    ///   - words: The arguments behind the program's name, byte by byte.
    ///   - blocked: Signals that are blocked when it starts, as careless parents leave them.
    init(
        _ program: String = Program.path, raw words: [[UInt8]], descriptors: [Int32: Source] = [:],
        environment: [String: String] = [:], blocked: [Int32] = []
    ) throws {
        var ends: [Int32] = [-1, -1]
        try #require(unsafe pipe(&ends) == 0)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[1]) }
        life = ends[0]
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, ends[1], 300)
        var all: [Int32: Source] = [0: .null, 1: .null, 2: .null]
        all.merge(descriptors) { $1 }
        // What is ours first: opening a file at a number could close it.
        for (number, source) in all.sorted(by: { $0.value.rank < $1.value.rank || $0.key < $1.key }) {
            unsafe source.add(to: &actions, as: number)
        }
        // Libraries and the proxies of tests open sockets that a child would inherit: held open there, their other end
        // is never told that we closed ours, and a software TPM serves one connection at a time.
        for number in Child.present where all[number] == nil && number != 300 {
            unsafe posix_spawn_file_actions_addclose(&actions, number)
        }
        let attributes = ChildAttributes(blocked: blocked, hasOwnSession: true)
        let variables = Child.inherited.merging(environment) { $1 }.map { "\($0)=\($1)" }
        let arguments = unsafe Child.copies([Array(program.utf8)] + words)
        let environment = unsafe Child.copies(variables.map { Array($0.utf8) })
        defer {
            unsafe arguments.forEach { unsafe free($0) }
            unsafe environment.forEach { unsafe free($0) }
        }
        var child: pid_t = 0
        let error = unsafe posix_spawn(&child, program, &actions, &attributes.raw, arguments, environment)
        try #require(error == 0, "\(program) cannot be started: \(error)")
        pid = child
    }

    /// What may be open here, and somewhat more: other threads open things meanwhile. Closing what is not open is
    /// harmless.
    private static var present: Range<Int32> {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return 3..<max(256, (names.compactMap { Int32($0) }.max() ?? 0) + 64)
    }

    /// What sanitizers and the loader need, and no more.
    private static let inherited = ProcessInfo.processInfo.environment.filter {
        ["PATH", "ASAN_OPTIONS", "TSAN_OPTIONS", "LD_PRELOAD", "LD_LIBRARY_PATH", "SWIFT_BACKTRACE"].contains($0.key)
    }

    private static func copies(_ words: [[UInt8]]) -> [UnsafeMutablePointer<CChar>?] {
        unsafe words.map { word in
            unsafe (word + [0]).withUnsafeBufferPointer { bytes in
                unsafe bytes.withMemoryRebound(to: CChar.self) { unsafe strdup($0.baseAddress!) }
            }
        } + [nil]
    }

    /// Whether it has not ended yet.
    var isRunning: Bool {
        guard status == nil else { return false }
        // Not by its pipe, which what another thread started at the same moment may hold open.
        var info = unsafe siginfo_t()
        guard unsafe waitid(P_PID, id_t(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 else { return false }
        return unsafe info.si_signo != SIGCHLD
    }

    /// Waits for the end, and ends what does not end by itself.
    /// - Returns: The exit code, or 1000 and the signal that ended it.
    func wait(seconds: Int32 = Patience.seconds) -> Int32 {
        if let status { return status }
        var waiting = pollfd(fd: life, events: Int16(POLLIN), revents: 0)
        if unsafe poll(&waiting, 1, seconds * 1000) == 0 {
            Issue.record("the process hangs")
            kill(pid, SIGKILL)
        }
        var raw: Int32 = 0
        while unsafe waitpid(pid, &raw, 0) == -1, errno == EINTR {}
        let result = raw & 0x7F == 0 ? raw >> 8 & 0xFF : 1000 + raw & 0x7F
        status = result
        return result
    }

    deinit {
        if status == nil { _ = wait(seconds: 0) }
        close(life)
    }
}

extension Source {
    fileprivate var rank: Int {
        switch self {
        case .ours: 0
        case .terminal: 1
        default: 2
        }
    }

    fileprivate func add(to actions: inout posix_spawn_file_actions_t, as number: Int32) {
        switch self {
        case .null: unsafe posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_RDWR, 0)
        case .closed: unsafe posix_spawn_file_actions_addclose(&actions, number)
        case .file(let path): unsafe posix_spawn_file_actions_addopen(&actions, number, path, O_RDONLY, 0)
        case .output(let path):
            unsafe posix_spawn_file_actions_addopen(&actions, number, path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        case .terminal(let path): unsafe posix_spawn_file_actions_addopen(&actions, number, path, O_RDWR, 0)
        case .ours(let descriptor): unsafe posix_spawn_file_actions_adddup2(&actions, descriptor, number)
        }
    }
}
