internal import VaultStorage
internal import SystemCalls

/// Standard output and standard error, without buffers: what was written is out, and what was not is an error.
package enum Output {
    /// - Throws: A failure when not all of it could be written.
    package static func write(_ text: String, to descriptor: Int32 = STDOUT_FILENO) throws(CommandError) {
        let bytes = Array(text.utf8)
        try bytes.withRawSpan { bytes throws(CommandError) in try Descriptors.write(bytes, to: descriptor) }
    }

    /// - Throws: As ``write(_:to:)``.
    static func write(_ json: JSON) throws(CommandError) { try write(json.encoded + "\n") }

    /// A line on standard error. Whether it arrives changes nothing.
    package static func note(_ line: String) {
        try? write(lines("holdfast: " + Escaping.sentence(line), columns(STDERR_FILENO)), to: STDERR_FILENO)
    }

    /// Writes a sentence for the user to standard error, if that is a terminal.
    static func remark(_ line: String) {
        guard Descriptors.isTerminal(STDERR_FILENO) else { return }
        try? write(lines(Escaping.sentence(line), columns(STDERR_FILENO)), to: STDERR_FILENO)
    }

    /// Writes a sentence to standard output, where it is one line if that is no terminal.
    /// - Parameter indent: Spaces before every line but the first.
    /// - Throws: As ``write(_:to:)``.
    static func say(_ sentence: String, indent: Int = 0) throws(CommandError) {
        try write(lines(Escaping.sentence(sentence), columns, indent: indent))
    }

    /// Columns of the terminal that standard output is; nil for anything else, where lines are never broken.
    static var columns: Int? { columns(STDOUT_FILENO) }

    private static func columns(_ descriptor: Int32) -> Int? {
        Descriptors.isTerminal(descriptor) ? Terminal.columns(descriptor) : nil
    }

    /// A terminal would break a long line in the middle of a word.
    private static func lines(_ sentence: String, _ columns: Int?, indent: Int = 0) -> String {
        columns.map { Escaping.wrapped(sentence, to: $0, indent: indent) } ?? sentence + "\n"
    }
}
