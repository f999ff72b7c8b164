internal import DeviceOwner
internal import SystemCalls

/// Asks on a terminal that a client waits in. The agent writes and reads there itself: what the client would say of an answer is worth
/// nothing.
enum TerminalPrompt {
    /// - Parameter patience: Milliseconds.
    /// - Returns: Nil where the terminal cannot be used for a question.
    static func ask(
        _ question: Question, on terminal: UInt32, patience: UInt64, _ cancellation: Cancellation
    ) -> PromptAnswer? {
        guard let descriptor = PromptPlace.open(terminal: terminal) else { return nil }
        defer { close(descriptor) }
        var settings = termios()
        // A program that reads single keys, as an editor, has the screen for itself.
        guard unsafe tcgetattr(descriptor, &settings) == 0, settings.c_lflag & tcflag_t(ICANON) != 0 else { return nil }
        let deadline = MonotonicClock.milliseconds + patience
        // What was typed before the question is no answer to it.
        tcflush(descriptor, TCIFLUSH)
        let choices = question.term == .once ? "[y/N]" : "[y]es, [o]nce, [N]o"
        let text = "\r\nholdfast: \(question.request) \(time(patience))\r\n\(question.offer) \(choices) "
        guard write(text, descriptor, deadline, cancellation) else { return .unanswered("nobody answered in time") }
        guard let line = readLine(descriptor, deadline, cancellation) else {
            _ = write("\r\nholdfast: the question is no longer open\r\n", descriptor, deadline, nil)
            return .unanswered("nobody answered in time")
        }
        return answer(line)
    }

    /// How long a question is open.
    static func time(_ patience: UInt64) -> String { "You have \(AskedQuestion.words(Int64(patience / 1000)))." }

    /// Says something that is no question. Where it cannot be said, it is not.
    static func tell(_ words: String, on terminal: UInt32, _ cancellation: Cancellation) {
        guard let descriptor = PromptPlace.open(terminal: terminal) else { return }
        defer { close(descriptor) }
        var settings = termios()
        guard unsafe tcgetattr(descriptor, &settings) == 0, settings.c_lflag & tcflag_t(ICANON) != 0 else { return }
        _ = write("\r\nholdfast: \(words)\r\n", descriptor, MonotonicClock.milliseconds + 1000, cancellation)
    }

    static func answer(_ line: [UInt8]) -> PromptAnswer {
        let words = String(decoding: line, as: UTF8.self).lowercased().split { $0 == " " || $0.isNewline }
        switch words {
        case ["y"], ["yes"]: return .allowed
        case ["o"], ["once"]: return .allowedOnce
        default: return .refused
        }
    }

    static func write(
        _ text: String, _ descriptor: Int32, _ deadline: UInt64, _ cancellation: Cancellation?
    ) -> Bool {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe SystemCalls.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                guard errno == EAGAIN, let cancellation,
                    PromptWait.isReady(descriptor, Int16(POLLOUT), deadline, cancellation)
                else { return false }
            }
        }
        return true
    }

    /// A line without its end; nil when the time is over, the question is withdrawn, or the terminal has gone. An end of input is an empty
    /// line.
    private static func readLine(_ descriptor: Int32, _ deadline: UInt64, _ cancellation: Cancellation) -> [UInt8]? {
        var line: [UInt8] = []
        while PromptWait.isReady(descriptor, Int16(POLLIN), deadline, cancellation) {
            var piece = [UInt8](repeating: 0, count: 256)
            let count = unsafe read(descriptor, &piece, piece.count)
            if count < 0 {
                guard errno == EINTR || errno == EAGAIN else { return nil }
                continue
            }
            if count == 0 { return line }
            line += piece[..<count]
            if let end = line.firstIndex(of: UInt8(ascii: "\n")) { return Array(line[..<end]) }
            guard line.count < 4096 else { return line }
        }
        return nil
    }
}

/// Waiting for a person, who may not be there.
enum PromptWait {
    /// - Parameter deadline: ms of the `MonotonicClock`.
    /// - Returns: False when the time is over or the question was withdrawn.
    static func isReady(
        _ descriptor: Int32, _ events: Int16, _ deadline: UInt64, _ cancellation: Cancellation
    ) -> Bool {
        while true {
            let now = MonotonicClock.milliseconds
            guard now < deadline, cancellation.isPossible else { return false }
            var waiting = [
                pollfd(fd: cancellation.descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: descriptor, events: events, revents: 0),
            ]
            let count = unsafe poll(&waiting, nfds_t(waiting.count), Int32(clamping: deadline - now))
            if count < 0, errno != EINTR { return false }
            guard waiting[0].revents == 0 else { return false }
            if count > 0, waiting[1].revents != 0 { return true }
        }
    }
}
