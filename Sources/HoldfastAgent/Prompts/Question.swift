package import AgentMessages
internal import DeviceOwner
internal import Items
internal import SystemCalls

/// What the user is asked. Its words come from clients and items, so each is made harmless before it is shown.
package struct Question: Sendable, Hashable {
    package let asker: Asker
    package let process: Int32
    /// What it wants to use.
    package let subject: Subject
    package let term: LeaseTerm
    /// Whether the request comes from another machine that the SSH agent was forwarded to.
    package let isForwarded: Bool

    /// The program that asks. A process chooses its own name, and can have its program changed: what it says of itself
    /// is not believed.
    package enum Asker: Sendable, Hashable {
        /// The program that made the connection and still runs, by its path, as the kernel tells.
        case program(String)
        /// Another one runs in its process now; nil where the kernel did not tell what it was.
        case changed(String, from: String?)
        /// The kernel does not tell, since it hides itself; its name is its own choice.
        case hidden(String)
        /// The path is one of a file system that the program has for itself, where it can have any path that it likes.
        case elsewhere(String)

        /// Its path or name.
        package var name: String {
            switch self {
            case .program(let path), .changed(let path, from: _), .elsewhere(let path): path
            case .hidden(let name): name
            }
        }
    }

    package enum Subject: Sendable, Hashable {
        case item(String)
        case tag(String)
        case sshKey(String)
        /// The vault is to be unlocked, after what was wrong before.
        case vault(UnlockReason, problem: String)
    }

    package init(asker: Asker, process: Int32, subject: Subject, term: LeaseTerm, isForwarded: Bool) {
        self.asker = asker
        self.process = process
        self.subject = subject
        self.term = term
        self.isForwarded = isForwarded
    }

    /// What is asked for, and for whom.
    package var request: String {
        if case .vault(let reason, problem: _) = subject {
            return "\(who) wants your vault to be unlocked\(reason.words)."
        }
        let what =
            switch subject {
            case .item(let name): "'\(Question.shown(name))'"
            case .tag(let tag):
                "all entries with the tag '\(Question.shown(tag))', except those that are asked for each time"
            case .sshKey(let name): "the SSH key '\(Question.shown(name))'"
            case .vault: "the vault"
            }
        let whose = isForwarded ? "A host that the SSH agent was forwarded to, through " : ""
        return "\(whose)\(who) wants to use \(what)."
    }

    private var who: String {
        switch asker {
        case .program(let path): "'\(Question.shown(path))' (process \(process))"
        case .changed(let path, from: let before):
            "'\(Question.shown(path))' (process \(process)), which "
                + (before.map { "was '\(Question.shown($0))'" } ?? "was another program") + " when it connected,"
        case .hidden(let name):
            "a program that hides itself, as Holdfast's do, and calls itself '\(Question.shown(name))' (process \(process))"
        case .elsewhere(let path):
            "a program with a file system of its own, which is '\(Question.shown(path))' there (process \(process)),"
        }
    }

    /// Whether the program is still in the foreground of its terminal: after Ctrl+Z the next line is for somebody else.
    var isInFront: Bool { ProcessStat(of: process).map { $0.terminal != 0 && $0.foreground == $0.group } ?? false }

    /// Cancels what waits for something else than a line, such as a finger, once the program is in front no more.
    /// - Returns: Ends that watch.
    func endBehind(_ cancellation: Cancellation) -> Cancellation {
        let end = Cancellation()
        // Without a thread the finger is waited for as long as everywhere else.
        _ = DetachedThread.start { [self] in
            while !PromptWait.isReady(end.descriptor, Int16(POLLIN), MonotonicClock.milliseconds + 200, nil) {
                guard isInFront else { return cancellation.cancel() }
            }
        }
        return end
    }

    /// What was wrong with the last answer; empty for nothing.
    package var problem: String {
        guard case .vault(_, let problem) = subject else { return "" }
        return Question.shown(problem)
    }

    /// The same, after what was wrong with the last answer.
    func after(_ problem: String) -> Question {
        guard case .vault(let reason, problem: _) = subject else { return self }
        return Question(
            asker: asker, process: process, subject: .vault(reason, problem: problem), term: term,
            isForwarded: isForwarded)
    }

    /// What a yes means.
    package var offer: String { "Allow it \(grant)?" }

    /// For how long it is allowed by a yes.
    package var grant: String {
        switch term {
        case .once: "once"
        case .seconds(let seconds) where seconds % 60 == 0:
            seconds == 60 ? "for a minute" : "for \(seconds / 60) minutes"
        case .seconds(let seconds): "for \(seconds) s"
        case .untilLock: "until the vault locks"
        }
    }

    /// Bytes of a name that are shown, at most: a question with two of them fits into a line of pinentry.
    private static let longest = 128

    /// A name without anything that a terminal or a dialog would act on, or that only looks like another one.
    package static func shown(_ text: String) -> String {
        var shown = ""
        for scalar in text.unicodeScalars {
            // Brackets and ampersands begin markup in some dialogs; a quotation mark would end the name.
            let isHarmless = !scalar.isUnsafeToShow && !"<>&'".unicodeScalars.contains(scalar)
            let next: Unicode.Scalar = isHarmless ? scalar : "?"
            guard shown.utf8.count + UTF8.width(next) <= longest else { return shown + "..." }
            shown.unicodeScalars.append(next)
        }
        return shown
    }
}

/// What the vault is to be unlocked for. None of its words comes from the asker.
package enum UnlockReason: Sendable, Hashable {
    /// A command says so of itself.
    case command(UnlockPurpose)
    case sshKeys
    /// A program of the session bus.
    case programs

    var words: String {
        switch self {
        case .command(.unlock): ""
        case .command(.entries): ", to use its entries"
        case .command(.git): ", for a password of git"
        case .command(.registry): ", for a password of a registry"
        case .sshKeys: ", to use SSH keys"
        case .programs: ", for passwords that programs keep"
        }
    }

    /// Whether the vault may stay open behind it only if its rules allow that.
    var isRemembered: Bool {
        if case .command(let purpose) = self { return purpose != .unlock }
        return false
    }
}

/// How a question ended.
package enum PromptAnswer: Sendable, Hashable {
    case allowed
    /// The same for this one use, where more was offered.
    case allowedOnce
    case refused
    /// Nobody answered; why.
    case unanswered(String)
    /// Nobody can be asked there; why.
    case nowhere(String)
    /// No answer would do anywhere; why.
    case closed(String)

    /// Why there is no answer; nil where there is one.
    var reason: String? {
        switch self {
        case .allowed, .allowedOnce, .refused: nil
        case .unanswered(let reason), .nowhere(let reason), .closed(let reason): reason
        }
    }
}
