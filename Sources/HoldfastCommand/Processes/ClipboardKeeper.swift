internal import CommandLineArguments
internal import Cryptography
internal import Holdfast
internal import HoldfastAgent
internal import SecretMemory
internal import SystemCalls

/// Keeps one value on the clipboard for a while, then clears it if it is still there. It remembers a keyed digest of
/// the value, not the value: the clipboard program alone has that.
final class ClipboardKeeper {
    private let clipboard: Clipboard
    private let key: SecretBytes
    private let digest: Digest
    private var owner: ChildProcess
    private let turn: ClipboardTurn

    /// Has the clipboard program take a value.
    init(_ clipboard: Clipboard, _ value: borrowing SecretBytes) throws(CommandError) {
        self.clipboard = clipboard
        key = try ClipboardKeeper.newKey()
        digest = try ClipboardKeeper.digest(of: value, key)
        turn = ClipboardTurn()
        let pipe = try Pipe()
        do throws(CommandError) { owner = try ChildProcess(clipboard.copying, input: pipe.reading) } catch {
            close(pipe.reading)
            close(pipe.writing)
            throw error
        }
        close(pipe.reading)
        defer { close(pipe.writing) }
        try value.withBytes { bytes throws(CommandError) in try Descriptors.write(bytes, to: pipe.writing) }
    }

    private static func newKey() throws(CommandError) -> SecretBytes {
        do throws(CryptographyError) { return try SecureRandom.secret(32) } catch { throw CommandError(error) }
    }

    private static func digest(
        of value: borrowing SecretBytes, _ key: borrowing SecretBytes
    ) throws(CommandError) -> Digest {
        do throws(CryptographyError) {
            return try value.withBytes { bytes throws(CryptographyError) in
                try HMACSHA256.authenticate(bytes, key: key)
            }
        } catch { throw CommandError(error) }
    }

    /// Milliseconds until a program must have put the value there, or have given what is there.
    private static let patience: UInt64 = 5000

    /// Waits until the value can be pasted.
    /// - Throws: A failure if the program fails.
    func awaitCopy() throws(CommandError) {
        let deadline = MonotonicClock.milliseconds + ClipboardKeeper.patience
        while MonotonicClock.milliseconds < deadline {
            if owner.hasEnded() {
                // A clipboard manager may have taken it at once.
                guard isStillThere() == true else {
                    throw .failure(.clipboard, "\(clipboard.copying[0]) could not put it on the clipboard")
                }
                return
            }
            if isStillThere() == true { return }
            usleep(20_000)
        }
        // Some compositors let only the program in focus paste.
        guard !owner.hasEnded() else {
            throw .failure(.clipboard, "\(clipboard.copying[0]) could not put it on the clipboard")
        }
    }

    /// Milliseconds between two looks at whether the agent has locked.
    private static let pace: UInt64 = 500

    /// Returns when the clipboard has something else, or has been cleared.
    /// - Parameters:
    ///   - lock: Of the vault that the value is from; its closing clears at once.
    ///   - watch: Of the signals that ask this process to end, which clears at once, and of ended children.
    func keep(seconds: Int, until lock: borrowing FollowedLock, _ watch: borrowing SignalWatch) {
        let deadline = MonotonicClock.milliseconds + UInt64(seconds) * 1000
        var hasOwner = true
        wait: while true {
            let now = MonotonicClock.milliseconds
            if now >= deadline || lock.isClosed { break }
            if hasOwner, owner.hasEnded() {
                hasOwner = false
                // Something else was copied, or the same once more; or a clipboard manager took over.
                if !turn.isOurs || isStillThere() == false { return }
            }
            var waiting = pollfd(fd: watch.descriptor, events: Int16(POLLIN), revents: 0)
            let rest = deadline - now
            unsafe poll(&waiting, 1, Int32(clamping: lock.isFollowed ? min(rest, ClipboardKeeper.pace) : rest))
            while let signal = watch.next() {
                if signal != SIGCHLD { break wait }
            }
        }
        clear()
    }

    private func clear() {
        if owner.hasEnded(), !turn.isOurs { return }
        switch isStillThere() {
        case false?: return end()
        case nil where owner.hasEnded(): return  // nobody can paste, and it is not ours any more
        case true?, nil: break
        }
        // While it is ours, nobody else's copy can be lost but one of this very moment.
        if clipboard.clearing[0] == clipboard.copying[0], clipboard.copying[0] != "wl-copy" { end() }
        if owner.hasEnded(), isStillThere() != true { return }
        if var child = try? ChildProcess(clipboard.clearing) { _ = child.wait() }
        end()
    }

    /// Ends the program that serves the clipboard.
    private func end() {
        for signal in [SIGTERM, SIGKILL] {
            for _ in 0..<100 {
                if owner.hasEnded() { return }
                owner.signal(signal)
                usleep(10_000)
            }
        }
        _ = owner.wait()
    }

    /// Whether the clipboard has the value; nil if it cannot be read.
    private func isStillThere() -> Bool? {
        guard let pipe = try? Pipe() else { return nil }
        guard var child = try? ChildProcess(clipboard.pasting, output: pipe.writing) else {
            close(pipe.reading)
            close(pipe.writing)
            return nil
        }
        close(pipe.writing)
        // A value as long as no item can be is another one.
        var isSame: Bool?
        do throws(CommandError) {
            let found = try ValueInput.rest(
                of: pipe.reading, until: MonotonicClock.milliseconds + ClipboardKeeper.patience)
            isSame = found.withBytes { found in
                digest.withBytes { HMACSHA256.isValid($0, for: found, key: key) }
            }
        } catch {
            // A program that has the clipboard and does not answer would hold the one that pastes for ever.
            isSame = error.code == .timedOut ? nil : false
            if isSame == nil { child.signal(SIGKILL) }
        }
        close(pipe.reading)
        return child.wait() == 0 ? isSame : nil
    }
}

/// The lock of the agent that a copied value came from, where it came from one.
struct FollowedLock: ~Copyable {
    let isFollowed: Bool
    private let agent: AgentClient?
    private let locks: UInt32?

    /// - Parameter home: Of the agent's vault; nil to follow none.
    init(_ home: String?) {
        isFollowed = home != nil
        if let home, let runtime = try? HomeFolder.runtime() {
            agent = (try? AgentClient(home: home, runtime: runtime)) ?? nil
        } else {
            agent = nil
        }
        locks = FollowedLock.locks(agent)
    }

    private static func locks(_ agent: borrowing AgentClient?) -> UInt32? {
        switch agent {
        case .some(let agent): agent.locksWhileOpen
        case .none: nil
        }
    }

    /// Whether the vault is locked or was since, or its agent has gone.
    var isClosed: Bool {
        guard isFollowed else { return false }
        guard let locks, FollowedLock.locks(agent) == locks else { return true }
        return false
    }
}

extension Options {
    static let untilLocked = Flag("until-locked", "Clear it when the agent of the vault locks, too.")
    static let clearAfter = NumberOption(
        seconds: "clear-after", 1...3600, default: 30, help: "Clear the clipboard after this time")
}

extension Command {
    static let clipboard = Command(
        "clipboard", summary: "keep a value on the clipboard for a while",
        details: [
            "Started by holdfast copy: reads a value from standard input, has the clipboard's program serve it, and clears the "
                + "clipboard after a time or when it is told to end, if nothing else was copied."
        ],
        example: "holdfast clipboard --clear-after 30",
        options: [Options.clearAfter.option, Options.untilLocked.option, Options.home.option],
        run: keepClipboard)
}

private func keepClipboard(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    ProcessTitle.set(AgentCommand.processName)
    let lock = FollowedLock(arguments[Options.untilLocked] ? try HomeFolder.path(arguments) : nil)
    unsafe chdir("/")
    do throws(CommandError) {
        let watch = try SignalWatch([SIGTERM, SIGINT, SIGHUP, SIGCHLD])
        let keeper = try makeKeeper()
        try keeper.awaitCopy()
        try Output.write("copied")
        // The command that waits for this continues when it ends.
        let nothing = unsafe open("/dev/null", O_WRONLY | O_CLOEXEC)
        dup2(nothing, STDOUT_FILENO)
        keeper.keep(seconds: arguments[Options.clearAfter], until: lock, watch)
    } catch {
        try Output.write(error.message)
        throw error
    }
    return .done
}

/// The value is gone from this process when it returns.
private func makeKeeper() throws(CommandError) -> ClipboardKeeper {
    let value = try ValueInput.rest(of: STDIN_FILENO)
    return try ClipboardKeeper(Clipboard.find(), value)
}

/// Whose turn it is on the clipboard: the keeper that copied last. Of two that keep the same value the earlier one
/// would otherwise clear what the later one has just copied. A random word in a file of the user's runtime folder;
/// where there is none, every keeper has the turn.
struct ClipboardTurn {
    private let path: String?
    private let word: [UInt8]

    /// Takes the turn. To be called before the clipboard is taken.
    init() {
        word = (try? SecureRandom.bytes(16)) ?? []
        guard !word.isEmpty, let runtime = try? HomeFolder.runtime() else {
            path = nil
            return
        }
        let folder = runtime + "/holdfast"
        _ = unsafe mkdir(folder, 0o700)
        let path = folder + "/clipboard"
        self.path = path
        let flags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK
        guard let file = try? OwnedDescriptor(path, flags) else { return }
        try? word.withRawSpan { bytes throws(CommandError) in try Descriptors.write(bytes, to: file.number) }
    }

    /// Whether nobody has copied with Holdfast since; true where that cannot be known.
    var isOurs: Bool {
        guard let path, let file = try? OwnedDescriptor(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK),
            let found = try? file.readPrefix(word.count), found.count == word.count
        else { return true }
        return found == word
    }
}
