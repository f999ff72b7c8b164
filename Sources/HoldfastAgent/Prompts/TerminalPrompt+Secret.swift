internal import DeviceOwner
internal import SecretMemory
internal import VaultFormat
internal import SystemCalls

extension TerminalPrompt {
    /// Asks for a line that is not shown.
    /// - Returns: Nil where the terminal cannot be used for a question.
    static func enter(
        _ question: Question, _ field: String, on terminal: UInt32, patience: UInt64, _ cancellation: Cancellation
    ) -> PromptEntry? {
        guard var screen = PromptScreen(terminal, for: question) else { return nil }
        let descriptor = screen.descriptor
        let deadline = MonotonicClock.milliseconds + patience
        let before = question.problem.isEmpty ? "" : "\(question.problem). "
        let text = "holdfast: \(before)\(question.request) \(time(patience))\r\n\(field) "
        guard screen.show(text, deadline, cancellation) else {
            screen.end()
            return .ended(.unanswered(late))
        }
        // A program that reads may come to the front meanwhile.
        var isShared = false
        let isWanted = {
            guard question.isInFront else { return false }
            // Looking takes a while, in which the program may have ended.
            isShared = isShared || (question.isShared(on: terminal) && question.isInFront)
            return !isShared
        }
        guard let body = readSecret(descriptor, deadline, cancellation, while: isWanted) else {
            // What was typed so far is not for the other one.
            if isShared { tcflush(descriptor, TCIFLUSH) }
            screen.end(saying: isShared ? TerminalReaders.words : "the question is no longer open")
            return .ended(isShared ? .nowhere(TerminalReaders.words) : .unanswered(late))
        }
        screen.end()
        return .entered(body)
    }

    private static let late = "nobody answered in time"

    /// A line without its end; nil when the time is over, the question is withdrawn or makes no sense any more, the
    /// terminal has gone, or the line is too long. An end of input is an empty line.
    private static func readSecret(
        _ descriptor: Int32, _ deadline: UInt64, _ cancellation: Cancellation,
        while isWanted: @escaping () -> Bool
    ) -> Body? {
        // One byte more is for the end, another shows that it is too long.
        guard var line = try? SecretBytes(zeroed: UnlockSecret.sizes.upperBound + 2) else { return nil }
        var count = 0
        while PromptWait.isReady(descriptor, Int16(POLLIN), deadline, cancellation, while: isWanted) {
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
                guard isWanted() else { return nil }
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
