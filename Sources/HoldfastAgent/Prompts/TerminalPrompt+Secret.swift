internal import DeviceOwner
internal import SecretMemory
internal import VaultFormat
internal import SystemCalls

extension TerminalPrompt {
    /// Asks for a line that is not shown. The terminal shows what is typed again when this returns.
    /// - Returns: Nil where the terminal cannot be used for a question.
    static func enter(
        _ question: Question, _ field: String, on terminal: UInt32, patience: UInt64, _ cancellation: Cancellation
    ) -> PromptEntry? {
        guard var screen = PromptScreen(terminal) else { return nil }
        let descriptor = screen.descriptor
        var settings = termios()
        guard unsafe tcgetattr(descriptor, &settings) == 0 else { return nil }
        let original = settings
        settings.c_lflag &= ~tcflag_t(ECHO | ECHOE | ECHOK | ECHONL)
        // What was typed before the question is no answer to it.
        guard unsafe tcsetattr(descriptor, TCSAFLUSH, &settings) == 0 else { return nil }
        defer { showTyping(descriptor, as: original) }
        let deadline = MonotonicClock.milliseconds + patience
        let before = question.problem.isEmpty ? "" : "\(question.problem). "
        let text = "holdfast: \(before)\(question.request) \(time(patience))\r\n\(field) "
        guard screen.show(text, deadline, cancellation) else {
            screen.end()
            return .ended(.unanswered(late))
        }
        guard let body = readSecret(descriptor, deadline, cancellation, question) else {
            screen.end(saying: "the question is no longer open")
            return .ended(.unanswered(late))
        }
        screen.end()
        return .entered(body)
    }

    private static let late = "nobody answered in time"

    /// Leaves alone what a program has changed meanwhile.
    private static func showTyping(_ descriptor: Int32, as original: termios) {
        var settings = termios()
        guard unsafe tcgetattr(descriptor, &settings) == 0 else { return }
        settings.c_lflag |= original.c_lflag & tcflag_t(ECHO | ECHOE | ECHOK | ECHONL)
        unsafe tcsetattr(descriptor, TCSANOW, &settings)
    }

    /// A line without its end; nil when the time is over, the question is withdrawn, the terminal has gone, or the line
    /// is too long. An end of input is an empty line.
    private static func readSecret(
        _ descriptor: Int32, _ deadline: UInt64, _ cancellation: Cancellation, _ question: Question
    ) -> Body? {
        // One byte more is for the end, another shows that it is too long.
        guard var line = try? SecretBytes(zeroed: UnlockSecret.sizes.upperBound + 2) else { return nil }
        var count = 0
        while PromptWait.isReady(descriptor, Int16(POLLIN), deadline, cancellation, while: { question.isInFront }) {
            let got = line.withMutableBytes { line in
                unsafe line.withUnsafeMutableBytes { line in
                    unsafe read(descriptor, line.baseAddress.map { unsafe $0 + count }, line.count - count)
                }
            }
            if got < 0 {
                guard errno == EINTR || errno == EAGAIN else { return nil }
                continue
            }
            count += got
            let isEnded = line.withBytes { bytes in
                guard count > 0 else { return false }
                return unsafe bytes.unsafeLoad(fromByteOffset: count - 1, as: UInt8.self) == UInt8(ascii: "\n")
            }
            if isEnded || got == 0 {
                let end = isEnded ? count - 1 : count
                do { return Body(try line.copy(0..<end, lifetime: .longLived)) } catch { return nil }
            }
            guard count < line.count else {
                tcflush(descriptor, TCIFLUSH)
                return nil
            }
        }
        return nil
    }
}
