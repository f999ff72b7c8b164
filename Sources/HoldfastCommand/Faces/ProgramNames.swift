internal import CommandLineArguments
internal import SystemCalls

/// Names under which other programs call this one: links to `holdfast` that stand for one of its commands.
enum ProgramNames {
    private static let commands = [
        "git-credential-holdfast": ["git-credential"], "docker-credential-holdfast": ["docker-credential"],
    ]

    /// The words of the command that the program's name stands for.
    static var words: [String] {
        guard let pointer = unsafe CommandLine.unsafeArgv[0], let path = unsafe String(validatingCString: pointer)
        else { return [] }
        return commands[path.split(separator: "/").last.map(String.init) ?? ""] ?? []
    }
}
