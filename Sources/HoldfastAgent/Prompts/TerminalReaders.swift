internal import SystemCalls

/// Who else could read what is typed on a terminal. In `ssh a tar c x | ssh b tar x` both programs are in front, and
/// the first one hands on to its host whatever it reads.
package enum TerminalReaders {
    /// Why nothing is asked.
    package static let words = "a program in front of this terminal could read what is typed"

    /// For a command that asks for itself. What started it, and waits, is not looked at.
    /// - Parameter name: Of programs that hide themselves and read nothing that is not for them: its own.
    package static func areThere(besides asker: Int32, andThoseNamed name: String) -> Bool {
        // One in the background reads nothing.
        guard let stat = ProcessStat(of: asker), stat.terminal != 0, stat.group == stat.foreground else { return false }
        return areThere(on: stat.terminal, asker) { process, stat, isAbove in
            isAbove || (stat.name == name && Spawn.numbers(in: "/proc/\(process)/fd") == nil)
        }
    }

    /// Whether a process in the foreground could read the terminal: it has it open to read, or hides what it has open.
    /// Not those above the one that asks that wait for something else, as `git` does for its `ssh`.
    /// - Parameter isAskerOne: Whether the one that asks is a reader, too, unless it waits for something else.
    static func areThere(on terminal: UInt32, _ asker: Int32, isAskerOne: Bool) -> Bool {
        areThere(on: terminal, asker) { process, _, isAbove in
            (process == asker && !isAskerOne) || (isAbove && waits(process))
        }
    }

    /// - Parameter isHarmless: Of a process that could read, whether it does not; the last one says whether it is the
    ///   asker or above it.
    private static func areThere(
        on terminal: UInt32, _ asker: Int32, but isHarmless: (Int32, ProcessStat, Bool) -> Bool
    ) -> Bool {
        // Where even the first process is not to be seen, others are not, either.
        guard let asking = ProcessStat(of: asker), ProcessStat(of: 1) != nil else { return true }
        var above: Set<Int32> = [asker]
        var parent = asking.parent
        while parent > 1, above.insert(parent).inserted, let stat = ProcessStat(of: parent) { parent = stat.parent }
        return isAny(on: terminal, asking.session) { !isHarmless($0, $1, above.contains($0)) } ?? true
    }

    /// Whether one of the programs in the foreground of a terminal that have it open to read is such a one; nil where
    /// the kernel does not tell.
    /// - Parameter session: The one that has the terminal: a container's terminals have the same numbers, and nobody
    ///   but their owner sees what is open there.
    private static func isAny(
        on terminal: UInt32, _ session: Int32?, _ isMeant: (Int32, ProcessStat) -> Bool
    ) -> Bool? {
        Spawn.numbers(in: "/proc")?.contains { process in
            guard let stat = ProcessStat(of: process), stat.terminal == terminal, stat.group == stat.foreground,
                session == nil || stat.session == session, reads(process, terminal)
            else { return false }
            return isMeant(process, stat)
        }
    }

    /// Whether a program in the foreground waits in a read of the terminal now. Not a shell that leads the session.
    /// - Parameter asker: A process of that terminal; every session is looked at where it has ended.
    static func isRead(_ terminal: UInt32, of asker: Int32) -> Bool {
        let isOne = isAny(on: terminal, ProcessStat(of: asker)?.session) { process, stat in
            stat.session != process
                && waitingPlaces(of: process).contains { $0.contains("tty") || $0.contains("woken") }
        }
        return isOne ?? false
    }

    /// Whether all threads of a process wait for what is not the terminal. One that runs, and one that the kernel does
    /// not tell of, is looked at again for a while.
    private static func waits(_ process: Int32) -> Bool {
        for _ in 0..<50 {
            guard ProcessStat(of: process) != nil else { return true }
            let places = waitingPlaces(of: process)
            if places.contains(where: isForAny) { return false }
            if !places.isEmpty, places.allSatisfy(harmless.contains) { return true }
            usleep(20_000)
        }
        return false
    }

    /// Where in the kernel a thread waits for a child, a signal, another thread, a pipe or a local socket.
    private static let harmless: Set<String> = [
        "do_wait", "sigsuspend", "do_sigtimedwait", "__do_sys_pause", "futex_do_wait", "futex_wait_queue",
        "futex_wait_queue_me", "pipe_read", "pipe_write", "anon_pipe_read", "anon_pipe_write", "fifo_pipe_read",
        "fifo_pipe_write", "wait_for_partner", "unix_stream_read_generic", "unix_stream_data_wait",
    ]

    /// Whether a thread waits for a terminal, or for any of several things: `do_epoll_wait`, `poll_schedule_timeout`,
    /// `wait_woken`.
    private static func isForAny(_ place: String) -> Bool {
        ["poll", "select", "tty", "woken"].contains { place.contains($0) }
    }

    /// The name of the function of the kernel that each thread of a process waits in, without what the compiler adds;
    /// `0` for a thread that runs.
    private static func waitingPlaces(of process: Int32) -> [String] {
        let threads = Spawn.numbers(in: "/proc/\(process)/task") ?? []
        return threads.map { thread in
            let name = text("/proc/\(process)/task/\(thread)/wchan")
            return String(decoding: name.prefix { $0 != UInt8(ascii: ".") }, as: UTF8.self)
        }
    }

    private static func reads(_ process: Int32, _ terminal: UInt32) -> Bool {
        guard let descriptors = Spawn.numbers(in: "/proc/\(process)/fd") else { return ProcessStat(of: process) != nil }
        // A program writes to 1 and 2, though a shell's could be read, too.
        return descriptors.contains { descriptor in
            guard descriptor != 1, descriptor != 2 else { return false }
            var status = stat()
            guard unsafe stat("/proc/\(process)/fd/\(descriptor)", &status) == 0, status.st_mode & S_IFMT == S_IFCHR,
                PromptPlace.names(UInt64(status.st_rdev), terminal)
            else { return false }
            return flags(process, descriptor).map { $0 & O_ACCMODE != O_WRONLY } ?? true
        }
    }

    /// What a descriptor was opened with, as `/proc/PID/fdinfo` tells in octal.
    private static func flags(_ process: Int32, _ descriptor: Int32) -> Int32? {
        let lines = text("/proc/\(process)/fdinfo/\(descriptor)").split(separator: UInt8(ascii: "\n"))
        let value = lines.first { $0.starts(with: "flags:".utf8) }?.dropFirst(6).drop { $0 == 9 || $0 == 32 }
        return value.flatMap { Int32(String(decoding: $0, as: UTF8.self), radix: 8) }
    }

    /// The beginning of a file; empty where it cannot be read.
    private static func text(_ path: String) -> ArraySlice<UInt8> {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return [] }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = unsafe read(file, &bytes, bytes.count)
        return bytes[..<max(0, count)]
    }
}

extension Question {
    /// Whether somebody else could read the answer on a terminal. An SSH program may ask for a host that it hands the
    /// agent on to, without a word of that, and then sends there what it reads.
    func isShared(on terminal: UInt32) -> Bool {
        var isOfSSH = false
        if case .vault(.sshKeys, problem: _) = subject { isOfSSH = true }
        return TerminalReaders.areThere(on: terminal, process, isAskerOne: isOfSSH)
    }
}
