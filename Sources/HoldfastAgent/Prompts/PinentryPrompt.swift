internal import DeviceOwner
internal import ProgramProtocols
internal import SystemCalls

/// Asks with a pinentry program, which runs only for this question.
package struct PinentryPrompt {
    /// The program; nil for the first one at the usual places.
    let program: String?
    /// Where it can show something.
    var display = ""
    var waylandDisplay = ""
    var terminalType = ""

    /// Where a pinentry program is looked for. Never in `$PATH`, which a client's starter could have changed. The
    /// desktop app is one where it is started as `pinentry`, and the first one while it runs: its user knows it.
    package static func places(whereAppRuns appRuns: Bool) -> [String] {
        let usual = ["/usr/bin/pinentry", "/usr/local/bin/pinentry", "/bin/pinentry"]
        let app = ["/usr/bin/holdfast-desktop", "/usr/local/bin/holdfast-desktop"]
        return appRuns ? app + usual : usual + app
    }

    /// The name of the desktop app on the session bus.
    private static let app = "org.holdfast.Holdfast"

    /// The program that asks; nil where there is none. Asks the bus, so it is for a thread that may wait.
    var chosen: String? {
        if let program { return program }
        return PinentryPrompt.places(whereAppRuns: ServiceBus.isOwned(PinentryPrompt.app)).first {
            unsafe access($0, X_OK) == 0
        }
    }

    /// - Parameter terminal: Where a program for terminals asks.
    func ask(
        _ question: Question, on terminal: UInt32?, patience: UInt64, _ cancellation: Cancellation
    ) -> PromptAnswer {
        let outcome: PinentryDialog.Outcome?
        switch start() {
        case .failure(let problem): return .nowhere(problem.reason)
        case .success(let child):
            defer { child.end() }
            outcome = talk(
                child.socket, words(question, terminal, patience), MonotonicClock.milliseconds + patience, cancellation,
                while: terminal == nil ? nil : { question.isInFront })
        }
        return PinentryPrompt.answer(outcome)
    }

    /// Asks for a secret.
    func enter(
        _ question: Question, _ field: String, on terminal: UInt32?, patience: UInt64, _ cancellation: Cancellation
    ) -> PromptEntry {
        switch start() {
        case .failure(let problem): return .ended(.nowhere(problem.reason))
        case .success(let child):
            defer { child.end() }
            var words = words(question, terminal, patience)
            (words.description, words.problem) = (question.request, question.problem)
            (words.field, words.yes, words.no) = (field, "Unlock", "Cancel")
            let deadline = MonotonicClock.milliseconds + patience
            var body: Body?
            let isWanted = terminal.map { terminal in
                { question.isInFront && !question.isShared(on: terminal) }
            }
            let outcome = talk(child.socket, words, deadline, cancellation, while: isWanted) {
                body = PinentryPrompt.readSecret(child.socket, deadline, cancellation, while: isWanted, &$0)
            }
            if outcome == .allowed, let body { return .entered(body) }
            return .ended(PinentryPrompt.answer(outcome))
        }
    }

    private static func answer(_ outcome: PinentryDialog.Outcome?) -> PromptAnswer {
        switch outcome {
        case .allowed: .allowed
        case .refused: .refused
        case .timedOut, nil: .unanswered("nobody answered in time")
        case .failed: .nowhere("the pinentry program cannot ask here")
        case .hostile: .nowhere("the pinentry program does not speak its protocol")
        }
    }

    private func words(_ question: Question, _ terminal: UInt32?, _ patience: UInt64) -> PinentryDialog.Words {
        var words = PinentryDialog.Words()
        words.title = "Holdfast"
        words.description = "\(question.request)\n\(question.offer)"
        words.yes = "Allow"
        words.no = "Refuse"
        words.seconds = UInt32(clamping: max(1, patience / 1000))
        if let terminal, let descriptor = PromptPlace.open(terminal: terminal) {
            if let path = PromptPlace.path(descriptor) { words.options.append(("ttyname", path)) }
            close(descriptor)
            words.options.append(("ttytype", terminalType.isEmpty ? "vt100" : terminalType))
        }
        if !display.isEmpty { words.options.append(("display", display)) }
        for (name, variable) in [("lc-ctype", "LC_CTYPE"), ("lc-messages", "LC_MESSAGES")] {
            if let value = PinentryPrompt.variable(variable) ?? PinentryPrompt.variable("LANG") {
                words.options.append((name, value))
            }
        }
        return words
    }

    /// - Returns: Nil when the time is over, or the question was withdrawn or makes no sense any more.
    /// - Parameter enter: Reads the answer that has a secret, and says how it ended.
    private func talk(
        _ socket: Int32, _ words: PinentryDialog.Words, _ deadline: UInt64, _ cancellation: Cancellation,
        while isWanted: (() -> Bool)?, _ enter: (inout PinentryDialog.Outcome?) -> Void = { $0 = .hostile }
    ) -> PinentryDialog.Outcome? {
        var dialog = PinentryDialog(words)
        while PromptWait.isReady(socket, Int16(POLLIN), deadline, cancellation, while: isWanted) {
            var piece = [UInt8](repeating: 0, count: 1024)
            let count = unsafe recv(socket, &piece, piece.count, 0)
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count > 0 else { return dialog.receiveEnd() }
            switch dialog.receive(piece[..<count]) {
            case .wait: break
            case .end(let outcome):
                _ = unsafe LocalSocket.send(socket, Array("BYE\n".utf8).span.bytes)
                return outcome
            case .enter(let line):
                guard case .moved(line.count) = unsafe LocalSocket.send(socket, line.span.bytes) else { return .failed }
                var outcome: PinentryDialog.Outcome?
                enter(&outcome)
                return outcome
            case .send(let line):
                // A program that reads nothing is none; the socket has room for all that is ever sent.
                guard case .moved(line.count) = unsafe LocalSocket.send(socket, line.span.bytes) else { return .failed }
            }
        }
        return nil
    }
}
