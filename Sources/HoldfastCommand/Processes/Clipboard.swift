internal import CommandLineArguments
internal import Holdfast
internal import SecretMemory
internal import SystemCalls

/// The programs that reach the clipboard of this session.
struct Clipboard: Sendable {
    /// Keeps what it reads on the clipboard until somebody else copies, then ends.
    let copying: [String]
    /// Writes what is on the clipboard.
    let pasting: [String]
    /// Empties the clipboard.
    let clearing: [String]
    /// Whether the program tells clipboard managers that it is a secret.
    let marksSecret: Bool
    /// Whether the program keeps what it copies in a file below /tmp.
    let usesFile: Bool

    /// - Throws: A failure that says what to install.
    static func find() throws(CommandError) -> Clipboard {
        if isSet("WAYLAND_DISPLAY"), ChildProcess.isInstalled("wl-copy"), ChildProcess.isInstalled("wl-paste") {
            let isSensitive = help(["wl-copy", "--help"]).contains("--sensitive")
            return Clipboard(
                copying: ["wl-copy", "--foreground", "--type", "text/plain"] + (isSensitive ? ["--sensitive"] : []),
                pasting: ["wl-paste", "--no-newline", "--type", "text/plain"], clearing: ["wl-copy", "--clear"],
                marksSecret: isSensitive, usesFile: true)
        }
        if isSet("DISPLAY"), ChildProcess.isInstalled("xclip") {
            return Clipboard(
                copying: ["xclip", "-quiet", "-selection", "clipboard", "-in"],
                pasting: ["xclip", "-selection", "clipboard", "-out"],
                clearing: ["xclip", "-selection", "clipboard", "-in"], marksSecret: false, usesFile: false)
        }
        if isSet("DISPLAY"), ChildProcess.isInstalled("xsel") {
            return Clipboard(
                copying: ["xsel", "--nodetach", "--clipboard", "--input"],
                pasting: ["xsel", "--clipboard", "--output"],
                clearing: ["xsel", "--clipboard", "--clear"], marksSecret: false, usesFile: false)
        }
        guard isSet("WAYLAND_DISPLAY") || isSet("DISPLAY") else {
            throw CommandError(
                .failure, code: .noClipboard,
                "there is no clipboard here: neither $WAYLAND_DISPLAY nor $DISPLAY is set",
                advice: "holdfast show NAME --reveal shows what is secret")
        }
        let program = isSet("WAYLAND_DISPLAY") ? "wl-clipboard" : "xclip"
        throw .failure(.noClipboard, "no program for the clipboard was found; install \(program)")
    }

    /// Copies a value and returns when it is on the clipboard. A process of its own clears it later.
    /// - Parameters:
    ///   - seconds: After which it is cleared.
    ///   - home: Of the vault whose agent gave the value: it is cleared when that locks, too. Nil without an agent.
    func copy(_ value: borrowing SecretBytes, for seconds: Int, untilLockOf home: String?) throws(CommandError) {
        guard value.count > 0 else { throw .failure(.empty, "the value is empty; nothing was copied") }
        let input = try Pipe()
        let report = try Pipe()
        defer { close(report.reading) }
        var isWriting = true
        defer { if isWriting { close(input.writing) } }
        // Its descriptors are those three; it is not waited for.
        let keeper: ChildProcess
        do {
            defer {
                close(input.reading)
                close(report.writing)
            }
            keeper = try ChildProcess(
                ["/proc/self/exe", "clipboard", "--clear-after", "\(seconds)"]
                    + (home.map { ["--until-locked", "--home", $0] } ?? []), input: input.reading,
                output: report.writing, isApart: true)
        }
        try value.withBytes { bytes throws(CommandError) in try Descriptors.write(bytes, to: input.writing) }
        close(input.writing)
        isWriting = false
        let words = try ValueInput.rest(of: report.reading).withBytes { $0.text(0..<$0.byteCount) }
        guard words == "copied" else {
            throw .failure(.clipboard, words.isEmpty ? "the clipboard's process ended early" : words)
        }
        _ = keeper.id
        let end = home == nil ? "in \(seconds) s" : "in \(seconds) s or when the vault locks"
        var notes = "Copied. The clipboard is cleared \(end), unless something else is copied."
        if !marksSecret { notes += " \(copying[0]) cannot mark it as a secret: a clipboard manager may keep it." }
        Output.remark(notes)
        if usesFile, !Folder.isInMemory("/tmp") {
            Output.note("wl-copy keeps what it copies in a file below /tmp, which is on a disk, until it ends")
        }
    }

    private static func isSet(_ name: String) -> Bool {
        guard let value = unsafe getenv(name) else { return false }
        return unsafe value.pointee != 0
    }

    private static func help(_ words: [String]) -> String {
        guard let pipe = try? Pipe() else { return "" }
        defer { close(pipe.reading) }
        guard var child = try? ChildProcess(words, output: pipe.writing, errors: pipe.writing) else {
            close(pipe.writing)
            return ""
        }
        close(pipe.writing)
        let text = (try? ValueInput.rest(of: pipe.reading))?.withBytes { $0.text(0..<$0.byteCount) } ?? ""
        _ = child.wait()
        return text
    }
}
