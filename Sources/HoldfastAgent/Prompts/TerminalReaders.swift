internal import SystemCalls

/// Who else could read what is typed on a terminal. In `ssh a tar c x | ssh b tar x` both programs are in front, and
/// the first one hands on to its host whatever it reads.
package enum TerminalReaders {
    package static let words = "another program in front of this terminal could read what is typed"

    /// Whether a process in the foreground has the terminal open to read, or hides what it has open. Not the one that
    /// asks, nor those that wait for it, as `git` does for its `ssh`.
    /// - Parameter name: Of programs that hide themselves and read nothing that is not for them: this command's own.
    package static func areThere(on terminal: UInt32, besides asker: Int32, butFor name: String? = nil) -> Bool {
        guard let asking = ProcessStat(of: asker) else { return true }
        var waiting: Set<Int32> = [asker]
        var parent = asking.parent
        while parent > 1, waiting.insert(parent).inserted, let stat = ProcessStat(of: parent) { parent = stat.parent }
        guard let processes = Spawn.numbers(in: "/proc") else { return true }
        return processes.contains { process in
            guard !waiting.contains(process), let stat = ProcessStat(of: process) else { return false }
            return stat.terminal == terminal && stat.group == asking.foreground
                && (name != stat.name || Spawn.numbers(in: "/proc/\(process)/fd") != nil) && reads(process, terminal)
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
        let file = unsafe open("/proc/\(process)/fdinfo/\(descriptor)", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = unsafe read(file, &bytes, bytes.count)
        guard count > 0 else { return nil }
        let lines = bytes[..<count].split(separator: UInt8(ascii: "\n"))
        let value = lines.first { $0.starts(with: "flags:".utf8) }?.dropFirst(6).drop { $0 == 9 || $0 == 32 }
        return value.flatMap { Int32(String(decoding: $0, as: UTF8.self), radix: 8) }
    }
}
