import Foundation
import SeededNumbers

/// A program that a test started, ended with it by its process id.
package final class Spawned: @unchecked Sendable {  // used by one test at a time
    private var process = pid_t()
    private var isEnded = false

    /// - Parameters:
    ///   - output: Where its standard output and error go; nil for nowhere.
    ///   - passed: What it gets as descriptor 3; nil for nothing.
    package init(
        _ words: [String], environment: [String: String] = [:], output: Int32? = nil, passing passed: Int32? = nil
    ) throws {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        for target: Int32 in [1, 2] {
            if let output {
                unsafe posix_spawn_file_actions_adddup2(&actions, output, target)
            } else {
                unsafe posix_spawn_file_actions_addopen(&actions, target, "/dev/null", O_WRONLY, 0)
            }
        }
        // Libraries open sockets that a child would inherit: held open there, their other end is never told that we
        // closed ours, and a software TPM serves one connection at a time.
        if let passed { unsafe posix_spawn_file_actions_adddup2(&actions, passed, 3) }
        for descriptor in Spawned.inherited where passed == nil || descriptor > 3 {
            unsafe posix_spawn_file_actions_addclose(&actions, descriptor)
        }
        let merged = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
        var variables = unsafe merged.map { unsafe strdup("\($0.key)=\($0.value)") } + [nil]
        defer {
            unsafe arguments.forEach { unsafe free($0) }
            unsafe variables.forEach { unsafe free($0) }
        }
        let attributes = ChildAttributes()
        let status = unsafe posix_spawnp(&process, words[0], &actions, &attributes.raw, &arguments, &variables)
        guard status == 0 else {
            isEnded = true  // no process has the number 0: a signal to it would go to our own group
            throw Problem("\(words[0]) cannot be started: \(status)")
        }
    }

    /// What may be open here, and somewhat more: other threads open things meanwhile. Closing what is not open is
    /// harmless.
    private static var inherited: Range<Int32> {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return 3..<max(256, (names.compactMap { Int32($0) }.max() ?? 0) + 64)
    }

    deinit { end(SIGKILL) }

    package struct Problem: Error, CustomStringConvertible {
        package let description: String
        init(_ description: String) { self.description = description }
    }

    /// Its process id, good until its end was waited for.
    package var identifier: Int32 { process }

    /// Whether it still runs.
    package var isRunning: Bool {
        guard !isEnded else { return false }
        var status: Int32 = 0
        isEnded = unsafe waitpid(process, &status, WNOHANG) == process
        return !isEnded
    }

    /// Sends a signal and does not wait.
    package func signal(_ number: Int32) {
        guard process > 0 else { return }
        kill(process, number)
    }

    package func end(_ signal: Int32) {
        guard !isEnded else { return }
        kill(process, signal)
        _ = wait()
    }

    /// Its exit status; -1 when a signal ended it, and when it had to be killed because it does not end.
    package func wait() -> Int32 {
        guard !isEnded else { return -1 }
        var status: Int32 = 0
        if !Patience.wait(until: { unsafe waitpid(process, &status, WNOHANG) == process }) {
            kill(process, SIGKILL)
            while unsafe waitpid(process, &status, 0) < 0 && errno == EINTR {}
        }
        isEnded = true
        return status & 0x7f == 0 ? status >> 8 & 0xff : -1
    }
}
