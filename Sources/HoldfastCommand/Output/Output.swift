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
        try? write(lines("holdfast: " + Escaping.sentence(line)), to: STDERR_FILENO)
    }

    /// Writes a sentence for the user to standard error, if that is a terminal.
    static func remark(_ line: String) {
        guard Descriptors.isTerminal(STDERR_FILENO) else { return }
        try? write(lines(Escaping.sentence(line)), to: STDERR_FILENO)
    }

    /// A terminal would break a long line in the middle of a word.
    private static func lines(_ sentence: String) -> String {
        guard Descriptors.isTerminal(STDERR_FILENO) else { return sentence + "\n" }
        return Escaping.wrapped(sentence, to: Terminal.columns(STDERR_FILENO))
    }
}
