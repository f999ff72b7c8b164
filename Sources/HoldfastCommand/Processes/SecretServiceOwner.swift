internal import DeviceOwner
internal import HoldfastAgent
internal import SecretMemory
internal import SystemCalls

/// The program that is the Secret Service of the session now.
enum SecretServiceOwner {
    /// The only program that is ended: it holds nothing that is not on the disk, and ends in order. Others are people's
    /// password managers.
    private static let replaceable = "gnome-keyring-daemon"
    /// Milliseconds that it has for its end.
    private static let patience: UInt64 = 10_000

    /// Ends GNOME's keyring, where that is the Secret Service, and waits until the name is free.
    /// - Throws: Where another program is.
    static func end() throws(CommandError) {
        guard let bus = try connect() else { return }
        let process = bus.process
        if ProcessStat(of: process)?.name == AgentCommand.processName { return }
        let path = process > 0 ? ProcessFile.path(of: process) : nil
        guard let path, path.split(separator: "/").last == replaceable[...] else {
            let program = path.map { " (\(Escaping.name($0)))" } ?? ""
            throw CommandError(
                .failure, code: .keyring, "process \(process)\(program) is the Secret Service of this session",
                advice: "turn that off in its settings, or end it; --replace ends \(replaceable) only")
        }
        guard kill(process, SIGTERM) == 0 || errno == ESRCH else {
            throw .failure(.keyring, "\(replaceable) (process \(process)) cannot be ended: \(SystemError.last)")
        }
        let deadline = MonotonicClock.milliseconds + patience
        while let now = try connect(), now.owner == bus.owner {
            guard MonotonicClock.milliseconds < deadline else {
                throw .failure(.keyring, "\(replaceable) (process \(process)) was told to end and does not")
            }
            usleep(20_000)
        }
        Output.note(
            "ended \(replaceable). It comes back at the next login unless you turn it off: systemctl --user mask "
                + "gnome-keyring-daemon.service gnome-keyring-daemon.socket")
    }

    /// Nil where no program is.
    private static func connect() throws(CommandError) -> KeyringBus? {
        do throws(KeyringBus.Problem) { return try KeyringBus(until: MonotonicClock.milliseconds + patience) } catch {
            if case .unavailable(let number) = error {
                throw .failure(.keyring, "the session bus cannot be used (error \(number))")
            }
            return nil
        }
    }
}

/// The file that a process runs, also where an update has put another one there.
private enum ProcessFile {
    static func path(of process: Int32) -> String? {
        guard let path = ProgramFile.path(of: process) else { return nil }
        let replaced = " (deleted)"
        return path.hasSuffix(replaced) ? String(path.dropLast(replaced.count)) : path
    }

    /// This program's, where it is installed.
    static var own: String? {
        guard let path = path(of: getpid()), unsafe access(path, X_OK) == 0 else { return nil }
        return path
    }
}

/// The file that has D-Bus start the agent for a program that looks for the Secret Service (D-Bus specification,
/// "Message Bus Starting Services"). It comes before the system's own, such as gnome-keyring's.
struct SecretServiceFile {
    private let folder: String
    private var path: String { folder + "/org.freedesktop.secrets.service" }
    private static let words = " secrets serve --home "
    private static let mark = "# Written by holdfast secrets serve --always; holdfast secrets stop removes it."

    /// In the user's data folder.
    static func forUser() throws(CommandError) -> SecretServiceFile {
        guard let data = try HomeFolder.data() else {
            throw .usage("no home folder was found; set XDG_DATA_HOME")
        }
        return SecretServiceFile(folder: data + "/dbus-1/services")
    }

    /// What is to be in it, before anything is done.
    /// - Throws: Where there is one that somebody else wrote, and where D-Bus could not start this.
    func contents(home: String) throws(CommandError) -> String {
        let isFree = try !isThere || isOurs
        guard isFree else {
            throw .failure(
                .output, "\(Escaping.name(path)) exists, and Holdfast did not write it; remove it to use --always")
        }
        guard let program = ProcessFile.own, let program = SecretServiceFile.quoted(program),
            let home = SecretServiceFile.quoted(home)
        else {
            throw .failure(
                .output, "the path of this program or of the vault has characters with which D-Bus cannot start it")
        }
        return """
            \(SecretServiceFile.mark)
            [D-BUS Service]
            Name=org.freedesktop.secrets
            Exec=\(program)\(SecretServiceFile.words)\(home)

            """
    }

    func write(_ text: String) throws(CommandError) {
        var made = ""
        for part in folder.split(separator: "/") {
            made += "/" + part
            guard unsafe mkdir(made, 0o700) == 0 || errno == EEXIST || errno == EROFS || errno == EACCES else {
                throw .failure(.output, "\(Escaping.name(made)): \(SystemError.last)")
            }
        }
        let file = try ResultFile(path, allowsDisk: true, replaces: true)
        try unsafe file.write(Array(text.utf8).span.bytes)
        try file.finish()
        ServiceBus.reload()
    }

    /// Removes it; one that somebody else wrote stays, and so does one for another vault.
    func remove(home: String) throws(CommandError) {
        guard try isThere else { return }
        guard isOurs else {
            return Output.note("\(Escaping.name(path)) was not written by Holdfast, and stays")
        }
        guard isFor(home) else {
            return Output.note(
                "\(Escaping.name(path)) is for another vault, and stays; name that one with --home to have it removed")
        }
        guard unsafe unlink(path) == 0 || errno == ENOENT else {
            throw .failure(.output, "\(Escaping.name(path)): \(SystemError.last)")
        }
        ServiceBus.reload()
    }

    private var isThere: Bool {
        get throws(CommandError) {
            var status = stat()
            guard unsafe lstat(path, &status) != 0 else { return true }
            guard errno == ENOENT || errno == ENOTDIR else {
                throw .failure(.output, "\(Escaping.name(path)): \(SystemError.last)")
            }
            return false
        }
    }

    private var isOurs: Bool { text.starts(with: SecretServiceFile.mark.utf8) }

    /// Whether the last line has this vault served, by this program wherever it lay, and under whatever path.
    private func isFor(_ home: String) -> Bool {
        let text = String(decoding: text, as: UTF8.self)
        guard text.hasSuffix("'\n"),
            let start = text.ranges(of: SecretServiceFile.words + "'").last?.upperBound
        else { return false }
        let served = String(text[start...].dropLast(2))
        var (own, other) = (stat(), stat())
        guard unsafe stat(served, &other) == 0, unsafe stat(home, &own) == 0 else {
            return served.utf8.elementsEqual(home.utf8)
        }
        return own.isSameFile(as: other)
    }

    /// What is in it; nothing of what cannot be read.
    private var text: [UInt8] {
        guard let bytes = try? ImportedFile.read(path, limit: 16_384) else { return [] }
        return bytes.withBytes { unsafe $0.withUnsafeBytes { unsafe Array($0) } }
    }

    /// As D-Bus splits a command; nil for what it could read as something else.
    private static func quoted(_ path: String) -> String? {
        let isPlain = path.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != 0x5C && $0 != 0x27 }
        return isPlain ? "'\(path)'" : nil
    }
}
