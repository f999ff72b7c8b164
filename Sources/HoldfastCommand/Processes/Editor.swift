internal import Holdfast
internal import SecretMemory
internal import SystemCalls

/// The user's editor: `$VISUAL`, `$EDITOR`, or one that is there.
enum Editor {
    /// Opens a file and returns when the editor has ended.
    /// - Throws: A failure if it cannot be started, fails or is ended by a signal; `interrupted` if this process is to
    ///   end.
    static func run(_ path: String) throws(CommandError) {
        let command = try command()
        // Several words are usual: `code --wait`. The shell gets them from the user's own settings, the path as an
        // argument. It becomes the editor, so that a signal reaches that.
        let words = ["/bin/sh", "-c", "exec env \(command) \(Editor.options(command)) \"$@\"", "sh", path]
        // Ctrl-C is for the editor.
        let previous = [SIGINT, SIGQUIT].map { ($0, signal($0, SIG_IGN)) }
        defer { for (number, handler) in previous { signal(number, handler) } }
        let watch = try SignalWatch([SIGTERM, SIGHUP, SIGCHLD])
        var editor = try ChildProcess(words, input: STDIN_FILENO, output: STDOUT_FILENO, errors: STDERR_FILENO)
        var isEnding = false
        while !editor.hasEnded() {
            var waiting = pollfd(fd: watch.descriptor, events: Int16(POLLIN), revents: 0)
            unsafe poll(&waiting, 1, 1000)
            while let number = watch.next() {
                guard number != SIGCHLD else { continue }
                isEnding = true
                editor.signal(number)
            }
        }
        let code = editor.wait()
        if isEnding { throw .interrupted }
        guard code == 0 else {
            let how = code.map { "exit code \($0)" } ?? "ended by a signal"
            throw .failure(.editor, "the editor failed (\(how)); nothing was changed")
        }
    }

    /// A text that is written in the editor, which it begins empty in.
    /// - Throws: As ``run(_:)``; where there is no editor, the lines are typed.
    static func text(from terminal: borrowing Terminal, _ label: String) throws(CommandError) -> SecretBytes {
        guard (try? command()) != nil else {
            return try terminal.readValue(
                prompt: "\(label) (not shown; several lines, end with Ctrl-D):\n", .lines, limit: ItemLimits.size)
        }
        return try HeldSignals.during { () throws(CommandError) in
            let folder = try EditFolder(runtime: try HomeFolder.runtime())
            folder.warn()
            let nothing = try secret(0)
            try nothing.withBytes { bytes throws(CommandError) in try folder.write(bytes) }
            try run(folder.textPath)
            let text = try folder.read()
            do throws(SecretMemoryError) {
                // Editors end the last line.
                return try text.withBytes { bytes throws(SecretMemoryError) in
                    var end = bytes.byteCount
                    while end > 0, bytes.byte(at: end - 1) == UInt8(ascii: "\n") { end -= 1 }
                    return try SecretBytes(copying: bytes.extracting(0..<end))
                }
            } catch { throw CommandError(error) }
        }
    }

    private static func command() throws(CommandError) -> String {
        for name in ["VISUAL", "EDITOR"] {
            guard let value = unsafe getenv(name), unsafe value.pointee != 0 else { continue }
            guard let command = unsafe String(validatingCString: value) else {
                throw .usage("$\(name) is not valid UTF-8")
            }
            return command
        }
        for name in ["editor", "nano", "vi"] where ChildProcess.isInstalled(name) { return name }
        throw .failure(.editor, "there is no editor; set $EDITOR to one")
    }

    /// Options that keep Vim and Neovim from writing swap, undo and history files elsewhere; nothing for other editors.
    private static func options(_ command: String) -> String {
        // `env` takes assignments before the program.
        guard let word = command.split(whereSeparator: \.isWhitespace).first(where: { !$0.contains("=") }),
            isVim(String(word))
        else { return "" }
        return "-n -i NONE -c 'set noundofile nobackup nowritebackup'"
    }

    /// Whether a program is Vim or Neovim. They have many names: `editor` and `vi` are links to `vim.basic` on Debian.
    private static func isVim(_ word: String) -> Bool {
        guard let path = ChildProcess.path(of: word), let real = unsafe realpath(path, nil) else { return false }
        defer { unsafe free(real) }
        let names = [path, unsafe String(cString: real)].map { $0.split(separator: "/").last.map(String.init) ?? "" }
        return names.contains { name in
            ["vim", "nvim", "gvim", "rvim"].contains { name == $0 || name.hasPrefix("\($0).") }
        }
    }
}
