internal import SystemCalls

/// A service file of PAM, as far as it has to be looked at before PAM is asked: for a kind of rule that the file lacks,
/// PAM applies those of the service "other", which were made for other services (pam.conf(5)).
struct PAMRules {
    private let lines: [String]

    /// Nil for a file that cannot be read, or that is too large for one.
    init?(at path: String) {
        // Not to wait for a writer, should it be a pipe.
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var status = stat()
        guard unsafe fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            (0...PAMRules.mostBytes).contains(status.st_size)
        else { return nil }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        guard unsafe read(file, &bytes, bytes.count) == bytes.count else { return nil }
        lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    private static let mostBytes = 65_536

    /// Whether there is a rule of the kind `auth`, or another file is taken in that may have one.
    var checksPasscode: Bool {
        lines.contains { line in
            let words = line.split { $0 == " " || $0 == "\t" }
            guard let kind = words.first?.lowercased(), words.count > 1 else { return false }
            return ["auth", "-auth", "@include"].contains(kind)
        }
    }
}
