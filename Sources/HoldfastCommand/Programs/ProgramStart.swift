internal import CommandLineArguments
internal import Holdfast
internal import SystemCalls

/// Where a program is, as execvp(3) looks for it.
enum ProgramPath {
    /// Nil where there is none. A name with a slash is a path already.
    static func find(_ name: String) -> String? {
        guard !name.utf8.contains(UInt8(ascii: "/")) else { return name }
        let path = unsafe getenv("PATH").flatMap { unsafe String(validatingCString: $0) } ?? "/usr/bin:/bin"
        for folder in path.split(separator: ":", omittingEmptySubsequences: false) {
            let candidate = (folder.isEmpty ? "." : String(folder)) + "/" + name
            var status = stat()
            if unsafe stat(candidate, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
                unsafe access(candidate, X_OK) == 0
            {
                return candidate
            }
        }
        return nil
    }
}

/// How `run` hands over to the program.
enum ProgramStart {
    /// Puts the program in place of this process.
    /// - Returns: The `errno` of what kept it from starting.
    static func replace(
        _ path: String, _ words: [String], _ variables: [UnsafeMutablePointer<CChar>?]
    ) -> Int32 {
        var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
        defer { unsafe arguments.forEach { unsafe free($0) } }
        var variables = unsafe variables
        // Ours alone: a program expects the default.
        signal(SIGPIPE, SIG_DFL)
        _ = unsafe execve(path, &arguments, &variables)
        let problem = errno
        signal(SIGPIPE, SIG_IGN)
        return problem
    }

    /// Ends this process as its child ended; the table of exit codes is for what the command itself does.
    static func end(with code: Int32) -> Never { endProcess(with: code) }
}

/// Names under which other programs call this one: links to `holdfast` that stand for one of its commands.
enum ProgramNames {
    /// The words of the command that the program's name stands for.
    static var words: [String] {
        guard let pointer = unsafe CommandLine.unsafeArgv[0], let path = unsafe String(validatingCString: pointer)
        else { return [] }
        switch path.split(separator: "/").last {
        case "git-credential-holdfast": return ["git-credential"]
        case "docker-credential-holdfast": return ["docker-credential"]
        case "cargo-credential-holdfast": return ["cargo-credential"]
        case "kubernetes-credential-holdfast": return ["kubernetes-credential"]
        default: return []
        }
    }
}
