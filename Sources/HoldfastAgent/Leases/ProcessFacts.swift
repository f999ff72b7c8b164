internal import SystemCalls

/// What the kernel says of a process in `/proc/PID/stat`, which everybody may read.
package struct ProcessStat: Sendable, Hashable {
    /// The name of its thread, which it can choose.
    package let name: String
    package let parent: Int32
    package let group: Int32
    package let session: Int32
    /// The device of its controlling terminal; 0 for none.
    package let terminal: UInt32
    /// The process group in the terminal's foreground.
    package let foreground: Int32
    package let start: UInt64
    /// Whether nothing of it runs any more, and only its parent has not yet taken note of that. As long as other
    /// threads run, the end of its first one is not its own.
    package let hasEnded: Bool

    /// The line of proc_pid_stat(5). The second field is a name in parentheses, which may hold any byte.
    package init?(parsing line: ArraySlice<UInt8>) {
        guard let begin = line.firstIndex(of: UInt8(ascii: "(")), let end = line.lastIndex(of: UInt8(ascii: ")")),
            begin < end
        else { return nil }
        let fields = line[(end + 1)...].split(separator: UInt8(ascii: " "))
        func field<T: FixedWidthInteger>(_ number: Int, _: T.Type) -> T? {
            guard fields.count > number - 3 else { return nil }
            return String(validating: fields[number - 3], as: UTF8.self).flatMap { T($0) }
        }
        guard let parent = field(4, Int32.self), let group = field(5, Int32.self), let session = field(6, Int32.self),
            let terminal = field(7, Int32.self),
            let foreground = field(8, Int32.self), let threads = field(20, Int.self),
            let start = field(22, UInt64.self), let state = fields.first
        else { return nil }
        name = String(decoding: line[(begin + 1)..<end], as: UTF8.self)
        self.parent = parent
        self.group = group
        self.session = session
        self.terminal = UInt32(bitPattern: terminal)
        self.foreground = foreground
        self.start = start
        hasEnded = threads <= 1 && (state.elementsEqual("Z".utf8) || state.elementsEqual("X".utf8))
    }

    /// Nil when there is no such process, or none any more, or no /proc.
    package init?(of process: Int32) {
        let file = unsafe open("/proc/\(process)/stat", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 1024)
        let count = unsafe read(file, &bytes, bytes.count)
        guard count > 0 else { return nil }
        self.init(parsing: bytes[..<count])
        guard !hasEnded else { return nil }
    }
}

/// What a process sees of the file system.
enum ProcessFiles {
    /// Whether a process has the same mounts as this one. With others, a path and the number of a terminal name
    /// something else to it, and it may have chosen what.
    ///
    /// Everybody may read the list of a process's mounts, also of one that hides itself. A mount is in one namespace
    /// only, and its number is its own. Where nothing can be read, or the root is another one, it counts as others.
    static func areOurs(_ process: Int32) -> Bool {
        guard let first = firstMount(of: "\(process)") else { return false }
        return first == firstMount(of: "self")
    }

    /// The number of the first mount that proc_pid_mountinfo(5) lists.
    private static func firstMount(of process: String) -> Int32? {
        let file = unsafe open("/proc/\(process)/mountinfo", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = unsafe read(file, &bytes, bytes.count)
        guard count > 0, let end = bytes[..<count].firstIndex(of: UInt8(ascii: " ")) else { return nil }
        return String(validating: bytes[..<end], as: UTF8.self).flatMap { Int32($0) }
    }
}

extension ProgramFile {
    /// The file that a process runs; nil where the kernel does not tell, as of a process that hides itself.
    init?(of process: Int32) {
        var status = stat()
        guard unsafe stat("/proc/\(process)/exe", &status) == 0 else { return nil }
        self.init(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    }

    /// The path of the file that a process runs, as the kernel tells it: with ` (deleted)` behind one that was removed.
    package static func path(of process: Int32) -> String? {
        var bytes = [CChar](repeating: 0, count: 4096)
        let count = unsafe readlink("/proc/\(process)/exe", &bytes, bytes.count)
        guard count > 0, count < bytes.count else { return nil }
        return String(decoding: bytes[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
