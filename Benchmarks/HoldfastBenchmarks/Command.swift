import Foundation
import VaultCore
import VaultFormat

/// The built command as a user runs it: its memory and its start.
struct Command: Suite {
    static let figures = ["command-start-up", "command-get-memory"]

    let path: String

    static func measure(_ bench: Bench) throws -> [Figure] {
        guard let command = Command.found(bench, for: figures) else { return [] }
        // Later ones are charged for what this process has had by then.
        var found = bench.run == 1 ? [try command.memory(bench)] : []
        guard let hello = hello(bench, for: ["command-start-up"]) else { return found }
        let rounds = try Rounds(
            bench.options.count(201, quick: 31),
            [{ _ in try command.run(["--version"]).time }, { _ in try hello.run([]).time }])
        found.append(
            Figure(
                name: "command-start-up", value: rounds.ratio(0, to: 1), unit: "x",
                absolute: .init(rounds.median(0) / 1e6, "ms"), bound: .atMost(1.8),
                detail: "holdfast --version, from spawn to exit; a static hello takes "
                    + "\(number(rounds.median(1) / 1e6)) ms"))
        return found
    }

    /// The command to measure; nil, and said so, where there is none.
    static func found(_ bench: Bench, for figures: [String]) -> Command? {
        let beside = URL(fileURLWithPath: Scratch.program).deletingLastPathComponent().path + "/holdfast"
        let command = Command(path: bench.options.command ?? beside)
        if (try? command.run(["--version"]))?.status == 0 { return command }
        for figure in figures { bench.skip(figure, "\(command.path) is not there or does not answer --version") }
        return nil
    }

    /// The program that only says hello; nil, and said so, where there is none.
    static func hello(_ bench: Bench, for figures: [String]) -> Command? {
        if let path = bench.options.hello { return Command(path: path) }
        for figure in figures { bench.skip(figure, "--hello names no program") }
        return nil
    }

    /// The most memory that `holdfast get` had, beside what its key derivation needs.
    private func memory(_ bench: Bench) throws -> Figure {
        let home = bench.scratch.file("command")
        try expect(run(["init", "--home", home, "--passcode-fd", "3", "--phrase-out-fd", "1"], passcode: true), "init")
        try expect(run(["put", "name", "--home", home, "--passcode-fd", "3"], passcode: true), "put")
        let got = try run(["get", "name", "--home", home, "--passcode-fd", "3"], passcode: true)
        try expect(got, "get")
        guard let costs = try Vault(at: home).status().derivation else { throw BenchmarkError("no passcode") }
        let derivation = Double(costs.memoryKiB) / 1000 * 1.024
        let most = Double(got.memoryKiB) / 1000 * 1.024
        return Figure(
            name: "command-get-memory", value: most - derivation, unit: "MB", bound: .atMost(25),
            detail: "\(number(most)) MB at most, \(number(derivation)) MB of it for the key derivation")
    }

    func expect(_ run: Run, _ name: String) throws {
        if run.status != 0 { throw BenchmarkError("\(path) \(name) ended with \(run.status)") }
    }

    struct Run {
        /// Exit code, or the wait status when a signal ended it.
        let status: Int32
        /// Nanoseconds from spawn to exit.
        let time: Double
        let memoryKiB: Int
    }

    /// Runs the command; descriptor 3 gives the passcode, standard input a value, and what it prints is dropped.
    func run(_ arguments: [String], passcode: Bool = false) throws -> Run {
        var pipes: [Int32] = [-1, -1]
        guard unsafe pipe(&pipes) == 0 else { throw BenchmarkError("no pipe") }
        defer { close(pipes[0]) }
        let text = Array("correct horse battery staple\n".utf8)
        _ = unsafe write(pipes[1], text, passcode ? text.count : 0)
        close(pipes[1])
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, pipes[0], 3)
        unsafe posix_spawn_file_actions_addopen(&actions, 0, "/proc/self/comm", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        unsafe posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        var words: [UnsafeMutablePointer<CChar>?] = unsafe ([path] + arguments).map { unsafe strdup($0) } + [nil]
        defer { unsafe words.forEach { unsafe free($0) } }
        var child: pid_t = 0
        let start = nanoseconds()
        let spawned = unsafe posix_spawn(&child, path, &actions, nil, &words, environ)
        guard spawned == 0 else { throw BenchmarkError("\(path) cannot be started (\(spawned))") }
        var status: Int32 = 0
        var usage = rusage()
        while unsafe wait4(child, &status, 0, &usage) < 0 && errno == EINTR {}
        let taken = nanoseconds() - start
        let code = status & 0x7f == 0 ? status >> 8 & 0xff : status
        return Run(status: code, time: taken, memoryKiB: usage.ru_maxrss)
    }
}
