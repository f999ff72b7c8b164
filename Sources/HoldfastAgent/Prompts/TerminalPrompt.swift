internal import DeviceOwner
internal import SystemCalls

/// Asks on a terminal that a client waits in. The agent writes and reads there itself: what the client would say of an
/// answer is worth nothing.
enum TerminalPrompt {
    /// - Parameter patience: Milliseconds.
    /// - Returns: Nil where the terminal cannot be used for a question.
    static func ask(
        _ question: Question, on terminal: UInt32, patience: UInt64, _ cancellation: Cancellation
    ) -> PromptAnswer? {
        guard var screen = PromptScreen(terminal, for: question) else { return nil }
        let deadline = MonotonicClock.milliseconds + patience
        let word = AnswerWord()
        let once = question.term == .once ? "" : ", \"once \(word)\" for this time"
        let text = """
            holdfast: \(question.request) \(time(patience))\r
            Type "\(word)" to allow it \(question.grant)\(once), or anything else to refuse. What you type is not shown: 
            """
        guard screen.show(text, deadline, cancellation) else {
            screen.end()
            return .unanswered("nobody answered in time")
        }
        guard let line = readLine(screen.descriptor, deadline, cancellation, question) else {
            screen.end(saying: "the question is no longer open")
            return .unanswered("nobody answered in time")
        }
        screen.end()
        return word.answer(line)
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

    static func write(
        _ text: String, _ descriptor: Int32, _ deadline: UInt64, _ cancellation: Cancellation?
    ) -> Bool {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe SystemCalls.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                guard errno == EAGAIN, PromptWait.isReady(descriptor, Int16(POLLOUT), deadline, cancellation) else {
                    return false
                }
            }
        }
        return true
    }

    /// A line without its end; nil when the time is over, the question is withdrawn, or the terminal has gone. An end
    /// of input is an empty line.
    private static func readLine(
        _ descriptor: Int32, _ deadline: UInt64, _ cancellation: Cancellation, _ question: Question
    ) -> [UInt8]? {
        var line: [UInt8] = []
        while PromptWait.isReady(descriptor, Int16(POLLIN), deadline, cancellation, while: { question.isInFront }) {
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

/// What allows something on a terminal: a word that only who sees the question knows.
struct AnswerWord: CustomStringConvertible {
    let description: String

    /// One of 4,900, from the system's random numbers. It is asked for once.
    init() {
        description = ["bdfgklmnprstvz", "aeiou", "bdfgklmnprstvz", "aeiou"].map { letters in
            letters.randomElement().map { String($0) } ?? ""
        }.joined()
    }

    func answer(_ line: [UInt8]) -> PromptAnswer {
        let words = line.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\r") }
        let isRight = words.last.map { String(decoding: $0, as: UTF8.self).lowercased() == description } ?? false
        switch words.count {
        case 1 where isRight: return .allowed
        case 2 where isRight && String(decoding: words[0], as: UTF8.self).lowercased() == "once": return .allowedOnce
        default: return .refused
        }
    }
}

/// Waiting for a person, who may not be there.
enum PromptWait {
    /// - Parameters:
    ///   - deadline: ms of the `MonotonicClock`.
    ///   - cancellation: Of the question; nil for what is written once it is over.
    ///   - isWanted: Whether the question still makes sense; looked at a few times in a second.
    /// - Returns: False when the time is over, or the question was withdrawn or makes no sense any more.
    static func isReady(
        _ descriptor: Int32, _ events: Int16, _ deadline: UInt64, _ cancellation: Cancellation?,
        while isWanted: (() -> Bool)? = nil
    ) -> Bool {
        while true {
            let now = MonotonicClock.milliseconds
            guard now < deadline, cancellation?.isPossible ?? true, isWanted?() ?? true else { return false }
            let patience = isWanted == nil ? deadline - now : min(deadline - now, 200)
            var waiting = [
                pollfd(fd: cancellation?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
                pollfd(fd: descriptor, events: events, revents: 0),
            ]
            let count = unsafe poll(&waiting, nfds_t(waiting.count), Int32(clamping: patience))
            if count < 0, errno != EINTR { return false }
            guard waiting[0].revents == 0 else { return false }
            if count > 0, waiting[1].revents != 0 { return isWanted?() ?? true }
        }
    }
}
